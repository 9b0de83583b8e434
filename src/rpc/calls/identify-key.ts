// Says which API key a text is that someone has found, by its hash: the text itself stays where it was found.

import type { KeyClaim } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { keyFrom, keyToWire } from './parts/keys.ts';
import { hashText, keyIdText } from './parts/request-fields.ts';

export const identifyKey = defineCall({
  request: 'identifyKey',
  reply: 'identifiedKey',
  access: 'operator-handle',
  write: 'no',
  requestToWire: (claim: KeyClaim) => ({ identifyKey: claim }),
  requestFromWire: ({ keyId, hash }): KeyClaim => ({ keyId: keyIdText(keyId), hash: hashText(hash) }),
  serve: ({ connection, handle }, claim) => connection.identifyKey(handle, claim),
  replyToWire: (identified) => ({
    identifiedKey:
      identified === undefined
        ? { key: null, matches: false }
        : { key: keyToWire(identified.key), matches: identified.matches },
  }),
  replyFromWire: ({ key, matches }) => (key === null ? undefined : { key: keyFrom(key), matches }),
});
