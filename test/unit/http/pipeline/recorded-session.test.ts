// The decision log gets the decisions of the requests that it samples, and nothing else.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { RequestContext, TenantSession } from '../../../../src/front/front.ts';
import { recordedSession } from '../../../../src/http/pipeline/recorded-session.ts';
import type { NamedTuple } from '../../../../src/rules/questions.ts';
import type { Decision } from '../../../../src/telemetry/decision-log.ts';
import { type Answer, type CallOptions, call } from '../../../kit/http-client.ts';
import { type HttpInProcess, startHttp, unavailable } from '../http-in-process.ts';

const GRANTED = { subject: 'user:a', relation: 'viewer', object: 'doc:1' };
const DENIED = { ...GRANTED, object: 'doc:2' };

describe('the decision log', () => {
  const recorded: Decision[] = [];
  const asked: string[] = [];
  let takes = true;
  let http: HttpInProcess;
  let tenantId: string;
  let key: string;
  before(async () => {
    http = await startHttp({}, undefined, {
      takes: (id) => {
        asked.push(id);
        return takes;
      },
      record: (decision) => void recorded.push(decision),
    });
    const tenant = await http.front.createTenant('unlimited');
    key = tenant.key;
    tenantId = tenant.tenantId;
    await send({ method: 'POST', path: '/v1/grants', body: GRANTED });
  });
  beforeEach(() => {
    recorded.length = 0;
    asked.length = 0;
    takes = true;
  });
  after(() => http.close());

  const send = (options: CallOptions): Promise<Answer> => call(http.url, { key, ...options });
  const check = (body: unknown) => send({ method: 'POST', path: '/v1/check', body });
  const checkedAtOf = ({ json }: Answer): number => Date.parse((json as { checked_at: string }).checked_at);

  it('gets a check with its answer, its key and its times', async () => {
    for (const [body, authorized] of [
      [GRANTED, true],
      [DENIED, false],
      [{ ...GRANTED, explain: true }, true],
    ] as const) {
      recorded.length = 0;
      const sentAtMs = Date.now();
      const answer = await check(body);
      assert.equal(answer.status, 200, answer.text);
      const [{ answeredAtMs, keyId, ...rest } = {} as Decision, ...others] = recorded;
      assert.deepEqual(others, []);
      const requestId = answer.headers['x-service-request-id'];
      const { subject, relation, object } = body;
      const checkedAtMs = checkedAtOf(answer);
      assert.deepEqual(rest, { requestId, index: 0, tenantId, subject, relation, object, authorized, checkedAtMs });
      assert.match(keyId, /^key_/);
      assert.ok(answeredAtMs >= sentAtMs && answeredAtMs <= Date.now());
    }
    assert.deepEqual(asked, [tenantId, tenantId, tenantId]);
  });

  it('gets all checks of a bulk check, in order', async () => {
    const answer = await send({ method: 'POST', path: '/v1/check/bulk', body: { checks: [GRANTED, DENIED, GRANTED] } });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      recorded.map(({ index, object, authorized, requestId, checkedAtMs }) => [
        index,
        object,
        authorized,
        requestId === answer.headers['x-service-request-id'],
        checkedAtMs === checkedAtOf(answer),
      ]),
      [
        [0, 'doc:1', true, true, true],
        [1, 'doc:2', false, true, true],
        [2, 'doc:1', true, true, true],
      ],
    );
  });

  it('gets what the access evaluations of AuthZEN ask', async () => {
    const evaluation = (id: string) => ({
      subject: { type: 'user', id: 'a' },
      action: { name: 'viewer' },
      resource: { type: 'doc', id },
    });
    const one = await send({ method: 'POST', path: '/access/v1/evaluation', body: evaluation('1') });
    assert.equal(one.status, 200, one.text);
    const evaluations = [evaluation('1'), evaluation('2')];
    const many = await send({ method: 'POST', path: '/access/v1/evaluations', body: { evaluations } });
    assert.equal(many.status, 200, many.text);
    assert.deepEqual(
      recorded.map(({ index, subject, relation, object, authorized }) => [
        index,
        subject,
        relation,
        object,
        authorized,
      ]),
      [
        [0, 'user:a', 'viewer', 'doc:1', true],
        [0, 'user:a', 'viewer', 'doc:1', true],
        [1, 'user:a', 'viewer', 'doc:2', false],
      ],
    );
  });

  it('gets the reason of a denial, if it asks for it, and the usage does not count that', async () => {
    const reasons: Promise<string>[] = [];
    const counted: unknown[] = [];
    const session = {
      tenantId,
      keyId: 'key_1',
      checkBulk: async () => ({ authorized: [true, false, false], checkedAtMs: 1 }),
      explain: async (_: RequestContext, check: NamedTuple, counts?: boolean) => {
        counted.push([check, counts]);
        return { authorized: false, checkedAtMs: 1, because: [], proof: '', reason: `{"text":"${check.object}"}` };
      },
    } as unknown as TenantSession;
    const decisions = {
      takes: () => true,
      record: (_: Decision, reasonOf?: () => Promise<string>) =>
        void (reasonOf === undefined || reasons.push(reasonOf())),
    };
    const observed = recordedSession(session, { decisions, clock: { wallMs: () => 2, monotonicMs: () => 2 } });
    const brought = { context: '{"hour":9}' };
    await observed.checkBulk({ requestId: 'req_1' } as RequestContext, [GRANTED, DENIED, GRANTED], brought);
    assert.deepEqual(await Promise.all(reasons), ['doc:2', 'doc:1']);
    assert.deepEqual(counted[0], [{ ...DENIED, ...brought }, false]);
  });

  it('never gets a key', async () => {
    await check(GRANTED);
    await send({ method: 'POST', path: '/v1/check/bulk', body: { checks: [GRANTED] } });
    assert.equal(recorded.length, 2);
    assert.ok(!JSON.stringify(recorded).includes('gk1_'));
    assert.ok(!JSON.stringify(recorded).includes(key.slice(-20)));
  });

  it('gets nothing of requests that it does not take, nor of those that are refused or fail', async () => {
    takes = false;
    assert.equal((await check(GRANTED)).status, 200);
    takes = true;
    assert.equal((await check({ ...GRANTED, subject: '?' })).status, 400);
    assert.equal((await call(http.url, { method: 'POST', path: '/v1/check', body: GRANTED, key: 'junk' })).status, 401);
    http.front.operator.faults.push(undefined, unavailable());
    assert.equal((await check(GRANTED)).status, 503);
    assert.deepEqual(recorded, []);
  });

  it('passes on all that a call brings along', async () => {
    const made: unknown[][] = [];
    const answering =
      (answer: object) =>
      async (...call: unknown[]) => {
        made.push(call);
        return answer;
      };
    const one = { authorized: true, checkedAtMs: 1 };
    const many = { authorized: [true], checkedAtMs: 1 };
    const session = {
      tenantId,
      keyId: 'key_1',
      check: answering(one),
      explain: answering(one),
      checkBulk: answering(many),
      checkOrDeny: answering(many),
    } as unknown as TenantSession;
    const clock = { wallMs: () => 2, monotonicMs: () => 2 };
    const decisions = { takes: () => true, record: () => {} };
    const observed = recordedSession(session, { decisions, clock });
    const context = { requestId: 'req_1' } as RequestContext;
    const brought = { context: '{"hour":9}', contextGrants: [{ ...GRANTED, relation: 'viewer' as const }] };
    await observed.check(context, { ...GRANTED, ...brought });
    await observed.explain(context, { ...GRANTED, ...brought });
    await observed.checkBulk(context, [GRANTED], brought);
    await observed.checkOrDeny(context, [GRANTED], brought);
    assert.deepEqual(made, [
      [context, { ...GRANTED, ...brought }],
      [context, { ...GRANTED, ...brought }],
      [context, [GRANTED], brought],
      [context, [GRANTED], brought],
    ]);
  });

  it('leaves every other operation as it is', async () => {
    for (const [options, status] of [
      [{ method: 'POST', path: '/v1/grants', body: DENIED }, 201],
      [{ method: 'DELETE', path: '/v1/grants', body: DENIED }, 204],
      [{ method: 'GET', path: '/v1/objects?subject=user:a&relation=viewer' }, 200],
      [{ method: 'GET', path: '/v1/namespaces' }, 200],
      [{ method: 'POST', path: '/v1/keys', body: { scopes: ['check:read'] } }, 201],
      [{ method: 'GET', path: '/v1/keys' }, 200],
      [{ method: 'GET', path: '/openapi.json' }, 200],
    ] as const) {
      const answer = await send(options);
      assert.equal(answer.status, status, `${options.path}: ${answer.text.slice(0, 200)}`);
    }
    assert.deepEqual(recorded, []);
  });
});
