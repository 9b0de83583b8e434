// The checker of histories has to be right itself: it accepts what a right service can answer, agrees with a search
// through all orders about small histories, and finds each kind of wrong answer.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkHistory } from '../../support/history/check-history.ts';
import {
  History,
  type Invocation,
  type Operation,
  type Outcome,
  strictlyIncreasing,
} from '../../support/history/history.ts';
import { isLinearizable, type Plan, play, spoil, tuple } from './history-samples.ts';

const plans = (calls: Plan['call'][], objects: number, span: number, length: number): fc.Arbitrary<Plan[]> =>
  fc.array(
    fc.record({
      call: fc.constantFrom(...calls),
      objects: fc.uniqueArray(fc.nat(objects - 1), { minLength: 1, maxLength: objects, size: 'max' }),
      start: fc.nat(span),
      delay: fc.nat(6),
      rest: fc.nat(6),
      fate: fc.constantFrom('answered' as const, 'answered' as const, 'open' as const, 'lost' as const),
    }),
    { maxLength: length, size: 'max' },
  );

const judged = (operations: readonly Operation[]) => checkHistory(operations);

interface Line {
  readonly from: number;
  readonly to: number | undefined;
  readonly outcome?: Outcome;
  readonly keyId?: string;
}

/** An operation at these moments. */
function at(line: Line, invocation: Pick<Invocation, 'kind' | 'input'>): Operation {
  const { from, to, outcome, keyId } = line;
  const base = { client: 'c', tenant: 'ten_1', keyId, invokedAt: from, returnedAt: to, outcome };
  return { ...base, ...invocation } as Operation;
}

const created = (grantId: string): Outcome => ({ kind: 'created', grantId, createdAt: grantId });
const exists = (grantId: string): Outcome => ({ kind: 'exists', grantId, createdAt: grantId });
const answer = (authorized: boolean): Outcome => ({ kind: 'answer', authorized });
const REVOKED: Outcome = { kind: 'revoked' };
const NOT_FOUND: Outcome = { kind: 'not-found' };
const grant = (line: Line): Operation => at(line, { kind: 'grant', input: tuple(1) });
const revoke = (line: Line): Operation => at(line, { kind: 'revoke', input: tuple(1) });
const check = (line: Line): Operation => at(line, { kind: 'check', input: tuple(1) });

