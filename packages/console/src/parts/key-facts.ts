// How pages show an API key: in a line by its name, its scopes and the last four characters of its ID; in full with
// its facts; and, once, the text of a new one. grantd stores only a hash of the key, so it does not know the key's own
// last characters, which are also part of the secret. The ID is no secret; it is shown in full where it fits.

import { scopesOf } from '../../../../src/core/scopes.ts';
import { span } from '../../../../src/core/text/timestamps.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import type { ListedKey } from '../../../../src/shard/shard.ts';
import { ago, code, copyCode, fact, foreign, moment } from './parts.ts';

const LAST_CHARACTERS = 4;

export interface KeyLabel {
  readonly keyId: string;
  readonly name: string;
  readonly scopes: readonly string[];
}

export const keyLabelOf = ({ keyId, name, scopes }: ListedKey): KeyLabel => ({ keyId, name, scopes: scopesOf(scopes) });

export const keyIdEnd = (keyId: string): string => `…${keyId.slice(-LAST_CHARACTERS)}`;

/** `“ci” (check:read; id …9k2f)` */
export const keyText = ({ keyId, name, scopes }: KeyLabel): string =>
  `${name === '' ? 'unnamed' : `“${name}”`} (${scopes.join(', ')}; id ${keyIdEnd(keyId)})`;

export function keyMarkup({ keyId, name, scopes }: KeyLabel): Markup {
  const shown = name === '' ? 'unnamed' : html`“${foreign(name)}”`;
  return html`<span title=${keyId}>${shown} (${scopes.join(', ')}; id ${code(keyIdEnd(keyId))})</span>`;
}

const hasExpired = ({ expiresAtMs }: ListedKey, nowMs: number): boolean =>
  expiresAtMs !== undefined && expiresAtMs <= nowMs;

export const mayRotate = (key: ListedKey, nowMs: number): boolean =>
  key.rotatedTo === undefined && !hasExpired(key, nowMs);

/** When the key ends. A nearer end than its own is that of a rotation. */
export function keyEnd(key: ListedKey, nowMs: number, end = moment): Markup {
  const { expiresAtMs, rotatedTo } = key;
  if (expiresAtMs === undefined) return 'never';
  const expired = hasExpired(key, nowMs);
  const badge = expired ? html`<span class="badge state-suspended">expired</span> ` : undefined;
  if (rotatedTo === undefined) return html`${badge}${end(expiresAtMs)}`;
  const ends = expired ? end(expiresAtMs) : html`ends in ${span(expiresAtMs - nowMs)} (${end(expiresAtMs)})`;
  return html`${badge}${ends}, rotated to ${code(keyIdEnd(rotatedTo))}`;
}

export const keyLastUse = ({ lastUsedAtMs }: ListedKey, nowMs: number): Markup =>
  lastUsedAtMs === undefined ? 'never' : ago(lastUsedAtMs, nowMs);

export const keyFacts = (
  key: ListedKey,
  nowMs: number,
): Markup => html`<p><strong>${keyMarkup(keyLabelOf(key))}</strong></p>
    <dl class="facts">
      ${fact('ID', copyCode(key.keyId))}
      ${fact('Created', moment(key.createdAtMs))}
      ${fact('Expires', keyEnd(key, nowMs))}
      ${fact('Last used', keyLastUse(key, nowMs))}
    </dl>`;

/** The only response that shows the text of the key. `event`: what was done to the key, such as “is created”. */
export function createdPanel({ name, keyId }: ListedKey, text: string, event: string, more?: Markup): Markup {
  return html`<section class="made" role="status" data-focus tabindex="-1" aria-labelledby="made-title">
    <h2 id="made-title">The key ${name === '' ? '' : html`“${foreign(name)}” `}${event}</h2>
    <p>Copy it now. The key is shown only once and is not stored; if it is lost, create another one. This console identifies
      it by its ID, which ends in ${code(keyIdEnd(keyId))}.</p>
    <p class="secret"><code id="made-key" dir="ltr">${text}</code></p>
    <p class="buttons">
      <button type="button" data-copy="made-key" data-copy-status="made-status">Copy the key</button>
      <span id="made-status" role="status"></span>
    </p>
    ${more}
  </section>`;
}
