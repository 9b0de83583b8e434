// Secrets as `grantd secrets` reads and makes them: what it asks the API server, and what it makes of the answers.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import type { SecretStore } from '../../packages/cli/src/secrets/generated-secrets.ts';
import { openKubernetesSecrets } from '../../packages/cli/src/secrets/kubernetes-secrets.ts';

describe('the Secrets of a namespace in Kubernetes', () => {
  interface Call {
    readonly method: string;
    readonly url: string;
    readonly authorization: string | undefined;
    readonly body: string;
  }
  const textOf = async (request: IncomingMessage): Promise<string> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };

  /** An API server that answers as told, and what it was asked. */
  async function withApi(
    answer: (call: Call) => readonly [number, object],
    work: (store: SecretStore) => Promise<void>,
  ) {
    const calls: Call[] = [];
    const server = createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const call = { method, url, authorization: headers.authorization, body: await textOf(request) };
      calls.push(call);
      const [status, body] = answer(call);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromClusterAndUser(
      { name: 'test', server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, skipTLSVerify: true },
      { name: 'job', token: 'the-token-of-the-job' },
    );
    try {
      await work(await openKubernetesSecrets({ namespace: 'authorization', labels: { a: 'b' }, kubeConfig }));
    } finally {
      server.closeAllConnections();
      server.close();
    }
    return calls;
  }
  const refusal = (code: number, message: string) =>
    [code, { kind: 'Status', status: 'Failure', message, code }] as const;

  it('are read and made with the token of the account', async () => {
    const data = { token: Buffer.from('text').toString('base64') };
    const calls = await withApi(
      ({ method }) => (method === 'GET' ? [200, { kind: 'Secret', data }] : [201, { kind: 'Secret' }]),
      async (store) => {
        assert.deepEqual(await store.read('x'), { token: 'text' });
        assert.equal(await store.create('x', { type: 'Opaque', data: { token: 'text' } }), true);
      },
    );
    assert.deepEqual(
      calls.map(({ method, url, authorization }) => [method, url, authorization]),
      [
        ['GET', '/api/v1/namespaces/authorization/secrets/x', 'Bearer the-token-of-the-job'],
        ['POST', '/api/v1/namespaces/authorization/secrets', 'Bearer the-token-of-the-job'],
      ],
    );
    const { metadata, type, stringData } = JSON.parse(calls[1]?.body ?? '');
    assert.deepEqual(
      [metadata.name, metadata.labels, type, stringData],
      ['x', { a: 'b' }, 'Opaque', { token: 'text' }],
    );
  });

  it('that are not there, or there already, are no failures', async () => {
    await withApi(
      ({ method }) => (method === 'GET' ? refusal(404, 'not found') : refusal(409, 'already exists')),
      async (store) => {
        assert.equal(await store.read('x'), undefined);
        assert.equal(await store.create('x', { type: 'Opaque', data: {} }), false);
      },
    );
  });

  it('are changed with what else they have, and only in the version that was read', async () => {
    const secret = { kind: 'Secret', metadata: { name: 'x', resourceVersion: '7', labels: { team: 'b' } }, type: 't' };
    const data = { 'tls.crt': 'b2xk', other: 'b3RoZXI=' };
    const calls = await withApi(
      ({ method }) => [200, method === 'GET' ? { ...secret, data } : secret],
      (store) => store.replace('x', { 'tls.crt': 'new' }),
    );
    assert.deepEqual(
      calls.map(({ method, url }) => `${method} ${url}`),
      ['GET', 'PUT'].map((method) => `${method} /api/v1/namespaces/authorization/secrets/x`),
    );
    const { metadata, type, data: changed } = JSON.parse(calls[1]?.body ?? '');
    assert.deepEqual([metadata.resourceVersion, metadata.labels, type], ['7', { team: 'b' }, 't']);
    assert.deepEqual(changed, { 'tls.crt': Buffer.from('new').toString('base64'), other: 'b3RoZXI=' });
  });

  it('that somebody else changes meanwhile are not changed', async () => {
    await withApi(
      ({ method }) => (method === 'GET' ? [200, { kind: 'Secret' }] : refusal(409, 'the object has been modified')),
      (store) => assert.rejects(store.replace('x', {}), /x was changed while this command ran/),
    );
  });

  it('that may not be read say what the API server says', async () => {
    await withApi(
      () => refusal(403, 'secrets "x" is forbidden: User "job" cannot get it'),
      async (store) => {
        await assert.rejects(store.read('x'), {
          message:
            'Reading the Secret x in authorization failed: status 403: secrets "x" is forbidden: User "job" cannot get it',
        });
      },
    );
  });
});
