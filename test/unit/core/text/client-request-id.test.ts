// Which ids of clients a response repeats.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CLIENT_REQUEST_ID_LENGTH_MAX, clientRequestIdOf } from '../../../../src/core/text/client-request-id.ts';
import { anyText } from '../../../kit/any-text.ts';

describe('the id that a client gives its request', () => {
  it('is any visible ASCII up to the longest', () => {
    const longest = 'x'.repeat(CLIENT_REQUEST_ID_LENGTH_MAX);
    for (const id of ['1', '2f1c1e7a-9f8e-4b0f-8a53-0d1b9f6c7a11', '!"#%~', longest]) {
      assert.equal(clientRequestIdOf(id), id);
    }
  });

  it('is none if it is empty, too long, in several values, or has a blank, a control character or more than ASCII', () => {
    const tooLong = 'x'.repeat(CLIENT_REQUEST_ID_LENGTH_MAX + 1);
    for (const value of [
      '',
      tooLong,
      'a b',
      'a, b',
      'a\t',
      'a\r\nSet-Cookie: b',
      'a\n',
      'a\0',
      'a\x7f',
      'é',
      '\u2028',
    ]) {
      assert.equal(clientRequestIdOf(value), undefined, JSON.stringify(value));
    }
    assert.equal(clientRequestIdOf(['a']), undefined);
  });

  it('never contains what could end a line, whatever is sent', () => {
    fc.assert(
      fc.property(anyText(200), (text) => {
        const id = clientRequestIdOf(text);
        return id === undefined || (id === text && [...id].every((each) => each > ' ' && each <= '~'));
      }),
    );
  });
});
