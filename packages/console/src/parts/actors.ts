// Who made a change: an operator, or an API key, by its name if the tenant still has it. Rows show the name alone; the
// rest is behind it.

import { GrantdError } from '../../../../src/core/errors.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { KEYS_PER_READ } from '../../../../src/operator/find-key.ts';
import { type PageCall, tenantPath, tenantSessionOf } from '../page.ts';
import { type KeyLabel, keyIdEnd, keyLabelOf } from './key-facts.ts';
import { code, copyId, fact, foreign } from './parts.ts';

const OPERATOR = /^operator:(?<name>.*)$/su;

/** The name alone: `ann`, `“ci”`, `key …9k2f`, `system`. */
export function actorMarkup(actor: string, keys: ReadonlyMap<string, KeyLabel>): Markup {
  const name = OPERATOR.exec(actor)?.groups?.name;
  if (name !== undefined) return foreign(name);
  if (!actor.startsWith('key_')) return actor;
  const key = keys.get(actor);
  if (key === undefined || key.name === '') return html`key ${code(keyIdEnd(actor))}`;
  return html`“${foreign(key.name)}”`;
}

/** The name, which opens to everything else that is known. `narrow`: a link to the changes of this actor. */
export function actorCell(
  actor: string,
  keys: ReadonlyMap<string, KeyLabel>,
  narrow: Markup,
  tenantId?: string,
): Markup {
  const isKey = actor.startsWith('key_');
  const kind = isKey ? 'API key' : actor === 'system' ? 'the service itself' : 'operator';
  const scopes = keys.get(actor)?.scopes ?? [];
  const keysLink = isKey && tenantId && html` · <a href=${tenantPath(tenantId, 'keys')}>keys of the tenant</a>`;
  return html`<details class="actor">
    <summary><span>${actorMarkup(actor, keys)}</span></summary>
    <dl>
      ${fact('What', kind)}
      ${actor === 'system' ? undefined : fact('ID', copyId(actor, html`<code class="long">${foreign(actor)}</code>`))}
      ${scopes.length > 0 && fact('Scopes', scopes.join(', '))}
    </dl>
    <p>${narrow}${keysLink}</p>
  </details>`;
}

/** The first live keys of the tenant in the path. Names are a convenience: without them, pages show IDs. */
export async function liveKeys(call: PageCall): Promise<ReadonlyMap<string, KeyLabel>> {
  try {
    const session = await tenantSessionOf(call);
    const { items } = await session.call('listKeys', call.context(), { limit: KEYS_PER_READ, cursor: undefined });
    return new Map(items.map((key) => [key.keyId, keyLabelOf(key)]));
  } catch (error) {
    if (!(error instanceof GrantdError)) throw error;
    return new Map();
  }
}
