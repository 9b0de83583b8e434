// Decisions as a collector gets them: over HTTP, in protobuf.

import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { createDecisionExport, EXPORTS_MAX } from '../../../src/telemetry/decision-export.ts';
import { startFlooding } from '../../kit/flooding-server.ts';
import { decision } from './decisions.ts';
import { decoderOf, valuesOf, type WireValue } from './otlp-receiver.ts';

interface WireRequest {
  readonly resourceLogs: readonly {
    readonly resource: { readonly attributes: readonly WireValue[] };
    readonly scopeLogs: readonly {
      readonly scope: { readonly name: string; readonly version: string };
      readonly logRecords: readonly {
        readonly timeUnixNano: string;
        readonly severityNumber: number;
        readonly severityText: string;
        readonly attributes: readonly WireValue[];
        readonly eventName: string;
      }[];
    }[];
  }[];
}

const decode = decoderOf<WireRequest>('otlp.Logs', String);

async function startCollector(t: TestContext, status = 200) {
  const requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    requests.push({ path: request.url ?? '', headers: request.headers, body });
    response.writeHead(status, { 'Content-Type': 'application/x-protobuf' });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sink = createDecisionExport({
    url: `http://127.0.0.1:${port}/v1/logs`,
    headers: { authorization: 'Bearer s3cret' },
    resource: { 'service.name': 'grantd-front', 'service.instance.id': 'front-0' },
    version: '1.2.3',
  });
  t.after(async () => {
    await sink.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { requests, sink };
}

describe('the export of decisions', () => {
  it('sends them as events with their attributes', async (t) => {
    const { requests, sink } = await startCollector(t);
    await sink.deliver([decision(0), decision(1, { authorized: false, object: 'document:ü' })]);
    const [request, ...others] = requests;
    assert.ok(request !== undefined && others.length === 0);
    assert.deepEqual([request.path, request.headers.authorization], ['/v1/logs', 'Bearer s3cret']);
    assert.equal(request.headers['content-type'], 'application/x-protobuf');
    const [logs] = decode(request.body).resourceLogs;
    assert.deepEqual(valuesOf(logs?.resource.attributes ?? []), {
      'service.name': 'grantd-front',
      'service.instance.id': 'front-0',
    });
    const [scope] = logs?.scopeLogs ?? [];
    assert.deepEqual([scope?.scope.name, scope?.scope.version], ['grantd', '1.2.3']);
    const [first, second] = scope?.logRecords ?? [];
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual(
      [first.timeUnixNano, first.severityNumber, first.severityText, first.eventName],
      ['1700000000125000000', 9, 'INFO', 'grantd.decision.v1'],
    );
    const attributes = {
      'grantd.tenant_id': 'ten_01jhm9r0g0e8xsg4k6t2v8w0yc',
      'grantd.key_id': 'key_01jhm9r0g0e8xsg4k6t2v8w0yz',
      'grantd.request_id': 'req_01jhm9r0g0e8xsg4k6t2v8w0yb',
      'grantd.index': '0',
      'grantd.subject': 'user:alice',
      'grantd.relation': 'viewer',
      'grantd.object': 'document:readme',
      'grantd.authorized': true,
      'grantd.checked_at': '2023-11-14T22:13:20.123Z',
    };
    assert.deepEqual(valuesOf(first.attributes), attributes);
    const changed = { 'grantd.index': '1', 'grantd.authorized': false, 'grantd.object': 'document:ü' };
    assert.deepEqual(valuesOf(second.attributes), { ...attributes, ...changed });
  });

  it('rejects if the collector refuses them, or nobody listens, without the headers in its text', async (t) => {
    const { sink } = await startCollector(t, 400);
    const failure = await sink.deliver([decision(0)]).then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(failure instanceof Error);
    assert.ok(!String(failure.stack).includes('s3cret'));
  });

  for (const kind of ['flood', 'trickle'] as const) {
    it(`ends at a collector whose responses do not, by ${kind}, and keeps few of them`, async () => {
      await using collector = await startFlooding();
      collector.kind = kind;
      const options = { url: `${collector.url}/v1/logs`, headers: {}, resource: {}, version: '', exportMsMax: 300 };
      const sink = createDecisionExport(options);
      for (let delivery = 0; delivery < EXPORTS_MAX + 2; delivery += 1) {
        await assert.rejects(sink.deliver([decision(0)]));
        assert.ok(collector.open <= EXPORTS_MAX);
      }
      assert.equal(collector.requests, kind === 'trickle' ? EXPORTS_MAX : EXPORTS_MAX + 2);
      await sink.close();
    });
  }
});
