// The ops port: liveness, readiness with its reasons, metrics.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { listenOps, type OpsServer } from '../../../../src/roles/process/ops-server.ts';
import { listenOn, StartError } from '../../../../src/roles/process/start-error.ts';
import { systemClock } from '../../../../src/roles/process/system.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../../../src/telemetry/metrics.ts';
import { parseResponses, RawConnection, rawExchange } from '../../../kit/http-raw.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { waitFor } from '../../../kit/wait-for.ts';
import { countIn, type IdleSockets, openIdleSockets } from '../../support/idle-sockets.ts';

const clock = systemClock;
const log = createLog({ level: 'silent', pretty: false });
const metrics = createMetrics();

describe('the ops port', () => {
  let server: OpsServer;
  let reasons: string[] = [];
  let warnings: string[] = [];
  before(async () => {
    const says = { notReady: () => reasons, warnings: () => warnings };
    server = await listenOps({ metrics, clock, log, ...says }, { address: '127.0.0.1:0' });
  });
  after(() => server.close());

  it('is alive whatever else is wrong', async () => {
    reasons = ['starting'];
    const response = await fetch(`${server.url}/livez`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { status: 'alive' });
  });

  it('is ready if there is no reason against it', async () => {
    reasons = [];
    const response = await fetch(`${server.url}/readyz`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { status: 'ready' });
  });

  it('is ready while writes fail, and says that they do', async () => {
    reasons = [];
    warnings = ['writes fail: the disk is full'];
    const response = await fetch(`${server.url}/readyz`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { status: 'ready', warnings });
    warnings = [];
  });

  it('says why it is not ready', async () => {
    reasons = ['starting', 'no owner'];
    const response = await fetch(`${server.url}/readyz?verbose`);
    assert.equal(response.status, 503);
    assert.deepEqual(await response.json(), { status: 'not ready', reasons });
  });

  it('serves every metric as Prometheus text', async () => {
    const response = await fetch(`${server.url}/metrics`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.ok(Number.isFinite(Date.parse(response.headers.get('date') ?? '')), 'a server with a clock sends a Date');
    const text = await response.text();
    assert.match(text, /^# TYPE grantd_checks_total counter$/m);
    assert.match(text, /^process_cpu_seconds_total /m);
  });

  it('has nothing else and takes no other method', async () => {
    assert.equal((await fetch(`${server.url}/`)).status, 404);
    const response = await fetch(`${server.url}/livez`, { method: 'POST', body: 'x' });
    assert.equal(response.status, 405);
    assert.equal(response.headers.get('allow'), 'GET, HEAD');
    assert.equal((await fetch(`${server.url}/livez`, { method: 'HEAD' })).status, 200);
  });

  it('answers 500 if the metrics cannot be read, and continues', async (context) => {
    const failing = { ...metrics, render: () => Promise.reject(new Error('x')) };
    const other = await listenOps({ metrics: failing, clock, log, notReady: () => [] }, { address: '127.0.0.1:0' });
    context.after(() => other.close());
    assert.equal((await fetch(`${other.url}/metrics`)).status, 500);
    assert.equal((await fetch(`${other.url}/livez`)).status, 200);
  });

  it('names the setting and the address if the port is in use', async () => {
    const address = server.url.slice('http://'.length);
    await assert.rejects(
      listenOn('GRANTD_OPS_ADDRESS', address, () =>
        listenOps({ metrics, clock, log, notReady: () => [] }, { address }),
      ),
      (error) =>
        error instanceof StartError &&
        new RegExp(
          `^The address ${address} is in use by (another process|\\S+ \\(pid ${process.pid}\\))\\. Set GRANTD_OPS_ADDRESS to another address\\.$`,
        ).test(error.message),
    );
  });

  it('names the setting if the machine does not have the address', async () => {
    await assert.rejects(
      listenOn('GRANTD_OPS_ADDRESS', '192.0.2.1:0', () =>
        listenOps({ metrics, clock, log, notReady: () => [] }, { address: '192.0.2.1:0' }),
      ),
      /is not an address of this machine\. Set GRANTD_OPS_ADDRESS/,
    );
  });
});

describe('the ops port, with strangers on it,', () => {
  const PROBE = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n';
  const SCRAPE = PROBE.replace('livez', 'metrics');
  /** More than the system holds of what a client does not take. */
  const LARGE = 'x'.repeat(8 * 1024 * 1024);
  const RESPONSE_TIMEOUT_MS = 3000;
  const HEAD_TIMEOUT_MS = 2000;
  const CONNECTIONS_MAX = 64;
  const SCRAPES_MAX = 16;
  const BEYOND = 8;
  const RENDERING_MS = 10;
  let rendered = 0;
  let rendering: Promise<string> | undefined;
  let strange: Metrics;
  let server: OpsServer;
  /** It stands still, however busy the machine is, until a test lets time pass; what is due at once runs at once. */
  const time = new VirtualClock();
  let passingMs = 0;
  let runsTimers = false;
  const pump = setInterval(async () => {
    if (runsTimers) return;
    runsTimers = true;
    const byMs = passingMs;
    passingMs = 0;
    await time.advance(byMs);
    runsTimers = false;
  }, 1);
  const pass = async (byMs: number): Promise<void> => {
    passingMs += byMs;
    await waitFor('the time to pass', () => passingMs === 0 && !runsTimers);
  };
  before(async () => {
    const own = createMetrics();
    const render = (): Promise<string> => {
      rendered += 1;
      return rendering ?? own.render();
    };
    strange = { ...own, render };
    const dependencies = { metrics: strange, clock: time, log, notReady: () => [] };
    const bounds = { connectionsMax: CONNECTIONS_MAX, responseTimeoutMs: RESPONSE_TIMEOUT_MS };
    server = await listenOps(dependencies, { address: '127.0.0.1:0', ...bounds });
  });
  after(() => {
    clearInterval(pump);
    return server.close();
  });
  const dropped = async (reason: string): Promise<number> =>
    countIn(await strange.registry.metrics(), `grantd_connections_dropped_total{server="ops",reason="${reason}"}`);
  const probe = async (): Promise<void> => {
    assert.equal((await rawExchange(server.url, PROBE)).status, 200);
  };

  it('answers every probe under five times as many idle connections and half-sent requests as it accepts', async () => {
    const count = 5 * CONNECTIONS_MAX;
    const strangers = await openIdleSockets(server.url, count, (index) => (index % 2 === 0 ? '' : 'GET /livez HT'));
    const coming = openIdleSockets(server.url, count);
    for (let probes = 0; probes < 60; probes += 1) await probe();
    (await coming).close();
    strangers.close();
    assert.ok((await dropped('idle')) > 0, 'the idlest made room');
    assert.equal(await dropped('full'), 0);
  });

  it('drops a connection that sends no request in time', async () => {
    const strangers = await openIdleSockets(server.url, 10, () => 'GET ');
    const slow = await RawConnection.open(server.url);
    slow.send('GE');
    // Once it is answered, the server has accepted all earlier ones.
    await probe();
    await pass(HEAD_TIMEOUT_MS - 1);
    await probe();
    assert.equal(strangers.open, 10);
    // Bytes on the way do not give it more time.
    slow.send('T');
    await pass(1);
    await waitFor('the connections to be closed', () => strangers.open === 0);
    assert.equal(await slow.readToEnd(), '');
    strangers.close();
  });

  it('never drops a request that is being answered', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    rendering = promise;
    const scrape = rawExchange(server.url, SCRAPE);
    const begun = rendered;
    await waitFor('the rendering', () => rendered > begun);
    const before = await dropped('idle');
    const strangers = await openIdleSockets(server.url, 5 * CONNECTIONS_MAX);
    // A connection stands before the server has taken it.
    await waitFor('all to have been taken', async () => (await dropped('idle')) - before > 4 * CONNECTIONS_MAX);
    rendering = undefined;
    resolve('text');
    assert.equal((await scrape).body, 'text');
    strangers.close();
  });

  it('holds the text of at most sixteen unread scrapes, for a limited time', async () => {
    rendering = Promise.resolve(LARGE);
    const before = await dropped('stalled');
    const strangers: IdleSockets[] = [];
    for (let scrapes = 0; scrapes < SCRAPES_MAX + BEYOND; scrapes += 1) {
      const begun = rendered;
      strangers.push(await openIdleSockets(server.url, 1, () => SCRAPE));
      await waitFor('its rendering', () => rendered > begun);
      await probe();
    }
    assert.equal((await dropped('stalled')) - before, BEYOND);
    await pass(RESPONSE_TIMEOUT_MS);
    await waitFor('the others to be cut', async () => (await dropped('stalled')) - before === SCRAPES_MAX + BEYOND);
    rendering = undefined;
    for (const each of strangers) each.close();
    assert.equal((await rawExchange(server.url, SCRAPE)).status, 200);
  });

  it('refuses further scrapes while sixteen wait for their text', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    rendering = promise;
    const scrapes = Array.from({ length: 20 }, () => rawExchange(server.url, SCRAPE));
    const early = await Promise.race(scrapes);
    assert.equal(early.status, 503);
    assert.equal(early.headers['retry-after'], '1');
    await probe();
    rendering = undefined;
    resolve('text');
    const statuses = (await Promise.all(scrapes)).map(({ status }) => status);
    assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.length], [16, 20]);
  });

  it('renders once for all scrapes in the meantime, and never before a scrape', async () => {
    const before = rendered;
    const { promise, resolve } = Promise.withResolvers<string>();
    rendering = promise;
    let answered = 0;
    const scrapes = Array.from({ length: SCRAPES_MAX + 4 }, async () => {
      const { status } = await rawExchange(server.url, SCRAPE);
      answered += 1;
      return status;
    });
    await waitFor('all others to wait', () => answered === 4);
    await pass(RENDERING_MS);
    rendering = undefined;
    resolve('text');
    await waitFor('the first text to be taken', () => answered > 4);
    // Then it pauses for nine times as long as that took, although scrapes wait.
    await pass(9 * RENDERING_MS - 1);
    assert.equal(rendered - before, 1);
    assert.ok(answered < SCRAPES_MAX + 4);
    await pass(1);
    const statuses = await Promise.all(scrapes);
    assert.equal(statuses.filter((status) => status === 200).length, SCRAPES_MAX);
    assert.equal(rendered - before, 2);
    strange.checks.inc({ outcome: 'denied' }, 4711);
    const { body } = await rawExchange(server.url, SCRAPE);
    assert.equal(countIn(body, 'grantd_checks_total{outcome="denied"}'), 4711);
  });

  it('answers one request per connection, however many come at once', async () => {
    const connection = await RawConnection.open(server.url);
    connection.send(PROBE.repeat(1000));
    assert.equal(parseResponses(await connection.readToEnd()).length, 1);
  });

  it('understands a request that arrives in pieces, and refuses malformed ones', async () => {
    const connection = await RawConnection.open(server.url);
    for (const piece of PROBE) {
      connection.send(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await connection.readUntil('alive');
    for (const [bytes, status] of [
      ['NONSENSE\r\n\r\n', 400],
      ['GET livez HTTP/1.1\r\n\r\n', 400],
      ['GET /livez HTTP/2.0\r\n\r\n', 400],
      ['GET /livez?verbose HTTP/1.0\r\n\r\n', 200],
      [`GET /livez HTTP/1.1\r\nX: ${'x'.repeat(8 * 1024)}\r\n\r\n`, 431],
      [`GET /livez HTTP/1.1\r\nX: ${'x'.repeat(7 * 1024)}\r\n\r\n`, 200],
    ] as const) {
      assert.equal((await rawExchange(server.url, bytes)).status, status, bytes.slice(0, 40));
    }
  });

  it('reads only a little after a request', async () => {
    const connection = await RawConnection.open(server.url);
    connection.send(`POST /livez HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n${'x'.repeat(1024 * 1024)}`);
    await connection.readToEnd();
    await probe();
  });
});

describe('listenOn', () => {
  it('passes on any other error unchanged', async () => {
    const defect = new TypeError('x is not a function');
    await assert.rejects(
      listenOn('GRANTD_OPS_ADDRESS', 'a:1', () => Promise.reject(defect)),
      (error) => error === defect,
    );
  });
});
