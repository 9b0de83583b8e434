// How the console names an API key: by its name, its scopes and the last four characters of its id. grantd stores only
// a hash of the key, so it does not know the key's own last characters, which are also part of the secret. The id is no
// secret; it is shown in full where it fits.

import type { KeyId } from '../../../core/ids.ts';
import { scopesOf } from '../../../core/scopes.ts';
import type { TenantSession } from '../../../front/front.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import type { ListedKey } from '../../../shard/shard.ts';
import type { PageCall } from '../page.ts';
import { code, foreign } from './parts.ts';

const LAST_CHARACTERS = 4;
export const KEYS_PER_READ = 1000;
/** The page does not read through more keys than any of our plans allows. */
const READS_MAX = 5;

export interface KeyFacts {
  readonly keyId: string;
  readonly name: string;
  readonly scopes: readonly string[];
}

export const keyFactsOf = ({ keyId, name, scopes }: ListedKey): KeyFacts => ({ keyId, name, scopes: scopesOf(scopes) });

export const keyIdEnd = (keyId: string): string => `…${keyId.slice(-LAST_CHARACTERS)}`;

/** `“ci” (check:read; id …9k2f)` */
export function keyText({ keyId, name, scopes }: KeyFacts): string {
  return `${name === '' ? 'unnamed' : `“${name}”`} (${scopes.join(', ')}; id ${keyIdEnd(keyId)})`;
}

export function keyMarkup({ keyId, name, scopes }: KeyFacts): Markup {
  const shown = name === '' ? 'unnamed' : html`“${foreign(name)}”`;
  return html`<span title=${keyId}>${shown} (${scopes.join(', ')}; id ${code(keyIdEnd(keyId))})</span>`;
}

/** Undefined if the tenant has no such key, or too many others. */
export async function findKey(call: PageCall, session: TenantSession, keyId: KeyId): Promise<ListedKey | undefined> {
  let cursor: string | undefined;
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const page = await session.listKeys(call.context(), { limit: KEYS_PER_READ, cursor });
    const found = page.items.find((key) => key.keyId === keyId);
    if (found !== undefined || page.nextCursor === undefined) return found;
    cursor = page.nextCursor;
  }
  return undefined;
}
