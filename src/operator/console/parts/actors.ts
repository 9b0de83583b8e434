// Who made a change: an operator, or an API key, by its name if the tenant still has it.

import { GrantdError } from '../../../core/errors.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { KEYS_PER_READ } from '../../find-key.ts';
import { type PageCall, tenantSessionOf } from '../page.ts';
import { type KeyLabel, keyLabelOf, keyMarkup } from './key-facts.ts';
import { code, foreign } from './parts.ts';

export function actorMarkup(actor: string, keys: ReadonlyMap<string, KeyLabel>): Markup {
  const name = /^operator:(.*)$/su.exec(actor)?.[1];
  if (name !== undefined) return html`operator token ${foreign(name)}`;
  const key = keys.get(actor);
  return key === undefined ? code(actor) : html`key ${keyMarkup(key)}`;
}

/** The first live keys of the tenant in the path. Names are a convenience: without them, pages show IDs. */
export async function liveKeys(call: PageCall): Promise<ReadonlyMap<string, KeyLabel>> {
  try {
    const session = await tenantSessionOf(call);
    const { items } = await session.call(CALLS.listKeys, call.context(), { limit: KEYS_PER_READ, cursor: undefined });
    return new Map(items.map((key) => [key.keyId, keyLabelOf(key)]));
  } catch (error) {
    if (!(error instanceof GrantdError)) throw error;
    return new Map();
  }
}
