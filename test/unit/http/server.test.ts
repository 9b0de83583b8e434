// The server as a whole: how many connections it takes, and how it ends.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertRawProblem, parseResponses, RawConnection } from '../../kit/http-raw.ts';
import { startHttp } from './http-in-process.ts';

const BODY = '{"subject":"user:a","relation":"viewer","object":"doc:1"}';

describe('too many connections', () => {
  it('refuses those above the bound with a 503 and closes those far above it', async () => {
    const http = await startHttp({ connectionsMax: 2, refusedConnectionsMax: 1 });
    const request = 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n';
    const served = [await RawConnection.open(http.url), await RawConnection.open(http.url)];
    for (const connection of served) {
      connection.send(request);
      assert.equal((await connection.readResponses(1))[0]?.status, 404);
    }
    const surplus = await RawConnection.open(http.url);
    const dropped = await RawConnection.open(http.url);
    assert.equal(await dropped.readToEnd(), '');
    surplus.send(request);
    const [refused] = parseResponses(await surplus.readToEnd());
    assert.ok(refused !== undefined);
    assertRawProblem(refused, 503, 'overloaded', `${http.url}/errors`);
    assert.equal(refused.headers.connection, 'close');
    assert.match(String(refused.headers['retry-after']), /^[1-9]/);

    served[0]?.send(request);
    assert.equal((await served[0]?.readResponses(2))?.[1]?.status, 404);
    served[0]?.destroy();
    await http.close();
  });
});

describe('closing', () => {
  it('finishes what is in flight, says so, and takes nothing new', async () => {
    const http = await startHttp();
    const { key } = await http.front.createTenant('unlimited');
    const idle = await RawConnection.open(http.url);
    const busy = await RawConnection.open(http.url);
    let open = (): void => {};
    http.front.gate = new Promise((resolve) => {
      open = resolve;
    });
    busy.send(
      `POST /v1/check HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
    );
    while (http.front.lookups === 0) await new Promise((resolve) => setImmediate(resolve));
    const closed = http.close();
    await idle.readToEnd();
    await assert.rejects(RawConnection.open(http.url), { code: 'ECONNREFUSED' });
    open();
    const [response] = parseResponses(await busy.readToEnd());
    assert.equal(response?.status, 200);
    assert.equal(response?.headers.connection, 'close');
    await closed;
  });

  it('cuts what does not end within its bound', async () => {
    const http = await startHttp({ closeTimeoutMs: 100 });
    const { key } = await http.front.createTenant('unlimited');
    http.front.gate = new Promise(() => {});
    const stuck = await RawConnection.open(http.url);
    stuck.send(`GET /v1/namespaces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    while (http.front.lookups === 0) await new Promise((resolve) => setImmediate(resolve));
    await http.close();
    assert.equal(await stuck.readToEnd(), '');
  });
});
