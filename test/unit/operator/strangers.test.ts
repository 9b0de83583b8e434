// The console with strangers on its port: an operator is answered whatever else connects.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFailureLimiter } from '../../../src/front/limits/failure-limiter.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { OPERATOR_TOKEN, startConsole, useConsole } from '../../kit/console-service.ts';
import { parseResponses, RawConnection, rawExchange } from '../../kit/http-raw.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { countIn, openIdleSockets } from '../support/idle-sockets.ts';
import { callOperator } from './operator-call.ts';

const TOKEN = `Authorization: Bearer ${OPERATOR_TOKEN}\r\n`;
const PLANS = `GET /operator/v1/plans HTTP/1.1\r\nHost: a\r\n${TOKEN}`;
/** A log-in whose body does not come whole. */
const HALF_LOG_IN =
  'POST /console/log-in HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 900\r\n\r\ntoken=';

/**
 * So many connections have a place. Each test opens several times as many, so that every place changes hands again and
 * again.
 */
const CONNECTIONS_MAX = 64;
/** What is not taken for so long is cut: of a console of its own, on which nothing else has to be in time. */
const STALL_TIMEOUT_MS = 250;

const failureLimiter = createFailureLimiter({ clock: systemClock });
const service = await useConsole({ failureLimiter, connectionsMax: CONNECTIONS_MAX });

describe('the console, with strangers on its port,', () => {
  const dropped = async (reason: string, of = service): Promise<number> =>
    countIn(
      await of.metrics.registry.metrics(),
      `grantd_connections_dropped_total{server="console",reason="${reason}"}`,
    );
  const createTenant = async (): Promise<string> =>
    (await callOperator(service.url, 'POST', '/tenants', { name: 'Acme' })).body.tenant_id;

  it('answers an operator while all connections are idle or owe the rest of a request, and more come', async () => {
    const bytes = ['', 'GET /operator/v1/pl', HALF_LOG_IN];
    const strangers = await openIdleSockets(service.url, 5 * CONNECTIONS_MAX, (index) => bytes[index % 3] ?? '');
    let areComing = true;
    const coming = openIdleSockets(service.url, 5 * CONNECTIONS_MAX, () => HALF_LOG_IN).finally(() => {
      areComing = false;
    });
    for (let calls = 0; areComing || calls < 10; calls += 1) {
      assert.equal((await rawExchange(service.url, `${PLANS}Connection: close\r\n\r\n`)).status, 200);
    }
    (await coming).close();
    strangers.close();
    assert.ok((await dropped('idle')) > 0, 'the idlest made room');
    assert.equal(await dropped('full'), 0);
  });

  it('ends a connection with half a header, also one that trickles in and one after a response', async () => {
    await Promise.all(
      ['', `${PLANS}\r\n`].map(async (first) => {
        const connection = await RawConnection.open(service.url);
        connection.send(first);
        await connection.readResponses(first === '' ? 0 : 1);
        connection.send(`${PLANS}X-Long: `);
        const trickle = setInterval(() => connection.send('x'), 20);
        const [response] = parseResponses(await connection.readToEnd());
        clearInterval(trickle);
        assert.equal(response?.status, first === '' ? 408 : 200);
      }),
    );
  });

  it('lets an operator send the rest of an import while others come and go', async () => {
    const line = `${JSON.stringify({ subject: 'user:a', relation: 'viewer', object: 'doc:a' })}\n`;
    const head = `POST /operator/v1/tenants/${await createTenant()}/import HTTP/1.1\r\nHost: a\r\n${TOKEN}`;
    const connection = await RawConnection.open(service.url);
    connection.send(`${head}Content-Type: application/x-ndjson\r\nContent-Length: ${line.length}\r\n\r\n{`);
    const before = await dropped('idle');
    const strangers = await openIdleSockets(service.url, 5 * CONNECTIONS_MAX);
    // The operating system opens connections before the server knows of them.
    const changed = async () => (await dropped('idle')) - before > 2 * CONNECTIONS_MAX;
    await waitFor('every place to have changed hands', changed);
    connection.send(line.slice(1));
    const [response] = await connection.readResponses(1);
    assert.deepEqual([response?.status, response?.body.includes('created')], [200, true]);
    strangers.close();
    connection.destroy();
  });

  it('takes a good token and a session after any number of wrong ones and of requests without', async () => {
    const call = async (headers: Record<string, string>): Promise<number> => {
      const response = await fetch(`${service.url}/operator/v1/plans`, { headers });
      await response.text();
      return response.status;
    };
    const good = { Authorization: `Bearer ${OPERATOR_TOKEN}` };
    for (let image = 0; image < 61; image += 1) assert.equal(await call({ 'Sec-Fetch-Site': 'cross-site' }), 401);
    for (let guess = 0; guess < 60; guess += 1)
      assert.equal(await call({ Authorization: `Bearer guess-${guess}` }), 401);
    assert.equal(await call({ Authorization: 'Bearer guess' }), 429);
    assert.equal(await call({}), 401);
    assert.equal(await call(good), 200);
    const form = await fetch(`${service.url}/console/log-in`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: `token=${OPERATOR_TOKEN}`,
      redirect: 'manual',
    });
    assert.equal(form.status, 303);
    const cookie = form.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    assert.equal((await fetch(`${service.url}/console/tenants`, { headers: { cookie } })).status, 200);
  });

  it('cuts a connection that sends a request before it has the response to the last', async () => {
    const connection = await RawConnection.open(service.url);
    connection.send(`${PLANS}\r\n`.repeat(500));
    assert.ok(parseResponses(await connection.readToEnd()).length <= 1);
    assert.equal(await dropped('pipelined'), 1);
    // One after the other is what connections are kept for.
    const patient = await RawConnection.open(service.url);
    for (let count = 1; count <= 3; count += 1) {
      patient.send(`${PLANS}\r\n`);
      assert.equal((await patient.readResponses(count)).at(-1)?.status, 200);
    }
    patient.destroy();
  });

  it('cuts an export that is not taken, and pulls no further page', async () => {
    await using slow = await startConsole({
      clock: systemClock,
      random: systemRandom,
      stallTimeoutMs: STALL_TIMEOUT_MS,
    });
    const { operator } = slow;
    const context = { requestId: 'req_x', deadlineMs: Number.MAX_VALUE };
    const { tenantId } = await operator.createTenant(context, { name: 'Acme', plan: 'free', operator: 'test' });
    const session = await operator.tenant(context, tenantId, 'test');
    const grants = Array.from({ length: 1000 }, (_, index) => ({
      subject: 'user:a',
      relation: 'viewer' as const,
      object: `doc:${'x'.repeat(200)}${index}`,
      revoke: false,
    }));
    await session.call('writeGrants', context, grants);
    operator.endlessExport = true;
    const head = `GET /operator/v1/tenants/${tenantId}/export HTTP/1.1\r\nHost: a\r\n${TOKEN}\r\n`;
    const pulled = () => operator.calls.filter(({ name }) => name === 'exportGrants').length;
    const strangers = await openIdleSockets(slow.url, 1, () => head);
    await waitFor('the export to be cut', async () => (await dropped('stalled', slow)) === 1);
    const before = pulled();
    assert.ok(before > 0);
    for (let calls = 0; calls < 20; calls += 1) await callOperator(service.url, 'GET', '/plans');
    assert.equal(pulled(), before);
    strangers.close();
  });
});
