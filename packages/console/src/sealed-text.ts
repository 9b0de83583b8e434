// Texts that a browser keeps for the console. Invariant: only this process can read or write them; a text that was
// changed, is of another process or has expired opens as undefined.

import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Clock, Random } from '../../../src/core/async/clock.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TIME_BYTES = 8;
const CIPHER = 'aes-256-gcm';

export interface SealedTexts {
  /** Valid for `validMs`; base64url. */
  seal(text: string, validMs: number): string;
  open(sealed: string): string | undefined;
}

export function createSealedTexts({ clock, random }: { readonly clock: Clock; readonly random: Random }): SealedTexts {
  const key = random.bytes(KEY_BYTES);
  return {
    seal(text, validMs) {
      const nonce = random.bytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const time = Buffer.alloc(TIME_BYTES);
      time.writeDoubleBE(clock.monotonicMs() + validMs);
      const body = Buffer.concat([cipher.update(time), cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < NONCE_BYTES + TIME_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const body = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      try {
        decipher.final();
      } catch {
        return undefined;
      }
      if (clock.monotonicMs() >= body.readDoubleBE(0)) return undefined;
      return body.subarray(TIME_BYTES).toString('utf8');
    },
  };
}
