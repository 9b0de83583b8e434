// Where the name of an entity leads: a subject to its grants, a group to the object whose holders are its members.

import { html, type Markup } from '../../../http/pages/markup.ts';
import { parseGroup } from '../../../rules/compiled-rules.ts';
import { pathTo } from '../page.ts';
import { foreign } from './parts.ts';

interface HoldersAsked {
  readonly object: string;
  readonly relation?: string;
}

/** Who may on an object: its grants, or who holds one relation. */
export const holdersPath = (tenantId: string, asked: HoldersAsked): string =>
  pathTo(['tenants', tenantId, 'grants'], { ...asked });

/** `groups`: whether the tenant's rules make `ns:id#name` a group; otherwise it is a subject like any other. */
export function entityLink(tenantId: string, subject: string, groups = true): Markup {
  const group = groups ? parseGroup(subject) : undefined;
  const path =
    group === undefined
      ? pathTo(['tenants', tenantId, 'grants'], { subject })
      : holdersPath(tenantId, { object: group.object, relation: group.name });
  return html`<a href=${path}>${foreign(subject)}</a>`;
}
