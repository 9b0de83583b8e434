// What pages show of an API key besides its name: when it ends, what it was rotated to, its facts, and, once, the text
// of a new one.

import { html, type Markup } from '../../../http/pages/markup.ts';
import type { ListedKey } from '../../../shard/shard.ts';
import { copyCode } from './copy.ts';
import { keyFactsOf, keyIdEnd, keyMarkup } from './key-label.ts';
import { ago, code, foreign, moment, span } from './parts.ts';

/** A key that this response shows, and no later one. */
export interface CreatedKey {
  readonly key: ListedKey;
  readonly text: string;
}

const hasExpired = ({ expiresAtMs }: ListedKey, nowMs: number): boolean =>
  expiresAtMs !== undefined && expiresAtMs <= nowMs;

export const mayRotate = (key: ListedKey, nowMs: number): boolean =>
  key.rotatedTo === undefined && !hasExpired(key, nowMs);

/** When the key ends. A nearer end than its own is that of a rotation. */
export function keyEnd(key: ListedKey, nowMs: number): Markup {
  const { expiresAtMs, rotatedTo } = key;
  if (expiresAtMs === undefined) return 'never';
  const expired = hasExpired(key, nowMs);
  const badge = expired ? html`<span class="badge state-suspended">expired</span> ` : undefined;
  if (rotatedTo === undefined) return html`${badge}${moment(expiresAtMs)}`;
  const ends = expired ? moment(expiresAtMs) : html`ends in ${span(expiresAtMs - nowMs)} (${moment(expiresAtMs)})`;
  return html`${badge}${ends}, rotated to ${code(keyIdEnd(rotatedTo))}`;
}

export function keyFacts(key: ListedKey, nowMs: number): Markup {
  const { keyId, createdAtMs, lastUsedAtMs } = key;
  return html`<p><strong>${keyMarkup(keyFactsOf(key))}</strong></p>
    <dl class="facts">
      <div><dt>Id</dt><dd>${copyCode(keyId)}</dd></div>
      <div><dt>Created</dt><dd>${moment(createdAtMs)} UTC</dd></div>
      <div><dt>Expires</dt><dd>${keyEnd(key, nowMs)}</dd></div>
      <div><dt>Last used</dt><dd>${lastUsedAtMs === undefined ? 'never' : ago(lastUsedAtMs, nowMs)}</dd></div>
    </dl>`;
}

/** `what`: what has happened to the key. */
export function createdPanel({ key: { name, keyId }, text }: CreatedKey, what: string, more?: Markup): Markup {
  return html`<section class="made" role="status" data-focus tabindex="-1" aria-labelledby="made-title">
    <h2 id="made-title">The key ${name === '' ? '' : html`“${foreign(name)}” `}${what}</h2>
    <p>Copy it now. The key is shown only once and is not stored; if it is lost, create another one. This console identifies
      it by its ID, which ends in ${code(keyIdEnd(keyId))}.</p>
    <p class="secret"><code id="made-key" dir="ltr">${text}</code></p>
    <p class="buttons">
      <button type="button" data-copy="made-key" data-copy-told="made-told">Copy the key</button>
      <span id="made-told" role="status"></span>
    </p>
    ${more}
  </section>`;
}