describe('the checker of histories', () => {
  it('accepts every history of a register', () => {
    fc.assert(
      fc.property(plans(['grant', 'revoke', 'check', 'bulk', 'list'], 3, 60, 60), (script) => {
        const verdict = judged(play(script));
        assert.ok(verdict.ok, verdict.text);
        assert.equal(verdict.undecided, 0);
      }),
      { numRuns: 1000 },
    );
  });

  it('agrees with a search through all orders', () => {
    let refused = 0;
    const history = fc.tuple(
      plans(['grant', 'revoke', 'check', 'bulk'], 2, 8, 7),
      fc.array(fc.nat(20), { maxLength: 2 }),
    );
    fc.assert(
      fc.property(history, ([script, spoiled]) => {
        const operations = spoiled.reduce((right, which) => spoil(right, which), play(script));
        const expected = isLinearizable(operations);
        const verdict = judged(operations);
        if (!expected) refused += 1;
        // Ids have a rule of their own, that a search need not break.
        const byOrder = verdict.violations.filter(({ title }) => !title.startsWith('A grant id'));
        if (verdict.ok || byOrder.length > 0) assert.equal(verdict.ok, expected, `${expected} ${verdict.text}`);
      }),
      { numRuns: 20_000 },
    );
    assert.ok(refused > 2000, `only ${refused} wrong histories were tried`);
  });

  for (const [name, operations, right] of [
    [
      'a check after an acknowledged grant',
      [grant({ from: 1, to: 2, outcome: created('g1') }), check({ from: 3, to: 4, outcome: answer(false) })],
      false,
    ],
    [
      'a check during a grant',
      [grant({ from: 1, to: 4, outcome: created('g1') }), check({ from: 2, to: 3, outcome: answer(false) })],
      true,
    ],
    [
      'a stale allow after an acknowledged revocation',
      [
        grant({ from: 1, to: 2, outcome: created('g1') }),
        revoke({ from: 3, to: 4, outcome: REVOKED }),
        check({ from: 5, to: 6, outcome: answer(true) }),
      ],
      false,
    ],
    [
      'a lost write',
      [grant({ from: 1, to: 2, outcome: created('g1') }), grant({ from: 3, to: 4, outcome: created('g2') })],
      false,
    ],
    [
      '201 for a grant that is there',
      [grant({ from: 1, to: 3, outcome: created('g1') }), grant({ from: 2, to: 4, outcome: created('g2') })],
      false,
    ],
    [
      '200 with the id of a grant before the last revocation',
      [
        grant({ from: 1, to: 2, outcome: created('g1') }),
        revoke({ from: 3, to: 4, outcome: REVOKED }),
        grant({ from: 5, to: 6, outcome: created('g2') }),
        grant({ from: 7, to: 8, outcome: exists('g1') }),
      ],
      false,
    ],
    [
      '204 twice for one grant',
      [
        grant({ from: 1, to: 2, outcome: created('g1') }),
        revoke({ from: 3, to: 6, outcome: REVOKED }),
        revoke({ from: 4, to: 7, outcome: REVOKED }),
      ],
      false,
    ],
    [
      '404 for a grant that is there',
      [grant({ from: 1, to: 2, outcome: created('g1') }), revoke({ from: 3, to: 4, outcome: NOT_FOUND })],
      false,
    ],
    [
      'a write without an answer that takes effect much later',
      [
        grant({ from: 1, to: undefined }),
        check({ from: 2, to: 3, outcome: answer(false) }),
        check({ from: 8, to: 9, outcome: answer(true) }),
      ],
      true,
    ],
    [
      'a write without an answer that takes effect twice',
      [
        grant({ from: 1, to: undefined }),
        check({ from: 2, to: 3, outcome: answer(true) }),
        revoke({ from: 4, to: 5, outcome: REVOKED }),
        check({ from: 6, to: 7, outcome: answer(true) }),
      ],
      false,
    ],
    [
      'a grant without an answer, with two ids',
      [
        grant({ from: 1, to: undefined }),
        grant({ from: 2, to: 3, outcome: exists('g1') }),
        grant({ from: 4, to: 5, outcome: exists('g2') }),
      ],
      false,
    ],
    [
      'a write without an answer that is seen and then is gone',
      [
        grant({ from: 1, to: undefined }),
        check({ from: 2, to: 3, outcome: answer(true) }),
        check({ from: 4, to: 5, outcome: answer(false) }),
      ],
      false,
    ],
    [
      'a write without an answer, undone by another one',
      [
        grant({ from: 1, to: undefined }),
        check({ from: 2, to: 3, outcome: answer(true) }),
        revoke({ from: 4, to: undefined }),
        check({ from: 5, to: 6, outcome: answer(false) }),
      ],
      true,
    ],
    [
      'a write that takes effect before it began',
      [check({ from: 1, to: 2, outcome: answer(true) }), grant({ from: 3, to: 4, outcome: created('g1') })],
      false,
    ],
  ] as const) {
    it(`${right ? 'accepts' : 'refuses'} ${name}`, () => {
      const verdict = judged(operations);
      assert.equal(verdict.ok, right, verdict.text);
      assert.equal(isLinearizable(operations), right);
    });
  }

  it('refuses a bulk check that no single moment explains, though each tuple alone is explained', () => {
    const [first, second] = [tuple(1), tuple(2)];
    const operations = [
      at({ from: 1, to: 2, outcome: created('g1') }, { kind: 'grant', input: first }),
      at({ from: 4, to: 5, outcome: REVOKED }, { kind: 'revoke', input: first }),
      at({ from: 6, to: 7, outcome: created('g2') }, { kind: 'grant', input: second }),
      at(
        { from: 3, to: 8, outcome: { kind: 'answer', authorized: [true, true] } },
        { kind: 'bulk', input: [first, second] },
      ),
    ];
    const { ok, violations, text } = judged(operations);
    assert.equal(ok, false);
    assert.equal(violations[0]?.title, 'A bulk check is no snapshot.');
    assert.match(text, /bulk \[user:a viewer doc:1, user:a viewer doc:2\]/);
  });

  it('judges each page of a listing by what was there throughout', () => {
    const page = (objects: readonly string[], more = false, after?: string): Operation =>
      at(
        { from: 10, to: 12, outcome: { kind: 'answer', objects, more } },
        { kind: 'list', input: { subject: 'user:a', relation: 'viewer', after } },
      );
    const granted = (object: number, from: number, to: number | undefined): Operation =>
      at(
        { from, to, ...(to === undefined ? {} : { outcome: created(`g${object}`) }) },
        { kind: 'grant', input: tuple(object) },
      );
    const before = [granted(1, 1, 2), granted(3, 1, 2), granted(2, 11, undefined)];
    for (const objects of [
      ['doc:1', 'doc:3'],
      ['doc:1', 'doc:2', 'doc:3'],
    ])
      assert.ok(judged([...before, page(objects)]).ok);
    for (const objects of [['doc:1'], ['doc:1', 'doc:3', 'doc:4'], ['doc:3', 'doc:1'], ['doc:1', 'doc:1', 'doc:3']])
      assert.equal(judged([...before, page(objects)]).ok, false, objects.join());
    assert.ok(judged([...before, page(['doc:1'], true), page(['doc:3'], false, 'doc:1')]).ok);
    assert.equal(judged([...before, page(['doc:3'], true)]).ok, false, 'doc:1 was skipped');
    assert.equal(judged([...before, page([], false, 'doc:1')]).ok, false, 'doc:3 was skipped');
  });

  it('refuses a request that began after its key was revoked, and a refusal before that', () => {
    const revoked = at({ from: 5, to: 6, outcome: REVOKED }, { kind: 'revoke-key', input: { keyId: 'key_1' } });
    const used = (from: number, outcome: Outcome): Operation =>
      check({ from, to: from + 0.5, outcome, keyId: 'key_1' });
    const unauthorized: Outcome = { kind: 'unauthorized' };
    assert.ok(judged([used(1, answer(false)), revoked, used(5.5, answer(false)), used(7, unauthorized)]).ok);
    assert.ok(judged([revoked, used(5.2, unauthorized)]).ok);
    assert.equal(judged([revoked, used(7, answer(false))]).ok, false);
    assert.equal(judged([revoked, used(1, unauthorized)]).ok, false);
    assert.equal(judged([revoked, grant({ from: 7, to: 8, outcome: created('g1'), keyId: 'key_1' })]).ok, false);
  });

  it('names the operations that contradict one another, and no others, in order of time', () => {
    const noise = Array.from({ length: 50 }, (_, index) =>
      check({ from: 10 + index, to: 10.5 + index, outcome: answer(true) }),
    );
    const operations = [
      grant({ from: 1, to: 2, outcome: created('g1') }),
      ...noise,
      check({ from: 70, to: 71, outcome: answer(false) }),
      check({ from: 72, to: 73, outcome: answer(true) }),
    ];
    const [first] = judged(operations).violations;
    assert.deepEqual(first?.operations, [operations[0], operations[51]]);
    assert.equal(
      first?.text,
      [
        'ten_1: No order explains the answers on user:a viewer doc:1.',
        '  1.000 .. 2.000  c  grant user:a viewer doc:1 => created g1',
        '  70.000 .. 71.000  c  check user:a viewer doc:1 => false   <-- contradicts the rest',
      ].join('\n'),
    );
  });

  it('records calls with their moments, and keeps those without an answer', () => {
    const history = new History(strictlyIncreasing(() => 5));
    const call: Invocation = { client: 'c', tenant: 'ten_1', kind: 'check', input: tuple(1) };
    const finish = history.begin(call);
    history.begin({ ...call, kind: 'grant', input: tuple(1) });
    finish({ kind: 'answer', authorized: false });
    const [first, second] = history.operations();
    assert.ok(first?.returnedAt !== undefined && first.invokedAt < first.returnedAt);
    assert.ok(second?.returnedAt === undefined && second?.outcome === undefined);
  });
});
