// The TypeScript client sends what it is given, or nothing: what would become something else on its way is an
// `invalid-request` at once. And its timers keep waits of any length, and its guards tell what is known from the rest.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Grantd, GrantdError } from '../../clients/typescript/src/exports.ts';
import { refusalOf } from '../../clients/typescript/src/requirement.ts';
import { startTestingService } from './support/testing-service.ts';

const service = await startTestingService();
const HALF = '\ud800';
const VIEWER = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' } as const;

// biome-ignore lint/suspicious/noExplicitAny: as a program in JavaScript calls it
type Untyped = any;

interface Counted {
  readonly grantd: Untyped;
  readonly sent: string[];
}

/** A client whose requests are counted. */
function counted(options: object = {}): Counted {
  const tenant = service.tenant();
  const sent: string[] = [];
  const fetchIt: typeof fetch = (input, init) => {
    sent.push(String(input));
    return fetch(input, init);
  };
  return { grantd: new Grantd({ ...tenant.options, ...options, fetch: fetchIt }), sent };
}

async function failureOf(work: Promise<unknown> | Untyped): Promise<GrantdError> {
  const error = await Promise.resolve('page' in work ? work.page() : work).then(
    () => assert.fail('it succeeds'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GrantdError, String(error));
  return error;
}

const circular: Record<string, unknown> = {};
circular.self = circular;
const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`);

/** What JSON cannot carry, or would change. */
const VALUES: readonly unknown[] = [
  HALF,
  `a\udc00b`,
  { [HALF]: 1 },
  [1, { a: [HALF] }],
  Number.NaN,
  Number.POSITIVE_INFINITY,
  { a: undefined },
  [undefined],
  new Array(1),
  1n,
  Symbol('a'),
  () => 1,
  circular,
  deep,
  new Map([['a', 1]]),
  new Set([1]),
  Promise.resolve(1),
  new Date(Number.NaN),
  new Uint8Array(1),
];

describe('what cannot be sent', () => {
  it('is refused at once in a context, alone and beside others, and in properties', async () => {
    for (const value of VALUES) {
      const { grantd, sent } = counted();
      const calls = [
        grantd.check({ ...VIEWER, context: { value } }),
        grantd.checkBulk({ checks: [VIEWER], context: { value } }),
        grantd.listObjects({ subject: 'user:ada', relation: 'viewer', context: { value } }),
        grantd.evaluate({
          subject: { type: 'user', id: 'ada', properties: { value } },
          action: { name: 'viewer' },
          resource: { type: 'document', id: 'plan' },
        }),
        grantd.createGrant({ ...VIEWER, condition: { name: 'c', context: { value } } }),
      ];
      for (const each of calls) {
        const { type, retryable, detail } = await failureOf(each);
        assert.deepEqual([type, retryable], ['invalid-request', false], detail);
        assert.match(detail, /value/);
      }
      assert.deepEqual(sent, []);
    }
  });

  it('is refused in each place of a request', async () => {
    const { grantd, sent } = counted();
    const tuple = (name: string) => ({ ...VIEWER, [name]: `user:a${HALF}` });
    const calls = ['subject', 'relation', 'object'].flatMap((name) => [
      () => grantd.check(tuple(name)),
      () => grantd.explain(tuple(name)),
      () => grantd.checkBulk({ checks: [tuple(name)] }),
      () => grantd.createGrant(tuple(name)),
      () => grantd.revokeGrant(tuple(name)),
      () => grantd.writeBulk({ grants: [tuple(name)] }),
      () => grantd.writeBulk({ revocations: [tuple(name)] }),
      () => grantd.listGrants(tuple(name)),
    ]);
    const more = [
      () => grantd.revokeGrants({ subject: HALF }),
      () => grantd.listObjects({ subject: HALF, relation: 'viewer' }),
      () => grantd.listSubjects({ object: HALF, relation: 'viewer' }),
      () => grantd.listKeys().page({ cursor: HALF }),
      () => grantd.changes({ cursor: HALF }).page(),
      () => grantd.changes({ namespace: HALF })[Symbol.asyncIterator]().next(),
      () => grantd.createKey({ name: HALF, scopes: ['admin'] }),
      () => grantd.revokeKey({ key_id: HALF }),
      () => grantd.readRulesVersion({ version: '..' }),
      () => grantd.readRules({ unless_revision: 'a\r\nb' }),
      () => grantd.writeRules({ rule_set: { rules: [] }, revision: '"' }),
      ...['a\r\nb', '€', 'é', 1].map((key) => () => {
        return grantd.createKey({ name: '', scopes: ['admin'], idempotency_key: key });
      }),
    ];
    for (const call of [...calls, ...more]) {
      const { type, retryable } = await failureOf(call());
      assert.deepEqual([type, retryable], ['invalid-request', false], String(call));
    }
    assert.deepEqual(sent, []);
  });

  it('is no path to something else: a key of such an id does not exist', async () => {
    const { grantd, sent } = counted();
    for (const key_id of ['', '.', '..']) assert.equal(await grantd.revokeKey({ key_id }), false);
    assert.deepEqual(sent, []);
  });

  it('fails alone among checks of one moment', async () => {
    const { grantd, sent } = counted();
    await grantd.createGrant(VIEWER);
    const checks = [VIEWER, { ...VIEWER, subject: 1n }, { ...VIEWER, object: HALF }, VIEWER];
    const results = await Promise.allSettled(checks.map((each) => grantd.check(each)));
    assert.deepEqual(
      results.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.type)),
      [true, 'invalid-request', 'invalid-request', true],
    );
    assert.equal(sent.length, 2);
  });

  it('is refused among the headers of a hook', async () => {
    for (const headers of [{ 'x-a': 'a\r\nb' }, { 'x-a': '€' }, { 'x a': 'b' }, { 'x-a': 1 }]) {
      const hook = (_: unknown, run: Untyped) => run(headers);
      const { grantd, sent } = counted({ hook });
      assert.equal((await failureOf(grantd.check(VIEWER))).type, 'invalid-request');
      assert.deepEqual(sent, []);
    }
  });

  it('is not what is only unusual', async () => {
    const { grantd } = counted();
    const plain = { text: '\ud83d\ude00"\\\n', list: [1.5, -0, null, true, {}], date: new Date(0), when: Object('a') };
    assert.equal(await grantd.check({ ...VIEWER, context: plain }), false);
    const [first, second] = [plain, plain].map((context) =>
      grantd.check({ ...VIEWER, context: { a: context, b: context } }),
    );
    assert.deepEqual(await Promise.all([first, second]), [false, false]);
    const key = { name: '', scopes: ['admin'], idempotency_key: 'a"b\\c d' };
    assert.match((await grantd.createKey(key)).key, /^gk1_/);
  });
});

describe('a wait', () => {
  const refusing = (retryAfter: string) => {
    const state = { requests: 0 };
    const fetchIt: typeof fetch = async () => {
      state.requests += 1;
      return new Response('', { status: 429, headers: { 'retry-after': retryAfter } });
    };
    const tenant = service.tenant();
    return { state, grantd: new Grantd({ ...tenant.options, fetch: fetchIt, backoff: { firstMs: 0, maxMs: 0 } }) };
  };

  it('of the feed is as long as it is told, however long', async () => {
    for (const seconds of ['60', '2147483', '2147484', '999999999']) {
      const { grantd, state } = refusing(seconds);
      const controller = new AbortController();
      const next = grantd.changes({}, { signal: controller.signal })[Symbol.asyncIterator]().next();
      // The timers of a process without this wait would run out many times meanwhile.
      for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
      assert.equal(state.requests, 1, seconds);
      controller.abort();
      assert.equal((await failureOf(next)).type, 'cancelled');
    }
  });

  it('of a call is bounded by a deadline of any length, and one of none is refused', async () => {
    const { grantd, sent } = counted();
    for (const timeoutMs of [2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY]) {
      assert.equal(await grantd.check(VIEWER, { timeoutMs }), false);
    }
    sent.length = 0;
    for (const timeoutMs of [Number.NaN, -1, '5']) {
      assert.equal((await failureOf(grantd.check(VIEWER, { timeoutMs }))).type, 'invalid-request');
    }
    assert.deepEqual(sent, []);
  });
});

describe('a guard', () => {
  const statusOf = async (subject: Untyped, object: Untyped, check: () => Promise<boolean>) => {
    const options = { grantd: { check }, subject: () => subject };
    return (await refusalOf(options, { relation: 'viewer', object: () => object }, {}))?.status;
  };
  const throwing =
    (type: string, status = 400) =>
    () =>
      Promise.reject(new GrantdError(type, status, 'no'));

  it('answers 403 to a denial and an ill-formed subject, 404 to an ill-formed object, 503 to all that is unknown', async () => {
    const of = (check: () => Promise<boolean>) => statusOf('user:ada', 'document:plan', check);
    assert.equal(await of(async () => true), undefined);
    assert.equal(await of(async () => false), 403);
    assert.equal(await of(throwing('invalid-subject')), 403);
    assert.equal(await of(throwing('invalid-object')), 404);
    for (const type of ['invalid-relation', 'invalid-request', 'unauthorized', 'timeout', 'connection-lost', 'later']) {
      assert.equal(await of(throwing(type)), 503, type);
    }
    assert.equal(await of(() => Promise.reject(new TypeError('a'))), 503);
    const never = () => assert.fail('it asks');
    assert.equal(await statusOf(undefined, 'document:plan', never), 401);
    assert.equal(await statusOf('user:ada', undefined, never), 404);
    assert.equal(await statusOf('user:ada', '', never), 404);
    assert.equal(await statusOf(`user:${HALF}`, 'document:plan', never), 403);
    assert.equal(await statusOf('user:ada', `document:${HALF}`, never), 404);
  });
});
