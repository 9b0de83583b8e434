// What the console answers around its operations: who may call, what is not there, what is not HTTP, and how it ends.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { FailureLimiter } from '../../../../src/front/limits/rate-limiter.ts';
import { systemClock, systemRandom } from '../../../../src/roles/process/system.ts';
import { ERRORS_BASE, OPERATOR_TOKEN, startConsole, useConsole } from '../../../kit/console-service.ts';

let blocked: number | undefined;
const failures: string[] = [];
const failureLimiter: FailureLimiter = {
  refusal: () =>
    blocked === undefined
      ? undefined
      : { of: 'address' as const, allowed: false, limit: 60, remaining: 0, resetSeconds: blocked },
  record: (address) => {
    failures.push(address);
  },
};
const service = await useConsole({ failureLimiter });
const authorization = { Authorization: `Bearer ${OPERATOR_TOKEN}` };

async function assertProblem(response: Response, status: number, code: string): Promise<Record<string, unknown>> {
  const text = await response.text();
  assert.equal(response.status, status, text);
  assert.equal(response.headers.get('content-type'), 'application/problem+json');
  const problem = JSON.parse(text);
  assert.equal(problem.type, `${ERRORS_BASE}/${code}`);
  assert.equal(problem.instance, response.headers.get('x-service-request-id'));
  return problem;
}

/** Writes bytes and reads until the other side ends. */
function exchange(text: string): Promise<string> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

