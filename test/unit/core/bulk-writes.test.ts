// What a bulk write and a filter of grants may be: everything else is refused with its place, and never read as more.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bulkWriteRecord, demandWritten, parseBulkWrite, parseGrantFilter } from '../../../src/core/bulk-writes.ts';
import { GrantdError } from '../../../src/core/errors.ts';

const WALL_MS = Date.UTC(2026, 10, 1);
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
const OTHER = { subject: 'user:bob', relation: 'editor', object: 'document:plan' };
const many = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ ...TUPLE, object: `document:${from + index}` }));

const REFUSED: [string, unknown, string, RegExp][] = [
  ['no object', [], 'invalid-request', /^The body must be a JSON object\.$/],
  ['null', null, 'invalid-request', /^The body must be a JSON object\.$/],
  ['nothing', {}, 'invalid-request', /^The call changes nothing: "grants" and "revocations" are absent or empty\.$/],
  ['empty lists', { grants: [], revocations: [], if: [] }, 'invalid-request', /^The call changes nothing/],
  ['conditions alone', { if: [{ ...TUPLE, exists: true }] }, 'invalid-request', /^The call changes nothing/],
  ['grants that are null', { grants: null, revocations: [TUPLE] }, 'invalid-request', /^"grants" must be an array\.$/],
  ['grants that are an object', { grants: { 0: TUPLE } }, 'invalid-request', /^"grants" must be an array\.$/],
  ['revocations as a text', { revocations: 'all' }, 'invalid-request', /^"revocations" must be an array\.$/],
  ['conditions that are null', { grants: [TUPLE], if: null }, 'invalid-request', /^"if" must be an array\.$/],
  ['a grant that is null', { grants: [TUPLE, null] }, 'invalid-request', /^"grants\[1\]" must be an object/],
  ['a revocation in a list', { revocations: [[TUPLE]] }, 'invalid-request', /^"revocations\[0\]" must be an object/],
  ['a condition as a text', { grants: [TUPLE], if: ['x'] }, 'invalid-request', /^"if\[0\]" must be an object/],
  ['a bad subject', { grants: [TUPLE, { ...OTHER, subject: '' }] }, 'invalid-subject', /^"grants\[1\]\.subject" must/],
  [
    'a missing relation',
    { revocations: [{ ...TUPLE, relation: undefined }] },
    'invalid-relation',
    /^"revocations\[0\]/,
  ],
  [
    'an expiry without a zone',
    { grants: [TUPLE, { ...OTHER, expires_at: '2030-01-31T12:00:00' }] },
    'invalid-request',
    /^"grants\[1\]\.expires_at" must be an ISO 8601 timestamp with a time zone/,
  ],
  [
    'an expiry beyond a century',
    { grants: [{ ...TUPLE, expires_at: '2130-01-31T12:00:00Z' }] },
    'invalid-request',
    /^"grants\[0\]\.expires_at" must be within 100 years; it is not\.$/,
  ],
  [
    'an expiry before 1970',
    { grants: [{ ...TUPLE, expires_at: '1969-01-31T12:00:00Z' }] },
    'invalid-request',
    /^"grants\[0\]\.expires_at" must be a moment in the future; it is not\.$/,
  ],
  [
    'an expiry of a revocation',
    { revocations: [TUPLE, { ...OTHER, expires_at: null }] },
    'invalid-request',
    /^"revocations\[1\]\.expires_at" must not be given with a revocation\.$/,
  ],
  ['a bad object', { grants: [TUPLE], if: [{ ...TUPLE, object: 1 }] }, 'invalid-object', /^"if\[0\]\.object" must/],
  ['a condition without its side', { grants: [TUPLE], if: [TUPLE] }, 'invalid-request', /^"if\[0\]\.exists".*missing/],
  [
    'a condition of neither side',
    { grants: [TUPLE], if: [{ ...TUPLE, exists: 'true' }] },
    'invalid-request',
    /^"if\[0\]\.exists" must be true or false; it is neither\.$/,
  ],
  [
    'a condition of null',
    { grants: [TUPLE], if: [{ ...TUPLE, exists: null }] },
    'invalid-request',
    /^"if\[0\]\.exists" must be true or false; it is neither\.$/,
  ],
  [
    'a grant twice',
    { grants: [TUPLE, OTHER, { ...TUPLE }] },
    'invalid-request',
    /^"grants\[0\]" and "grants\[2\]" name the same tuple; a call changes it once\.$/,
  ],
  [
    'a tuple granted and revoked',
    { grants: [OTHER, TUPLE], revocations: [TUPLE] },
    'invalid-request',
    /^"grants\[1\]" and "revocations\[0\]" name the same tuple/,
  ],
  ['101 grants', { grants: many(101) }, 'bulk-too-large', /hold 101 changes together; at most 100 are allowed\.$/],
  ['60 and 41', { grants: many(60), revocations: many(41, 60) }, 'bulk-too-large', /hold 101 changes together/],
  ['101 of anything', { grants: Array.from({ length: 101 }, () => null) }, 'bulk-too-large', /hold 101 changes/],
  [
    '101 conditions',
    { grants: [TUPLE], if: Array.from({ length: 101 }, () => ({ ...TUPLE, exists: true })) },
    'bulk-too-large',
    /^"if" holds 101 conditions; at most 100 are allowed\.$/,
  ],
];

