// The schemas and the parser of core are two readings of one rule: they have to agree on every value, word for word.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseBulkWrite, parseGrantFilter } from '../../../../src/core/bulk-writes.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { parseTuple, RELATIONS } from '../../../../src/core/tuples.ts';
import {
  bulkSchema,
  bulkWriteSchema,
  checkSchema,
  grantFilterSchema,
  keyBodySchema,
  namespaceBodySchema,
  pageQuerySchema,
  tupleSchema,
} from '../../../../src/http/schema/schemas.ts';
import {
  validate,
  validateBody,
  validateBulk,
  validateCheck,
  validateTuple,
} from '../../../../src/http/schema/validation.ts';
import { parseQuestion } from '../../../../src/rules/questions.ts';
import { anyCharacter } from '../../support/any-character.ts';

const WALL_MS = Date.UTC(2026, 10, 1);

type Outcome = { readonly value: unknown } | { readonly code: string; readonly message: string };

function outcomeOf(run: () => unknown): Outcome {
  try {
    return { value: run() };
  } catch (error) {
    assert.ok(error instanceof GrantdError);
    return { code: error.code, message: error.message };
  }
}

const identifierLike = fc.oneof(
  fc.constantFrom(
    'user:alice',
    'a:b',
    'a:',
    ':b',
    'a',
    '1a:b',
    'a:b c',
    'a:\u0000',
    'a:\ud800',
    'a::',
    `a:${'x'.repeat(257)}`,
  ),
  fc
    .tuple(fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,70}$/), fc.string({ unit: anyCharacter, maxLength: 300 }))
    .map(([namespace, id]) => `${namespace}:${id}`),
  fc.string({ unit: anyCharacter }),
  fc.jsonValue(),
  fc.constant(undefined),
);
const relationLike = fc.oneof(fc.constantFrom(...RELATIONS), fc.string(), fc.jsonValue(), fc.constant(undefined));

