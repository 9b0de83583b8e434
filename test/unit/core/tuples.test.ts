// The rules of identifiers against an oracle that shares nothing with the parser: the Unicode properties themselves.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { GrantdError } from '../../../src/core/errors.ts';
import {
  compareUtf8,
  IDENTIFIER_LENGTH_MAX,
  identifierFault,
  isIdentifier,
  isNamespaceName,
  isRelation,
  namespaceOf,
  parseTuple,
  RELATIONS,
  relationNumber,
  relationOf,
  undeclaredMessage,
} from '../../../src/core/tuples.ts';
import { anyCharacter } from '../support/any-character.ts';

const FORBIDDEN = /\p{Cc}|\p{Cs}|\p{White_Space}/u;

function oracle(text: string): boolean {
  const colon = text.indexOf(':');
  if (colon < 0) return false;
  const namespace = text.slice(0, colon);
  const characters = [...text.slice(colon + 1)];
  const letter = (character: string): boolean => /^[a-z]$/i.test(character) && character.charCodeAt(0) < 128;
  const other = (character: string): boolean => letter(character) || '0123456789_.-'.includes(character);
  return (
    namespace.length >= 1 &&
    namespace.length <= 64 &&
    letter(namespace.charAt(0)) &&
    namespace.split('').every(other) &&
    characters.length >= 1 &&
    characters.length <= 256 &&
    characters.every((character) => !FORBIDDEN.test(character))
  );
}

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...':.-_aZ0 \t\u0000\u0085\u00a0\u2003\ud800\udc00'),
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
  ),
  maxLength: 40,
});
const nearlyValid = fc
  .tuple(fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,66}$/), fc.string({ unit: anyCharacter, maxLength: 260 }))
  .map(([namespace, externalId]) => `${namespace}:${externalId}`);
const wellFormed = fc.string({ unit: anyCharacter, maxLength: 30 });

describe('identifiers', () => {
  it('are accepted exactly where the oracle accepts them', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, nearlyValid), (text) => {
        assert.equal(isIdentifier(text), oracle(text));
      }),
      { numRuns: 3000 },
    );
  });

  it('agree with the oracle on every single code unit and code point of the external id', () => {
    for (let code = 0; code <= 0x10ffff; code += code < 0x3100 || (code >= 0xd700 && code < 0xe100) ? 1 : 251) {
      const text = `a:${String.fromCodePoint(code)}`;
      assert.equal(isIdentifier(text), oracle(text), `U+${code.toString(16)}`);
    }
  });

  it('take an external id of 1 to 256 code points, whatever their width', () => {
    for (const character of ['x', 'é', '漢', '🎈']) {
      assert.ok(isIdentifier(`a:${character.repeat(256)}`));
      assert.ok(!isIdentifier(`a:${character.repeat(257)}`));
    }
    assert.ok(!isIdentifier('a:'));
    assert.equal([...`${'n'.repeat(64)}:${'🎈'.repeat(256)}`].length, IDENTIFIER_LENGTH_MAX);
  });

  it('take a namespace of 1 to 64 characters that starts with a letter', () => {
    assert.ok(isIdentifier(`${'n'.repeat(64)}:x`));
    for (const text of [
      `${'n'.repeat(65)}:x`,
      ':x',
      'x',
      '',
      '1a:x',
      '_a:x',
      '.a:x',
      '-a:x',
      'a b:x',
      'ä:x',
      'ſ:x',
      '\u212a:x',
    ]) {
      assert.ok(!isIdentifier(text), text);
    }
  });

  it('are split at the first colon; further colons belong to the external id', () => {
    assert.equal(namespaceOf('group:system:masters'), 'group');
    assert.ok(isIdentifier('group:system:masters'));
    assert.ok(isIdentifier('path:/healthz/*'));
    assert.ok(isIdentifier('a::'));
  });

  it('are no other value than a string', () => {
    for (const value of [undefined, null, 1, true, {}, [], ['a:b'], new String('a:b')]) assert.ok(!isIdentifier(value));
  });

  it('do not end at a line break', () => {
    assert.ok(!isIdentifier('a:b\n'));
    assert.ok(!isNamespaceName('a\n'));
  });

  it('keep names of Object.prototype ordinary', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      assert.ok(isIdentifier(`a:${name}`));
      assert.ok(!isRelation(name));
      assert.equal(relationNumber(name), undefined);
    }
  });
});