describe('authentication', () => {
  test('a header that leaves open who asks, or where the request ends, is 400 and ends the connection', async () => {
    const line = `Authorization: Bearer ${OPERATOR_TOKEN}\r\n`;
    for (const extra of [line, 'Host: y\r\n', 'Transfer-Encoding: identity, chunked\r\n']) {
      for (const path of ['/operator/v1/plans', '/console/']) {
        const answer = await exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\n${line}${extra}\r\n0\r\n\r\n`);
        assert.match(answer, /^HTTP\/1\.1 400 .*\r\nConnection: close\r\n.*\/invalid-request"/is, extra);
      }
    }
  });

  test('a missing, malformed or unknown token is 401, and an unknown one is counted by address', async () => {
    failures.length = 0;
    const attempts = [
      {},
      { Authorization: 'Bearer ' },
      { Authorization: `Basic ${OPERATOR_TOKEN}` },
      { Authorization: `Bearer ${OPERATOR_TOKEN} ${OPERATOR_TOKEN}` },
      { Authorization: `Bearer ${OPERATOR_TOKEN}x` },
    ];
    for (const headers of attempts) {
      const response = await fetch(`${service.url}/operator/v1/plans`, { headers });
      assert.equal(response.headers.get('www-authenticate'), 'Bearer');
      await assertProblem(response, 401, 'unauthorized');
    }
    assert.deepEqual(failures, ['127.0.0.1']);
    assert.match(await service.metrics.registry.metrics(), /grantd_authentication_failures_total [1-9]/);
  });

  test('401 comes before 404 and 405', async () => {
    await assertProblem(await fetch(`${service.url}/operator/v1/nothing`), 401, 'unauthorized');
    await assertProblem(await fetch(`${service.url}/operator/v1/plans`, { method: 'PUT' }), 401, 'unauthorized');
  });

  test('an address that failed too often gets a 429; a good token from there still works', async () => {
    blocked = 17;
    try {
      const wrong = { Authorization: `Bearer ${OPERATOR_TOKEN}x` };
      const response = await fetch(`${service.url}/operator/v1/plans`, { headers: wrong });
      assert.equal(response.headers.get('retry-after'), '17');
      await assertProblem(response, 429, 'rate-limited');
      await assertProblem(await fetch(`${service.url}/operator/v1/plans`), 401, 'unauthorized');
      assert.equal((await fetch(`${service.url}/operator/v1/plans`, { headers: authorization })).status, 200);
    } finally {
      blocked = undefined;
    }
  });

  test('the operator of a change is the name of the token', async () => {
    const response = await fetch(`${service.url}/operator/v1/tenants`, {
      method: 'POST',
      headers: {
        Authorization: 'bearer another-operator-token-of-32-characters',
        'Content-Type': 'application/json; charset=UTF-8',
      },
      body: '{"name":"a"}',
    });
    assert.equal(response.status, 201);
    assert.equal(service.operator.calls.at(-1)?.operator, 'bob');
  });
});

describe('paths and methods', () => {
  test('what is not there is 404, strictly', async () => {
    for (const path of ['/operator/v1/', '/operator/v1/plans/', '/operator/v1/Plans', '/operator/v1/tenants/']) {
      await assertProblem(await fetch(`${service.url}${path}`, { headers: authorization }), 404, 'not-found');
    }
    for (const path of ['/v1/check', '/operator/v2/plans', '/%ff']) {
      await assertProblem(await fetch(`${service.url}${path}`), 404, 'not-found');
    }
  });

  test('HEAD answers as GET does, without a body', async () => {
    const response = await fetch(`${service.url}/operator/v1/plans`, { method: 'HEAD', headers: authorization });
    assert.equal(response.status, 200);
    assert.notEqual(response.headers.get('content-length'), '0');
    assert.equal(await response.text(), '');
  });
});

describe('X-Request-ID', () => {
  const send = (path: string, id: string, headers: Record<string, string> = authorization) =>
    fetch(`${service.url}${path}`, { headers: { ...headers, 'X-Request-ID': id } });

  test('comes back with responses, refusals and what is not there', async () => {
    for (const path of ['/operator/v1/plans', '/operator/v1/tenants/nobody', '/operator/v1/nothing', '/nothing']) {
      assert.equal((await send(path, 'my-id-1')).headers.get('x-request-id'), 'my-id-1');
    }
    assert.equal((await send('/operator/v1/plans', 'my-id-2', {})).headers.get('x-request-id'), 'my-id-2');
    assert.equal(
      (await fetch(`${service.url}/operator/v1/plans`, { headers: authorization })).headers.get('x-request-id'),
      null,
    );
  });

  test('does not come back if it is long or has blanks', async () => {
    for (const id of ['x'.repeat(129), 'a b', 'é']) {
      const response = await send('/operator/v1/plans', id);
      assert.deepEqual([response.status, response.headers.get('x-request-id')], [200, null]);
    }
  });
});

describe('errors', () => {
  test('an unexpected error says nothing of its cause', async () => {
    service.operator.faults.push(new Error('a secret of the inside'));
    const response = await fetch(`${service.url}/operator/v1/slots`, { headers: authorization });
    const problem = await assertProblem(response, 500, 'internal');
    assert.doesNotMatch(JSON.stringify(problem), /secret/);
  });

  test('a refusal for want of capacity says when to come back', async () => {
    service.operator.faults.push(new GrantdError('overloaded', 'Too much.', { details: { retryAfterSeconds: 2.5 } }));
    const response = await fetch(`${service.url}/operator/v1/slots`, { headers: authorization });
    assert.equal(response.headers.get('retry-after'), '3');
    await assertProblem(response, 503, 'overloaded');
  });

  test('what is not HTTP is answered with a problem too', async () => {
    const cases = [
      ['NONSENSE\r\n\r\n', 400, 'invalid-request'],
      [`GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 431, 'header-fields-too-large'],
    ] as const;
    for (const [text, status, code] of cases) {
      const answer = await exchange(text);
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(answer, /X-Service-Request-Id: req_/);
      assert.equal(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).type, `${ERRORS_BASE}/${code}`);
    }
  });

  test('no Host header is no obstacle, and an expectation other than 100-continue is refused', async () => {
    const head = `Authorization: Bearer ${OPERATOR_TOKEN}\r\nConnection: close\r\n`;
    assert.match(await exchange(`GET /operator/v1/plans HTTP/1.1\r\n${head}\r\n`), /^HTTP\/1\.1 200 /);
    const expecting = `GET /operator/v1/plans HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n${head}\r\n`;
    assert.match(await exchange(expecting), /^HTTP\/1\.1 400 /);
  });
});

test('requests are measured by operation and status', async () => {
  await (await fetch(`${service.url}/operator/v1/plans`, { headers: authorization })).text();
  const metrics = await service.metrics.registry.metrics();
  assert.match(metrics, /grantd_http_request_seconds_count\{operation="operator-list-plans",status="200"\} [1-9]/);
});

test('closing waits for nothing that is idle', async () => {
  const other = await startConsole({ clock: systemClock, random: systemRandom });
  await (await fetch(`${other.url}/operator/v1/plans`, { headers: authorization })).text();
  await other.close();
  await assert.rejects(fetch(`${other.url}/operator/v1/plans`, { headers: authorization }));
});

test('an address that is taken is refused at the start', async () => {
  const address = new URL(service.url).host;
  await assert.rejects(startConsole({ clock: systemClock, random: systemRandom, address }), { code: 'EADDRINUSE' });
});