const tupleLike = fc.oneof(
  { weight: 3, arbitrary: fc.record({ subject: identifierLike, relation: relationLike, object: identifierLike }) },
  { weight: 3, arbitrary: fc.constant({ subject: 'user:ada', relation: 'viewer', object: 'document:plan', extra: 1 }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);

describe('the short way', () => {
  it('takes or refuses a tuple as the schema does', () => {
    fc.assert(
      fc.property(tupleLike, (body) => {
        assert.deepEqual(
          outcomeOf(() => validateTuple(body)),
          outcomeOf(() => validateBody(tupleSchema, body)),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('takes or refuses a check as the schema does, whatever members it has', () => {
    const member = fc.constantFrom(
      'subject',
      'relation',
      'object',
      'explain',
      'Subject',
      'relations',
      '__proto__',
      'x',
    );
    const checkLike = fc
      .array(fc.tuple(member, fc.oneof(identifierLike, relationLike)), { maxLength: 5 })
      .map((members) =>
        JSON.parse(`{${members.map(([name, value]) => `"${name}":${JSON.stringify(value ?? null)}`).join(',')}}`),
      );
    fc.assert(
      fc.property(checkLike, (body) => {
        const [short, long] = [outcomeOf(() => validateCheck(body)), outcomeOf(() => validateBody(checkSchema, body))];
        assert.equal('value' in short, 'value' in long, JSON.stringify([body, short, long]));
        if ('code' in short && 'code' in long) assert.equal(short.code, long.code, JSON.stringify([body, short, long]));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes or refuses the tuples of a bulk check as the schema does', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(tupleLike, { maxLength: 4 }), fc.jsonValue()), (checks) => {
        assert.deepEqual(
          outcomeOf(() => validateBulk({ checks }).checks),
          outcomeOf(() => validateBody(bulkSchema, { checks }).checks),
        );
      }),
      { numRuns: 1000 },
    );
    assert.deepEqual(
      outcomeOf(() => validateBulk([])),
      outcomeOf(() => validateBody(bulkSchema, [])),
    );
  });
});

const conditionLike = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record(
      { subject: identifierLike, relation: relationLike, object: identifierLike, exists: fc.jsonValue() },
      { requiredKeys: [] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constant({ subject: 'user:ada', relation: 'viewer', object: 'document:plan', exists: true }),
  },
);
const listOf = (element: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.array(element, { maxLength: 2 }) },
    { weight: 1, arbitrary: fc.jsonValue() },
    { weight: 3, arbitrary: fc.constant(undefined) },
  );

describe('what the schemas only document', () => {
  /** What a schema cannot say: the empty call, the tuple named twice. */
  const beyond = /^(?:The call changes nothing|"\S+" and "\S+" name the same tuple|Exactly one of)/;
  const agrees = (parsed: Outcome, documented: Outcome): void => {
    if ('message' in parsed && beyond.test(parsed.message)) return;
    assert.equal('value' in parsed, 'value' in documented, JSON.stringify([parsed, documented]));
    if ('code' in parsed && 'code' in documented && parsed.code !== 'invalid-request') {
      assert.deepEqual(parsed, documented);
    }
  };

  it('is a bulk write for the parser exactly where it is one for the schema', () => {
    fc.assert(
      fc.property(listOf(tupleLike), listOf(tupleLike), listOf(conditionLike), (grants, revocations, conditions) => {
        const body = { grants, revocations, if: conditions };
        agrees(
          outcomeOf(() => parseBulkWrite(body, WALL_MS)),
          outcomeOf(() => validateBody(bulkWriteSchema, body)),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('is a filter of grants for the parser exactly where it is one for the schema', () => {
    fc.assert(
      fc.property(identifierLike, relationLike, fc.boolean(), (entity, relation, bySubject) => {
        const body = { [bySubject ? 'subject' : 'object']: entity, relation };
        agrees(
          outcomeOf(() => parseGrantFilter(body)),
          outcomeOf(() => validateBody(grantFilterSchema, body)),
        );
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a tuple', () => {
  it('is taken or refused alike by the schema and by the parser of core', () => {
    fc.assert(
      fc.property(identifierLike, relationLike, identifierLike, (subject, relation, object) => {
        assert.deepEqual(
          outcomeOf(() => validateBody(tupleSchema, { subject, relation, object })),
          outcomeOf(() => parseTuple(subject, relation, object)),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('is named with its place in a bulk check', () => {
    fc.assert(
      fc.property(identifierLike, relationLike, identifierLike, fc.nat(5), (subject, relation, object, index) => {
        const good = { subject: 'a:b', relation: 'owner', object: 'c:d' };
        const checks: unknown[] = Array.from({ length: index }, () => good);
        checks.push({ subject, relation, object }, good);
        const expected = outcomeOf(() => parseQuestion(subject, relation, object, 'checks', index));
        const actual = outcomeOf(() => validateBody(bulkSchema, { checks }));
        if ('code' in expected) assert.deepEqual(actual, expected);
        else assert.ok('value' in actual);
      }),
    );
  });
});

const refused: [string, () => unknown, RegExp][] = [
  ['a body that is an array', () => validateBody(tupleSchema, []), /^The body must be a JSON object\.$/],
  ['a body that is null', () => validateBody(tupleSchema, null), /^The body must be a JSON object\.$/],
  ['a body that is text', () => validateBody(tupleSchema, 'x'), /^The body must be a JSON object\.$/],
  ['checks that are no array', () => validateBody(bulkSchema, { checks: {} }), /^"checks" must be an array\.$/],
  ['no checks', () => validateBody(bulkSchema, {}), /^"checks" must be an array\.$/],
  ['a check that is no object', () => validateBody(bulkSchema, { checks: [null] }), /^"checks\[0\]" must be an object/],
  ['no name', () => validateBody(namespaceBodySchema, {}), /^"name" must be a namespace name.*it is missing\.$/],
  ['a name that is a number', () => validateBody(namespaceBodySchema, { name: 1 }), /^"name".*it is not a string\.$/],
  [
    'a name with a colon',
    () => validateBody(namespaceBodySchema, { name: 'a:b' }),
    /^"name".*it is not of that form\.$/,
  ],
  ['no scopes', () => validateBody(keyBodySchema, {}), /^"scopes" must be a non-empty array/],
  ['empty scopes', () => validateBody(keyBodySchema, { scopes: [] }), /^"scopes" must not be empty\.$/],
  ['an unknown scope', () => validateBody(keyBodySchema, { scopes: ['admin', 'x'] }), /^"scopes\[1\]" must be one of/],
  ['a repeated scope', () => validateBody(keyBodySchema, { scopes: ['admin', 'admin'] }), /^"scopes" must not repeat/],
  ['a name of null', () => validateBody(keyBodySchema, { scopes: ['admin'], name: null }), /^"name".*not a string\.$/],
  ['a name with a line break', () => validateBody(keyBodySchema, { scopes: ['admin'], name: 'a\nb' }), /^"name"/],
  ['a name with half a pair', () => validateBody(keyBodySchema, { scopes: ['admin'], name: '\ud800' }), /^"name"/],
  ['257 code points', () => validateBody(keyBodySchema, { scopes: ['admin'], name: '😀'.repeat(257) }), /^"name"/],
  [
    'an expiry without a zone',
    () => validateBody(keyBodySchema, { scopes: ['admin'], expires_at: '2030-01-01T00:00:00' }),
    /^"expires_at"/,
  ],
  [
    'an expiry that is a number',
    () => validateBody(keyBodySchema, { scopes: ['admin'], expires_at: 1 }),
    /^"expires_at"/,
  ],
  [
    'an expiry on no day',
    () => validateBody(keyBodySchema, { scopes: ['admin'], expires_at: '2030-02-30T00:00:00Z' }),
    /^"expires_at"/,
  ],
  ...['0', '1001', '-1', '1.5', '1e2', '', ' 1', '0x10', '99999999999'].map(
    (limit): [string, () => unknown, RegExp] => [
      `a limit of "${limit}"`,
      () => validate(pageQuerySchema, { limit }),
      /^"limit" must be a whole number from 1 to 1000\.$/,
    ],
  ),
];

describe('a request', () => {
  for (const [what, run, message] of refused) {
    it(`is refused with its reason: ${what}`, () => assert.throws(run, { code: 'invalid-request', message }));
  }

  it('is refused for an empty cursor, which is not one', () => {
    assert.throws(() => validate(pageQuerySchema, { cursor: '' }), { code: 'invalid-cursor' });
  });

  it('gets the defaults of what it leaves out', () => {
    assert.deepEqual(validate(pageQuerySchema, {}), { limit: 100 });
    assert.deepEqual(validate(pageQuerySchema, { limit: '1000', cursor: 'x' }), { limit: 1000, cursor: 'x' });
    assert.deepEqual(validateBody(keyBodySchema, { scopes: ['admin'], name: '😀'.repeat(256), expires_at: null }), {
      scopes: ['admin'],
      name: '😀'.repeat(256),
      expires_at: null,
    });
  });
});