describe('relations', () => {
  it('are these nine, with these wire numbers', () => {
    assert.deepEqual(
      [...RELATIONS],
      ['owner', 'admin', 'manager', 'editor', 'commenter', 'viewer', 'member', 'guest', 'parent'],
    );
    for (const [index, relation] of RELATIONS.entries()) {
      assert.equal(relationNumber(relation), index + 1);
      assert.equal(relationOf(index + 1), relation);
    }
  });

  it('have no number 0, 10, −1, 1.5 or NaN', () => {
    for (const number of [0, 10, -1, 1.5, Number.NaN]) assert.equal(relationOf(number), undefined);
  });

  it('are compared as they are: no case folding', () => {
    for (const text of ['Owner', 'owner ', '', '*']) assert.ok(!isRelation(text));
  });
});

describe('parseTuple', () => {
  const refused = (
    subject: unknown,
    relation: unknown,
    object: unknown,
    list?: string,
    index?: number,
  ): GrantdError => {
    try {
      parseTuple(subject, relation, object, list, index);
    } catch (error) {
      assert.ok(error instanceof GrantdError);
      return error;
    }
    return assert.fail('it was accepted');
  };

  it('returns the three strings as they came', () => {
    assert.deepEqual(parseTuple('user:Ada', 'viewer', 'document:Größe'), {
      subject: 'user:Ada',
      relation: 'viewer',
      object: 'document:Größe',
    });
  });

  it('refuses with the first field that is wrong', () => {
    assert.equal(refused(1, 1, 1).code, 'invalid-subject');
    assert.equal(refused('a:b', 1, 1).code, 'invalid-relation');
    assert.equal(refused('a:b', 'owner', 1).code, 'invalid-object');
  });

  it('names the field, its place in a list and what is wrong with it', () => {
    assert.match(refused(undefined, 'owner', 'a:b', 'checks', 3).message, /"checks\[3\]\.subject".*is missing/);
    assert.match(refused(null, 'owner', 'a:b').message, /is not a string/);
    assert.match(refused('a:b', 'big boss', 'a:b').message, /one of owner, .*is not one of them/);
    assert.match(refused('a:b', 'owner', 'ab').message, /it has no colon\.$/);
  });

  it('names every field that is missing', () => {
    const message = (...parts: readonly unknown[]): string => refused(parts[0], parts[1], parts[2]).message;
    assert.match(message(), /^"subject" must .*it is missing, and so are "relation" and "object"\.$/);
    assert.match(message('a:b'), /^"relation" must .*it is missing, and so is "object"\.$/);
    assert.match(message(undefined, 'owner'), /^"subject" must .*it is missing, and so is "object"\.$/);
    assert.match(message('a:b', 'owner'), /^"object" must .*it is missing\.$/);
    assert.match(refused(undefined, 1, undefined, 'checks', 3).message, /missing, and so is "checks\[3\]\.object"\.$/);
  });

  it('says that relations are in lower case', () => {
    for (const own of [[], ['approver']]) {
      for (const relation of ['Viewer', 'VIEWER']) {
        assert.match(
          undeclaredMessage(relation, own),
          /it is "V\w+", which is not one of them; write viewer, in lower case\.$/,
        );
      }
    }
    assert.match(
      undeclaredMessage('can_view', []),
      /it is "can_view", which is not one of them; names that rules define are asked about, and cannot be granted\.$/,
    );
    assert.match(refused('a:b', 'v'.repeat(65), 'a:b').message, /it is not one of them\.$/);
  });

  it('says which relation may have been meant where the tenant has relations of its own', () => {
    assert.match(
      undeclaredMessage('approvers', ['approver'], 'grants', 2),
      /^"grants\[2\]\.relation" must be one of owner, .*, parent, approver; it is "approvers", which is not one of them; did you mean "approver"\?$/,
    );
    assert.match(undeclaredMessage('viewers', []), /; did you mean "viewer"\?$/);
    assert.match(undeclaredMessage('reads', ['approver']), /; names that rules define .* cannot be granted\.$/);
    const many = Array.from({ length: 400 }, (_, index) => `own_${index}`);
    assert.match(undeclaredMessage('reads', many), /parent, own_0, .*, own_20 and 379 more; it is "reads"/);
  });

  for (const [what, text, fault] of [
    ['is empty', '', /it is empty\.$/],
    ['has no colon', 'ada', /it has no colon\.$/],
    ['begins with the colon', ':ada', /it has nothing before the colon\.$/],
    ['ends with the colon', 'user:', /it has nothing after the colon\.$/],
    ['has a slash in the namespace', 'org/doc:1', /it has "\/" at character 4; a namespace contains only letters/],
    ['has a strange letter in the namespace', 'größe:1', /it has a character that is not allowed at character 3; /],
    ['begins with a digit', '1a:b', /it has a namespace that does not start with a letter\.$/],
    ['has a space', 'doc:my plan', /it has white space at character 7\.$/],
    ['has a space behind a pair of surrogates', 'doc:😀 x', /it has white space at character 6\.$/],
    [
      'has a control character',
      'doc:a\u0000',
      /it has a control character or half of a surrogate pair at character 6\.$/,
    ],
    ['has half of a pair', 'doc:\ud800', /half of a surrogate pair at character 5\.$/],
    ['has a long namespace', `${'n'.repeat(65)}:1`, /it has more than 64 characters before the colon\.$/],
    ['has a long external id', `doc:${'😀'.repeat(257)}`, /it has more than 256 characters after the colon\.$/],
    ['is very long', `doc:${'x'.repeat(1_000_000)} `, /it has more than 256 characters after the colon\.$/],
  ] as const) {
    it(`says which rule an identifier breaks that ${what}`, () => {
      assert.match(refused(text, 'owner', 'a:b').message, fault);
    });
  }

  it('finds a broken rule in every text that it refuses', () => {
    const likely = fc.tuple(fc.string(), fc.string({ unit: anyCharacter })).map((parts) => parts.join(':'));
    fc.assert(
      fc.property(fc.oneof(likely, fc.string({ unit: anyCharacter })), (text) => {
        if (!isIdentifier(text)) assert.doesNotMatch(identifierFault(text), /character 0|NaN|undefined/);
        if (!isIdentifier(text)) assert.match(identifierFault(text), /^(?:has |is empty$)/);
      }),
      { numRuns: 3000 },
    );
  });

  it('never repeats the value', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12, unit: fc.constantFrom('Q', '§') }), (text) => {
        assert.ok(!refused(text, 'owner', 'a:b').message.includes(text));
      }),
    );
  });
});

describe('compareUtf8', () => {
  it('orders as the bytes do', () => {
    fc.assert(
      fc.property(wellFormed, wellFormed, (left, right) => {
        const bytes = Buffer.compare(Buffer.from(left, 'utf8'), Buffer.from(right, 'utf8'));
        assert.equal(Math.sign(compareUtf8(left, right)), bytes);
        assert.equal(Math.sign(compareUtf8(right, left)), -bytes || 0);
      }),
      { numRuns: 3000 },
    );
  });

  it('puts a surrogate pair above every other unit, which UTF-16 does not', () => {
    assert.ok('\uffff' > '🎈');
    assert.ok(compareUtf8('\uffff', '🎈') < 0);
    assert.ok(compareUtf8('\ue000', '\u{10000}') < 0);
    assert.ok(compareUtf8('a🎈', 'a\ufffd') > 0);
  });

  it('sorts a list as Buffer.compare does', () => {
    fc.assert(
      fc.property(fc.array(wellFormed), (texts) => {
        const expected = texts
          .map((text) => Buffer.from(text))
          .sort(Buffer.compare)
          .map(String);
        assert.deepEqual([...texts].sort(compareUtf8), expected);
      }),
    );
  });
});