const message = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof GrantdError);
    return `${error.code}: ${error.message}`;
  }
  return 'not refused';
};

describe('a bulk write', () => {
  for (const [what, body, code, detail] of REFUSED) {
    it(`is refused with the place of what is wrong: ${what}`, () => {
      assert.throws(() => parseBulkWrite(body, WALL_MS), { code, message: detail });
    });
  }

  it('keeps what a grant says of its expiry: nothing, a moment, or that it has none', () => {
    const expires_at = '2030-01-31T12:00:00+01:00';
    const grants = [TUPLE, { ...OTHER, expires_at }, { ...TUPLE, object: 'document:x', expires_at: null }];
    assert.deepEqual(
      parseBulkWrite({ grants }, WALL_MS).grants.map((grant) => ('expiresAtMs' in grant ? grant.expiresAtMs : 'kept')),
      ['kept', Date.UTC(2030, 0, 31, 11), null],
    );
  });

  it('may hold 100 changes and 100 conditions, on the tuples that it changes too', () => {
    const preconditions = many(100).map((tuple) => ({ ...tuple, exists: false }));
    const write = parseBulkWrite({ grants: many(60), revocations: many(40, 60), if: preconditions }, WALL_MS);
    assert.deepEqual([write.grants.length, write.revocations.length, write.preconditions.length], [60, 40, 100]);
    assert.deepEqual(write.preconditions[3], { ...TUPLE, object: 'document:3', exists: false });
    assert.deepEqual(parseBulkWrite({ revocations: [TUPLE] }, WALL_MS), {
      grants: [],
      revocations: [TUPLE],
      preconditions: [],
    });
  });

  it('is shown with what each change has done', () => {
    const write = parseBulkWrite({ grants: [TUPLE, OTHER], revocations: many(2) }, WALL_MS);
    const epoch = '1970-01-01T00:00:00.000Z';
    const grants = [
      { created: true, grantId: 'grt_1', createdAtMs: 0 },
      { created: false, grantId: 'grt_2', createdAtMs: 1000, expiresAtMs: 2000 },
    ];
    assert.deepEqual(bulkWriteRecord(write, { grants, revoked: [true, false] }), {
      grants: [
        { grant_id: 'grt_1', ...TUPLE, created_at: epoch, expires_at: null, created: true },
        {
          grant_id: 'grt_2',
          ...OTHER,
          created_at: '1970-01-01T00:00:01.000Z',
          expires_at: '1970-01-01T00:00:02.000Z',
          created: false,
        },
      ],
      revocations: [{ revoked: true }, { revoked: false }],
    });
  });

  it('names the condition that is not met, by its index and its tuple', () => {
    const preconditions = [
      { ...TUPLE, exists: true },
      { ...OTHER, exists: false },
    ];
    const write = parseBulkWrite({ grants: [TUPLE], if: preconditions }, WALL_MS);
    const unmet = (precondition: number) => () => demandWritten(write, { kind: 'precondition-not-met', precondition });
    assert.throws(unmet(0), {
      code: 'precondition-failed',
      message:
        /^"if\[0\]" is not met: the grant user:ada viewer document:plan must exist, but does not\. Nothing was changed\.$/,
    });
    assert.throws(unmet(1), { message: /^"if\[1\]".*user:bob editor document:plan must not exist, but does\./ });
    assert.throws(unmet(2), /has no precondition 2/);
  });
});

describe('a filter of grants', () => {
  it('names a subject or an object, and perhaps a relation', () => {
    assert.deepEqual(parseGrantFilter({ subject: 'user:ada' }), {
      of: { subject: 'user:ada' },
      relation: undefined,
    });
    assert.deepEqual(parseGrantFilter({ object: 'document:plan', relation: 'viewer' }), {
      of: { object: 'document:plan' },
      relation: 'viewer',
    });
  });

  it('never means all: what is absent, empty, null or ill-formed is refused', () => {
    const one = 'invalid-request: Exactly one of "subject" and "object" must be given; ';
    for (const [body, expected] of [
      [null, 'invalid-request: The body must be a JSON object.'],
      [[], 'invalid-request: The body must be a JSON object.'],
      [{}, `${one}neither is given.`],
      [{ relation: 'viewer' }, `${one}neither is given.`],
      [{ subject: 'user:ada', object: 'document:plan' }, `${one}both are given.`],
      [{ subject: null, object: 'document:plan' }, `${one}both are given.`],
      [{ subject: '', object: '' }, `${one}both are given.`],
      [
        { subject: '*' },
        'invalid-request: "relation" must be a state, if "subject" is "*": no request ends every state of every object.',
      ],
    ] as const) {
      assert.equal(
        message(() => parseGrantFilter(body)),
        expected,
      );
    }
    for (const value of ['', null, 1, '**', ':', 'user:', [], {}]) {
      assert.match(
        message(() => parseGrantFilter({ subject: value })),
        /^invalid-subject: "subject" must be namespace/,
      );
      assert.match(
        message(() => parseGrantFilter({ object: value })),
        /^invalid-object: "object" must be namespace/,
      );
      const relation = value;
      assert.match(
        message(() => parseGrantFilter({ subject: 'user:ada', relation })),
        /^invalid-relation: "relation" must be/,
      );
    }
  });
});
