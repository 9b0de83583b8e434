// EndpointSlices of the API become addresses: the first of each endpoint, at the port asked for.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressesOf, parseSliceEvent, parseSliceList } from '../../../../src/discovery/kubernetes/endpoint-slices.ts';

const RPC = { name: 'rpc', port: 8082, protocol: 'TCP' };
const OPS = { name: 'ops', port: 8081, protocol: 'TCP' };
const ONE_ENDPOINT = [{ addresses: ['10.0.0.1'] }];

const sliceOf = (fields: object, name = 'a') => ({ metadata: { name, resourceVersion: '7' }, ...fields });
const addresses = (fields: object, port = 'rpc'): readonly string[] =>
  addressesOf(parseSliceList({ metadata: { resourceVersion: '9' }, items: [sliceOf(fields)] }).slices, port);

describe('the addresses of EndpointSlices', () => {
  it('are at the port of the name asked for', () => {
    assert.deepEqual(addresses({ endpoints: ONE_ENDPOINT, ports: [OPS, RPC] }), ['10.0.0.1:8082']);
    assert.deepEqual(addresses({ endpoints: ONE_ENDPOINT, ports: [OPS, RPC] }, 'ops'), ['10.0.0.1:8081']);
  });

  it('are at the only port where none has that name, and nowhere where there are several', () => {
    assert.deepEqual(addresses({ endpoints: ONE_ENDPOINT, ports: [{ name: '', port: 9 }] }), ['10.0.0.1:9']);
    assert.deepEqual(addresses({ endpoints: ONE_ENDPOINT, ports: [OPS, { name: 'http', port: 80 }] }), []);
    assert.deepEqual(addresses({ endpoints: ONE_ENDPOINT, ports: null }), []);
  });

  it('are at a port asked for by number, whatever the slice names', () => {
    assert.deepEqual(addresses({ endpoints: ONE_ENDPOINT, ports: [OPS, RPC] }, '9000'), ['10.0.0.1:9000']);
    assert.deepEqual(addresses({ endpoints: ONE_ENDPOINT, ports: null }, '9000'), ['10.0.0.1:9000']);
  });

  it('are not at ports of other protocols or without a number', () => {
    assert.deepEqual(addresses({ endpoints: ONE_ENDPOINT, ports: [{ ...RPC, protocol: 'UDP' }] }), []);
    assert.deepEqual(addresses({ endpoints: ONE_ENDPOINT, ports: [{ ...RPC, port: null }] }), []);
  });

  it('are the first of each endpoint, in whatever condition it is, each once', () => {
    const endpoints = [
      { addresses: ['10.0.0.2', '10.0.0.9'], conditions: { ready: false, serving: false, terminating: true } },
      { addresses: ['10.0.0.1'], conditions: { ready: true } },
      { addresses: ['10.0.0.1'] },
      { addresses: ['fd00::1'] },
    ];
    assert.deepEqual(addresses({ endpoints, ports: [RPC] }), ['10.0.0.1:8082', '10.0.0.2:8082', '[fd00::1]:8082']);
  });

  it('are IP addresses only', () => {
    assert.deepEqual(
      addresses({ endpoints: [{ addresses: ['shard.example'] }, { addresses: ['10.0.0.1/evil'] }, {}], ports: [RPC] }),
      [],
    );
  });
});

describe('the events of a watch', () => {
  const event = (type: string) => parseSliceEvent({ type, object: sliceOf({ endpoints: null, ports: [RPC] }) });

  it('are changes, removals and bookmarks, each with the version to go on from', () => {
    assert.equal(event('ADDED').kind, 'changed');
    assert.equal(event('MODIFIED').kind, 'changed');
    assert.equal(event('DELETED').kind, 'removed');
    assert.deepEqual(parseSliceEvent({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '12' } } }), {
      kind: 'bookmark',
      version: '12',
    });
    assert.equal(event('ADDED').version, '7');
  });

  it('are failures where the server says so, or something unknown', () => {
    const failure = (code: number) => () => parseSliceEvent({ type: 'ERROR', object: { code, message: 'm' } });
    assert.throws(failure(410), { kind: 'expired' });
    assert.throws(failure(500), { kind: 'refused', message: 'm' });
    assert.throws(failure(403), { kind: 'forbidden', status: 403 });
    for (const value of [null, 1, [], {}, { type: 'ADDED', object: {} }, { type: 'MORE', object: {} }]) {
      assert.throws(() => parseSliceEvent(value), { kind: 'invalid' });
    }
  });
});
