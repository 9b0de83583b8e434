// The checker of histories has to be right itself: it accepts what a right service can answer, agrees with a search
// through all orders about small histories, and finds each kind of wrong answer.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkHistory } from '../kit/history/check-history.ts';
import { History, type Invocation, type Operation, type Outcome, strictlyIncreasing } from '../kit/history/history.ts';
import { isLinearizable, type Plan, play, spoil, tuple } from './support/history-samples.ts';

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

  it('accepts every history in which several registers are written at one moment', () => {
    const calls = plans(['grant', 'revoke', 'check', 'bulk', 'list', 'write-bulk', 'clear'], 3, 30, 20);
    fc.assert(
      fc.property(calls, (script) => {
        const verdict = judged(play(script));
        assert.ok(verdict.ok, verdict.text);
      }),
      { numRuns: 300 },
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

  it('agrees with a search through all orders about writes of several grants at one moment', () => {
    let [right, refused] = [0, 0];
    const history = fc.tuple(
      plans(['write-bulk', 'write-bulk', 'clear', 'grant', 'revoke', 'check', 'bulk'], 3, 8, 6),
      fc.array(fc.nat(20), { maxLength: 2 }),
    );
    fc.assert(
      fc.property(history, ([script, spoiled]) => {
        const played = play(script);
        assert.ok(judged(played).ok, judged(played).text);
        const operations = spoiled.reduce((before, which) => spoil(before, which), played);
        const expected = isLinearizable(operations);
        const verdict = judged(operations);
        assert.equal(verdict.undecided, 0);
        if (expected) right += 1;
        else refused += 1;
        const byOrder = verdict.violations.filter(({ title }) => !/^(A grant id|A condition)/.test(title));
        if (verdict.ok || byOrder.length > 0) assert.equal(verdict.ok, expected, `${expected} ${verdict.text}`);
      }),
      { numRuns: 4000 },
    );
    assert.ok(refused > 200 && right > 2000, `${right} right and ${refused} wrong histories were tried`);
  });

  // The random histories above are judged by a search through all orders, which these judge in turn.
  for (const [name, operations, right] of [
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
    assert.equal(violations[0]?.title, 'No order explains the answers on several tuples at once.');
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

  it('takes a refusal that says that nothing was done at its word', () => {
    const refused = grant({ from: 1, to: 2, outcome: { kind: 'refused' } });
    assert.ok(judged([refused, check({ from: 3, to: 4, outcome: answer(false) })]).ok);
    assert.equal(judged([refused, check({ from: 3, to: 4, outcome: answer(true) })]).ok, false);
  });

  it('refuses what took effect after its key was revoked, or after the moment that it had to, though it began before', () => {
    const revoked = at({ from: 3, to: 4, outcome: REVOKED }, { kind: 'revoke-key', input: { keyId: 'key_1' } });
    const granted = (keyId?: string): Operation =>
      grant({ from: 1, to: 9, outcome: created('g1'), ...(keyId === undefined ? {} : { keyId }) });
    const absent = check({ from: 5, to: 6, outcome: answer(false) });
    assert.ok(judged([granted(), revoked, absent]).ok);
    assert.equal(judged([granted('key_1'), revoked, absent]).ok, false);
    assert.equal(judged([{ ...granted(), effectBy: 4 } as Operation, absent]).ok, false);
    assert.ok(judged([{ ...granted(), effectBy: 5.5 } as Operation, absent]).ok);
  });

  it('judges each page of an export by what was there throughout, whichever page looked at what lies between them', () => {
    const record = (object: number) => ({ ...tuple(object), grantId: `g${object}`, createdAt: `g${object}` });
    const page = (objects: readonly number[], more = false, input: object = {}): Operation =>
      at(
        { from: 10, to: 12, outcome: { kind: 'answer', grants: objects.map(record), more } },
        { kind: 'export', input },
      );
    const granted = (object: number, from = 1): Operation =>
      at({ from, to: from + 1, outcome: created(`g${object}`) }, { kind: 'grant', input: tuple(object) });
    const before = [granted(1), granted(3)];
    for (const right of [page([1, 3]), page([1], true), page([3], false, { after: tuple(1) })])
      assert.ok(judged([...before, right]).ok);
    for (const wrong of [
      page([1]),
      page([3, 1]),
      page([1, 1, 3]),
      page([1, 2, 3]),
      page([3], true),
      page([], false, { after: tuple(1) }),
      page([1, 3], false, { subject: 'user:b' }),
    ])
      assert.equal(judged([...before, wrong]).ok, false);
    const between = granted(2, 7);
    assert.equal(judged([...before, between, page([3], false, { after: tuple(1) })]).ok, false);
    assert.ok(judged([...before, between, page([3], false, { after: tuple(1), since: 6 })]).ok);
    const other = at({ from: 1, to: 2, outcome: created('g9') }, { kind: 'grant', input: tuple(3) });
    assert.equal(judged([granted(1), other, page([1, 3])]).ok, false, 'another grant of the same tuple');
  });

  it('judges a listing of subjects: with a grant throughout, and never without one', () => {
    const page = (subjects: readonly string[], more = false): Operation =>
      at({ from: 10, to: 12, outcome: { kind: 'answer', subjects, more } }, { kind: 'subjects', input: {} });
    const granted = grant({ from: 1, to: 2, outcome: created('g1') });
    assert.ok(judged([granted, page(['user:a'])]).ok);
    assert.ok(judged([granted, revoke({ from: 3, to: undefined }), page([])]).ok);
    assert.ok(judged([granted, page([], true)]).ok, 'the next page may have it');
    for (const wrong of [[], ['user:a', 'user:a'], ['user:a', 'user:b']])
      assert.equal(judged([granted, page(wrong)]).ok, false, wrong.join());
    const again = grant({ from: 5, to: 6, outcome: created('g2') });
    assert.equal(judged([granted, revoke({ from: 3, to: 4, outcome: REVOKED }), again, page([])]).ok, false);
  });

  it('judges a listing of keys: made and not revoked, once each', () => {
    const page = (keys: readonly { readonly keyId: string; readonly name: string }[]): Operation =>
      at({ from: 10, to: 12, outcome: { kind: 'answer', keys, more: false } }, { kind: 'keys', input: {} });
    const made = (outcome?: Outcome): Operation =>
      at(
        { from: 1, to: 2, ...(outcome === undefined ? {} : { outcome }) },
        { kind: 'create-key', input: { name: 'a' } },
      );
    const known = made({ kind: 'key', keyId: 'key_1' });
    const revocation = (to: number | undefined): Operation =>
      at(
        { from: 3, to, ...(to === undefined ? {} : { outcome: REVOKED }) },
        { kind: 'revoke-key', input: { keyId: 'key_1' } },
      );
    const key = { keyId: 'key_1', name: 'a' };
    for (const right of [
      [known, page([key])],
      [made(), page([])],
      [made(), page([key])],
      [known, revocation(4), page([])],
      [known, revocation(undefined), page([key])],
      [known, revocation(undefined), page([])],
    ])
      assert.ok(judged(right).ok, judged(right).text);
    for (const wrong of [
      [known, page([])],
      [known, page([key, key])],
      [known, revocation(4), page([key])],
      [known, page([key, { keyId: 'key_2', name: 'b' }])],
      [made({ kind: 'refused' }), page([key])],
      [made(), page([key, { keyId: 'key_2', name: 'a' }])],
    ])
      assert.equal(judged(wrong).ok, false);
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
