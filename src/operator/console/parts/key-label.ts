// How the console names an API key: by its name, its scopes and the last four characters of its id. grantd stores only
// a hash of the key, so it does not know the key's own last characters, which are also part of the secret. The id is no
// secret; it is shown in full where it fits.

import { scopesOf } from '../../../core/scopes.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import type { ListedKey } from '../../../shard/shard.ts';
import { code, foreign } from './parts.ts';

const LAST_CHARACTERS = 4;

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
