// Cursors: a position comes back for the tenant, query and secret it was made for, and for nothing else.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CURSOR_LENGTH_MAX, type CursorSecrets, createCursor, parseCursor } from '../../../../src/core/text/cursors.ts';
import { anyCharacter } from '../../support/any-character.ts';

const SECRETS: CursorSecrets = [new Uint8Array(32).fill(1)];
const SCOPE = ['ten_x', 'user:ada', 'viewer', ''];
const text = fc.string({ unit: anyCharacter, maxLength: 40 });
const scope = fc.array(text, { maxLength: 5 });

describe('a cursor', () => {
  it('has this fixed vector', () => {
    const cursor = 'PDK0PIsEHU4jW0Te84ewImRvY3VtZW50OnBsYW4';
    assert.equal(createCursor(SECRETS, SCOPE, 'document:plan'), cursor);
    assert.equal(parseCursor(SECRETS, SCOPE, cursor), 'document:plan');
  });

  it('gives back its position, the empty one too', () => {
    fc.assert(
      fc.property(scope, text, (parts, position) => {
        assert.equal(parseCursor(SECRETS, parts, createCursor(SECRETS, parts, position)), position);
      }),
    );
  });

  it('is refused for any other scope, however the parts are cut', () => {
    fc.assert(
      fc.property(scope, scope, text, (parts, others, position) => {
        fc.pre(JSON.stringify(parts) !== JSON.stringify(others));
        assert.equal(parseCursor(SECRETS, others, createCursor(SECRETS, parts, position)), undefined);
      }),
    );
    const cursor = createCursor(SECRETS, ['ab', 'c'], 'd');
    for (const others of [['a', 'bc'], ['abc'], ['ab', 'c', ''], ['', 'ab', 'c'], ['ab'], []]) {
      assert.equal(parseCursor(SECRETS, others, cursor), undefined);
    }
  });

  it('is refused with any one character replaced, removed or added', () => {
    const cursor = createCursor(SECRETS, SCOPE, 'document:plan');
    for (let index = 0; index < cursor.length; index += 1) {
      for (const character of 'Aa0_-+/= é') {
        if (cursor[index] === character) continue;
        assert.equal(
          parseCursor(SECRETS, SCOPE, cursor.slice(0, index) + character + cursor.slice(index + 1)),
          undefined,
        );
      }
      assert.equal(parseCursor(SECRETS, SCOPE, cursor.slice(0, index) + cursor.slice(index + 1)), undefined);
    }
    for (const added of [`${cursor}=`, `${cursor}A`, ` ${cursor}`, `${cursor}\n`]) {
      assert.equal(parseCursor(SECRETS, SCOPE, added), undefined);
    }
  });

  it('is refused as any junk', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.constantFrom('', 'null', '0')), (junk) => {
        assert.equal(parseCursor(SECRETS, SCOPE, junk), undefined);
      }),
    );
  });

  it('is refused above the bound of its length without being decoded', () => {
    const long = createCursor(SECRETS, SCOPE, 'x'.repeat(CURSOR_LENGTH_MAX));
    assert.ok(long.length > CURSOR_LENGTH_MAX);
    assert.equal(parseCursor(SECRETS, SCOPE, long), undefined);
  });

  it('is accepted with an earlier secret that is still listed, and signed with the first', () => {
    const earlier = new Uint8Array(32).fill(2);
    const old = createCursor([earlier], SCOPE, 'p');
    assert.equal(parseCursor(SECRETS, SCOPE, old), undefined);
    assert.equal(parseCursor([SECRETS[0], earlier], SCOPE, old), 'p');
    const fresh = createCursor([SECRETS[0], earlier], SCOPE, 'p');
    assert.equal(parseCursor(SECRETS, SCOPE, fresh), 'p');
    assert.equal(parseCursor([earlier], SCOPE, fresh), undefined);
  });

  it('holds two of the longest identifiers', () => {
    const identifier = `${'n'.repeat(64)}:${'🎈'.repeat(256)}`;
    const position = `${identifier}\n${identifier}`;
    const cursor = createCursor(SECRETS, SCOPE, position);
    assert.ok(cursor.length <= CURSOR_LENGTH_MAX);
    assert.equal(parseCursor(SECRETS, SCOPE, cursor), position);
  });
});
