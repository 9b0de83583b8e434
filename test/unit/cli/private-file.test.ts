// Which files with secrets and addresses are trusted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { privacyFault } from '../../../packages/cli/src/output/whole-file.ts';

const OWN = 1000;

test('only a file of this user or of root is trusted, and only if nobody else can read or write it', () => {
  for (const uid of [OWN, 0]) assert.equal(privacyFault('f', { uid, mode: 0o100600 }, OWN), undefined);
  assert.match(privacyFault('f', { uid: 1001, mode: 0o100600 }, OWN) ?? '', /belongs to another user \(1001\)/);
  assert.match(privacyFault('f', { uid: OWN, mode: 0o100600 }, 0) ?? '', /belongs to another user/);
  for (const mode of [0o640, 0o620, 0o604, 0o602, 0o601]) {
    assert.match(privacyFault('f', { uid: OWN, mode: 0o100000 | mode }, OWN) ?? '', /chmod 600 'f'/);
  }
});
