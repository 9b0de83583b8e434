// A front with a saturated event loop: requests wait for the turn of their tenant, and those without a known key for a
// common one.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { assertProblem, type CallOptions, call } from '../../../kit/http-client.ts';
import { RawConnection } from '../../../kit/http-raw.ts';
import { waitFor } from '../../../kit/wait-for.ts';
import { HeldTurns } from '../../support/held-turns.ts';
import { type HttpInProcess, startHttp } from '../http-in-process.ts';

const CHECK: CallOptions = {
  method: 'POST',
  path: '/v1/check',
  body: { subject: 'user:a', relation: 'viewer', object: 'doc:1' },
};
const DEADLINE_MS = 2000;
/** What Node reads from a socket at once, at most. */
const READ_BYTES = 64 * 1024;

describe('requests in turns', () => {
  let http: HttpInProcess;
  let turns: HeldTurns;
  const send = (options: CallOptions) => call(http.url, options);
  /** Known to the front: a new key is verified first. */
  const knownTenant = async () => {
    const tenant = await http.front.createTenant('standard');
    turns.holding = false;
    assert.equal((await send({ ...CHECK, key: tenant.key })).status, 200);
    turns.holding = true;
    return tenant;
  };
  beforeEach(async () => {
    turns = new HeldTurns();
    http = await startHttp({ deadlineMs: DEADLINE_MS }, turns);
  });
  afterEach(() => http.close());

  it('wait under the id of their tenant, whichever way they came in', async () => {
    const { tenantId, key } = await knownTenant();
    const plain = send({ ...CHECK, key });
    await waitFor('the check waits', () => turns.waiting === 1);
    const byNode = send({ method: 'DELETE', path: '/v1/keys/abc', key });
    await waitFor('both wait', () => turns.waiting === 2);
    assert.deepEqual(turns.keys, [tenantId, tenantId]);
    turns.release();
    assert.equal((await plain).status, 200);
    assert.equal((await byNode).status, 404);
  });

  it('have a long answer made in a turn of their tenant, too', async () => {
    const { tenantId, key } = await knownTenant();
    for (const path of ['/v1/objects?subject=user:a&relation=viewer', '/v1/keys', '/v1/namespaces']) {
      const listed = send({ method: 'GET', path, key });
      await waitFor('it waits', () => turns.waiting === 1);
      turns.release();
      await waitFor('its answer waits', () => turns.waiting === 1);
      assert.deepEqual(turns.keys, [tenantId]);
      turns.release();
      assert.equal((await listed).status, 200);
    }
  });

  it('are read in the turn of their address where Node’s server reads them, one in each', async () => {
    const { key } = await knownTenant();
    turns.readsHeads = false;
    const connection = await RawConnection.open(http.url);
    const request = `GET /v1/nothing HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    connection.send(request.repeat(3));
    // The fast path looks at them first.
    await waitFor('the bytes to wait', () => turns.waiting === 1);
    assert.deepEqual(turns.keys, ['address 127.0.0.1']);
    turns.release();
    for (let count = 1; count <= 3; count += 1) {
      await waitFor('a head to wait', () => turns.waiting === 1);
      assert.deepEqual(turns.keys, ['address 127.0.0.1']);
      turns.release();
      await waitFor('the request to wait', () => turns.waiting === 1 && turns.keys[0]?.startsWith('ten_') === true);
      turns.release();
      assert.equal((await connection.readResponses(count)).at(-1)?.status, 404);
    }
    connection.destroy();
  });

  it('have the rest of an unwanted body discarded piece by piece, each in a turn of their address', async () => {
    turns.readsHeads = false;
    const bodyBytes = 16 * READ_BYTES;
    const connection = await RawConnection.open(http.url);
    connection.send(`POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: ${bodyBytes}\r\n\r\n`);
    connection.send(' '.repeat(bodyBytes));
    connection.send('GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n');
    const responses = connection.readResponses(2);
    let ofAddress = 0;
    for (let done = false; !done; ) {
      if (turns.keys[0]?.startsWith('address ') === true) ofAddress += 1;
      turns.release();
      done = await Promise.race([responses.then(() => true), setImmediate(false)]);
    }
    assert.deepEqual(
      (await responses).map(({ status }) => status),
      [401, 401],
    );
    assert.ok(ofAddress >= bodyBytes / READ_BYTES, `${ofAddress} turns of the address`);
    connection.destroy();
  });

  it('have a long body read piece by piece, each in a turn of their address', async () => {
    const { key } = await knownTenant();
    turns.readsHeads = false;
    const bodyBytes = 8 * READ_BYTES;
    const body = `{"checks":[]${' '.repeat(bodyBytes)}}`;
    const answered = send({ method: 'POST', path: '/v1/check/bulk', key, body });
    let ofAddress = 0;
    for (let done = false; !done; ) {
      if (turns.keys[0]?.startsWith('address ') === true) ofAddress += 1;
      turns.release();
      done = await Promise.race([answered.then(() => true), setImmediate(false)]);
    }
    assert.equal((await answered).status, 200);
    assert.ok(ofAddress >= bodyBytes / READ_BYTES, `${ofAddress} turns of the address`);
  });

  it('wait together if they have no known key', async () => {
    const withoutKey = send(CHECK);
    await waitFor('it waits', () => turns.waiting === 1);
    const withJunk = send({ ...CHECK, key: 'gk1_junk' });
    await waitFor('both wait', () => turns.waiting === 2);
    const page = send({ method: 'GET', path: '/errors' });
    await waitFor('all wait', () => turns.waiting === 3);
    assert.deepEqual(turns.keys, ['', '', '']);
    turns.release();
    assertProblem(await withoutKey, 401, 'unauthorized', `${http.url}/errors`);
    assertProblem(await withJunk, 401, 'unauthorized', `${http.url}/errors`);
    assert.equal((await page).status, 200);
  });

  it('are refused as overloaded where their turn comes after their deadline, and change nothing', async () => {
    const { key } = await knownTenant();
    const late = send({ ...CHECK, path: '/v1/grants', key });
    await waitFor('it waits', () => turns.waiting === 1);
    http.pass(DEADLINE_MS);
    turns.release();
    const refused = await late;
    assertProblem(refused, 503, 'overloaded', `${http.url}/errors`);
    assert.ok(Number(refused.headers['retry-after']) >= 1);
    turns.holding = false;
    assert.equal((await send({ ...CHECK, key })).text.includes('"authorized":false'), true);
  });
});
