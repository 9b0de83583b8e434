// Grants that expire, through the public interface and the operator's.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, assertProblem, call } from '../../kit/http-client.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { oneService } from '../support/one-service.ts';

const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
const YEAR_MS = 365.25 * 24 * 3_600_000;

const soon = (ms: number): string => new Date(Date.now() + ms).toISOString();

const service = await oneService();

describe('a grant that expires', () => {
  const post = (key: string, path: string, body: unknown): Promise<Answer> =>
    service.send({ method: 'POST', path, body, key });
  const recordOf = (answer: Answer): Record<string, unknown> => answer.json as Record<string, unknown>;
  const check = async (key: string): Promise<{ authorized: boolean; checkedAt: string }> => {
    const { authorized, checked_at } = recordOf(await post(key, '/v1/check', TUPLE));
    return { authorized: authorized === true, checkedAt: String(checked_at) };
  };
  const operate = (options: Parameters<typeof call>[1]): Promise<Answer> =>
    call(service.consoleUrl, { ...options, key: service.operatorToken });

  it('holds until just before its expiry, and is told once in the audit log', async () => {
    const { tenantId, key } = await service.createTenant();
    const expires_at = soon(1500);
    const created = await post(key, '/v1/grants', { ...TUPLE, expires_at });
    assert.equal(created.status, 201);
    assert.equal(recordOf(created).expires_at, expires_at);
    await waitFor('the grant ends', async () => {
      const { authorized, checkedAt } = await check(key);
      assert.equal(authorized, checkedAt < expires_at, checkedAt);
      return !authorized;
    });
    const listed = await service.send({ method: 'GET', path: '/v1/objects?subject=user:ada&relation=viewer', key });
    assert.deepEqual(recordOf(listed).objects, []);
    const revoked = await service.send({ method: 'DELETE', path: '/v1/grants', body: TUPLE, key });
    assertProblem(revoked, 404, 'grant-not-found', service.errorsBase);
    const again = await post(key, '/v1/grants', TUPLE);
    assert.equal(again.status, 201);
    assert.notEqual(recordOf(again).grant_id, recordOf(created).grant_id);
    assert.equal(recordOf(again).expires_at, null);
    const path = `/operator/v1/tenants/${tenantId}/audit-log?action=grant.expired`;
    const told = recordOf(await operate({ method: 'GET', path })).entries;
    assert.ok(Array.isArray(told) && told.length === 1);
    assert.deepEqual(told[0].change.expires_at, expires_at);
  });

  it('is outlived by no answer given before: not in checks, bulk checks or listings in either direction', async () => {
    const { key } = await service.createTenant();
    await post(key, '/v1/grants', { ...TUPLE, expires_at: soon(1200) });
    const get = async (path: string) => recordOf(await service.send({ method: 'GET', path, key }));
    const answers = async (): Promise<readonly boolean[]> => {
      const bulk = recordOf(await post(key, '/v1/check/bulk', { checks: [TUPLE] })).results;
      const { objects } = await get('/v1/objects?subject=user:ada&relation=viewer');
      const { subjects } = await get('/v1/subjects?object=document:plan&relation=viewer');
      const { grants } = await get('/v1/grants?subject=user:ada');
      assert.ok(Array.isArray(bulk) && Array.isArray(objects) && Array.isArray(subjects) && Array.isArray(grants));
      const authorized = bulk.every((result) => result.authorized === true);
      return [(await check(key)).authorized, authorized, objects.length > 0, subjects.length > 0, grants.length > 0];
    };
    assert.deepEqual(await answers(), [true, true, true, true, true]);
    await waitFor('the grant ends', async () => !(await check(key)).authorized);
    assert.deepEqual(await answers(), [false, false, false, false, false]);
  });

  it('does not block its successor, which has the expiry of its own request', async () => {
    const { key } = await service.createTenant();
    for (const next of [soon(YEAR_MS), null]) {
      const first = recordOf(await post(key, '/v1/grants', { ...TUPLE, expires_at: soon(1000) }));
      await waitFor('the grant ends', async () => !(await check(key)).authorized);
      const second = await post(key, '/v1/grants', { ...TUPLE, expires_at: next });
      assert.equal(second.status, 201, second.text);
      assert.equal(recordOf(second).expires_at, next);
      assert.notEqual(recordOf(second).grant_id, first.grant_id);
      assert.equal((await check(key)).authorized, true);
      await service.send({ method: 'DELETE', path: '/v1/grants', body: TUPLE, key });
    }
  });

  it('keeps, changes or loses its expiry when it is created again', async () => {
    const { key } = await service.createTenant();
    const [first, second] = [soon(YEAR_MS), soon(2 * YEAR_MS)];
    const created = recordOf(await post(key, '/v1/grants', { ...TUPLE, expires_at: first }));
    for (const [given, expected] of [
      [{}, first],
      [{ expires_at: second }, second],
      [{ expires_at: null }, null],
      [{}, null],
    ] as const) {
      const answer = await post(key, '/v1/grants', { ...TUPLE, ...given });
      assert.equal(answer.status, 200);
      assert.deepEqual(recordOf(answer), { ...created, expires_at: expected });
    }
  });

  it('takes any time zone', async () => {
    const { key } = await service.createTenant();
    const answer = await post(key, '/v1/grants', { ...TUPLE, expires_at: '2099-12-31T23:30:00+05:30' });
    assert.equal(recordOf(answer).expires_at, '2099-12-31T18:00:00.000Z');
  });

  for (const [what, expires_at, message] of [
    ['that has passed', '2020-01-01T00:00:00Z', /in the future/],
    ['without a time zone', '2099-01-01T00:00:00', /with a time zone/],
    ['beyond a century', '2190-01-01T00:00:00Z', /within 100 years/],
    ['on no day of the calendar', '2099-02-30T00:00:00Z', /with a time zone/],
    ['that is a number', 4_000_000_000, /with a time zone/],
    ['that is empty', '', /with a time zone/],
  ] as const) {
    it(`is refused with an expiry ${what}, and nothing is changed`, async () => {
      const { key } = await service.createTenant();
      const refused = await post(key, '/v1/grants', { ...TUPLE, expires_at });
      assertProblem(refused, 400, 'invalid-request', service.errorsBase);
      assert.match(refused.text, /expires_at/);
      assert.match(refused.text, message);
      assert.equal((await check(key)).authorized, false);
    });
  }

  it('is not revoked by a call with an expiry', async () => {
    const { key } = await service.createTenant();
    await post(key, '/v1/grants', TUPLE);
    const body = { ...TUPLE, expires_at: soon(YEAR_MS) };
    const refused = await service.send({ method: 'DELETE', path: '/v1/grants', body, key });
    assertProblem(refused, 400, 'invalid-request', service.errorsBase);
    assert.equal((await check(key)).authorized, true);
  });

  it('is exported with its expiry, and imported with it', async () => {
    const { tenantId, key } = await service.createTenant();
    const expires_at = soon(YEAR_MS);
    await post(key, '/v1/grants', { ...TUPLE, expires_at });
    await post(key, '/v1/grants', { ...TUPLE, relation: 'editor' });
    const path = `/operator/v1/tenants/${tenantId}/export`;
    const tsv = await operate({ method: 'GET', path: `${path}?format=tsv` });
    assert.equal(tsv.text, `user:ada\teditor\tdocument:plan\nuser:ada\tviewer\tdocument:plan\t${expires_at}\n`);
    const ndjson = await operate({ method: 'GET', path });
    const other = await service.createTenant();
    const imported = await operate({
      method: 'POST',
      path: `/operator/v1/tenants/${other.tenantId}/import`,
      body: ndjson.text,
      headers: { 'content-type': 'application/x-ndjson' },
    });
    assert.equal(imported.status, 200, imported.text);
    const again = await operate({ method: 'GET', path: `/operator/v1/tenants/${other.tenantId}/export?format=tsv` });
    assert.equal(again.text, tsv.text);
  });

  it('keeps its expiry, gets or loses one in a bulk write, of both interfaces', async () => {
    const { tenantId, key } = await service.createTenant();
    const expires_at = soon(YEAR_MS);
    const other = { ...TUPLE, relation: 'editor' };
    const bulk = (body: unknown) => post(key, '/v1/grants/bulk', body);
    const operated = (body: unknown) =>
      operate({ method: 'POST', path: `/operator/v1/tenants/${tenantId}/grants/bulk`, body });
    for (const [send, grants, expected] of [
      [bulk, [{ ...TUPLE, expires_at }, other], [expires_at, null]],
      [operated, [TUPLE, { ...other, expires_at }], [expires_at, expires_at]],
      [bulk, [{ ...TUPLE, expires_at: null }, other], [null, expires_at]],
    ] as const) {
      const answer = await send({ grants });
      assert.equal(answer.status, 200, answer.text);
      const written = recordOf(answer).grants;
      assert.ok(Array.isArray(written));
      assert.deepEqual(
        written.map((grant) => grant.expires_at),
        expected,
      );
    }
    for (const [body, place] of [
      [
        { grants: [other, { ...TUPLE, expires_at: '2020-01-01T00:00:00Z' }] },
        /"grants\[1\]\.expires_at" must be a moment/,
      ],
      [{ grants: [{ ...TUPLE, expires_at: '2099-01-01T00:00:00' }] }, /"grants\[0\]\.expires_at" must be an ISO 8601/],
      [{ revocations: [{ ...TUPLE, expires_at }] }, /"revocations\[0\]\.expires_at" must not be given/],
    ] as const) {
      for (const send of [bulk, operated]) {
        const refused = await send(body);
        assert.equal(refused.status, 400);
        assert.match(refused.text.replaceAll('\\"', '"'), place);
      }
    }
    const filter = { subject: TUPLE.subject, expires_at };
    assertProblem(await post(key, '/v1/grants/revoke', filter), 400, 'invalid-request', service.errorsBase);
    assert.equal((await check(key)).authorized, true);
  });

  it('counts for no condition and no revocation of many once it has expired', async () => {
    const { key } = await service.createTenant();
    const other = { ...TUPLE, relation: 'editor' };
    await post(key, '/v1/grants/bulk', { grants: [{ ...TUPLE, expires_at: soon(1000) }, other] });
    await waitFor('the grant ends', async () => !(await check(key)).authorized);
    const unmet = await post(key, '/v1/grants/bulk', { revocations: [other], if: [{ ...TUPLE, exists: true }] });
    assert.equal(unmet.status, 412);
    const cleared = await post(key, '/v1/grants/revoke', { subject: TUPLE.subject });
    assert.deepEqual(recordOf(cleared), { revoked: 1, complete: true });
  });
});
