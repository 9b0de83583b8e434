// Mutual TLS between fronts and shards, with real certificates over loopback.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock, systemRandom } from '../../../../src/roles/process/system.ts';
import { Peer, type ReceivedShardMessage } from '../../../../src/rpc/messages.ts';
import { listenShardServer } from '../../../../src/rpc/serving/server.ts';
import { createGrpcTransport } from '../../../../src/rpc/transport/grpc-transport.ts';
import { type PeerNames, proofOf } from '../../../../src/rpc/transport/peer-certificate.ts';
import { dialShard } from '../../../../src/rpc/transport/shard-dialer.ts';
import { createRpcTls, type RpcTls, type RpcTlsOptions } from '../../../../src/rpc/transport/tls.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { createAuthority, type Leaf } from '../../../kit/certificates.ts';
import { useDirectory } from '../../../kit/directory.ts';
import { ShardWorld } from '../../../kit/scripted-shard.ts';
import { shellBlocks } from '../../../kit/shell-blocks.ts';
import { createRecordingLog } from '../../../kit/store/store-directory.ts';
import { createTestCluster } from '../../../kit/test-cluster.ts';
import { waitFor } from '../../../kit/wait-for.ts';
import { silentLog } from '../harness.ts';

const run = promisify(execFile);
const SERVICE = 'grantd-shard.default.svc';
const RELOAD_MS = 20;
const world = await ShardWorld.start();
after(() => world.stop());

function openTls(t: TestContext, files: Leaf, options: RpcTlsOptions = {}, log = silentLog): RpcTls {
  const tls = createRpcTls(files, { log }, { reloadMs: RELOAD_MS, ...options });
  t.after(() => tls.close());
  return tls;
}

async function listen(t: TestContext, tls: RpcTls, peerNames?: PeerNames) {
  const server = await listenShardServer(
    { shard: () => world.node, clock: systemClock, log: silentLog, metrics: createMetrics() },
    { address: '127.0.0.1:0', credentials: tls.serverCredentials(), peerNames },
  );
  t.after(() => server.close());
  return server.address;
}

/** Dials once. Rejects with the reason of the first loss. */
async function connect(t: TestContext, address: string, tls: RpcTls | undefined, peer: number = Peer.PEER_FRONT) {
  const messages: ReceivedShardMessage[] = [];
  const opened = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<string>();
  const answers = new Map<number, (message: ReceivedShardMessage['replies'][number]) => void>();
  const dial = dialShard(
    address,
    {
      onReady: () => opened.resolve(),
      onMessage: (message) => {
        messages.push(message);
        for (const reply of message.replies) answers.get(reply.id)?.(reply);
      },
      onDrain: () => {},
      onClosed: (reason) => {
        lost.resolve(reason);
        opened.reject(new Error(reason));
      },
    },
    {
      clock: systemClock,
      random: systemRandom,
      cluster: createTestCluster(),
      hello: () => ({ name: 'test', peer }),
      openStream: createGrpcTransport({ credentials: tls?.channelCredentials }),
    },
  );
  t.after(() => dial.close());
  await opened.promise;
  let lastId = 0;
  return {
    lost: lost.promise,
    close: () => dial.close(),
    ask: (body: object) =>
      new Promise<ReceivedShardMessage['replies'][number]>((resolve) => {
        lastId += 1;
        answers.set(lastId, resolve);
        dial.send({ calls: [{ id: lastId, ...body }] });
      }),
  };
}

test('both ends have to prove themselves; the name is that of the Service', async (t) => {
  const [authority, stranger] = await Promise.all([createAuthority(), createAuthority()]);
  const [shardLeaf, frontLeaf, strangeLeaf] = await Promise.all([
    authority.issue('shard', [`DNS:${SERVICE}`]),
    authority.issue('front', ['DNS:grantd-front']),
    stranger.issue('front', ['DNS:grantd-front']),
  ]);
  const address = await listen(t, openTls(t, shardLeaf));
  const front = await connect(t, address, openTls(t, frontLeaf, { serverNames: [SERVICE] }));
  assert.ok((await front.ask({ readTenant: { tenantId: 'x' } })).failure);

  // A certificate of another authority, none at all, and no TLS at all.
  const foreign = { ...strangeLeaf, ca: authority.ca };
  await assert.rejects(connect(t, address, openTls(t, foreign, { serverNames: [SERVICE] })));
  // What is said of it is the same each time, so that a log can name it once.
  await assert.rejects(connect(t, address, undefined), /No connection established\. Last error: Failed to connect$/);
  // The client refuses a shard of another authority, of another name, and one named by an address that it is not for.
  const suspicious = { ...frontLeaf, ca: stranger.ca };
  await assert.rejects(connect(t, address, openTls(t, suspicious, { serverNames: [SERVICE] })));
  await assert.rejects(connect(t, address, openTls(t, frontLeaf, { serverNames: ['another.svc'] })), /another\.svc/);
  await assert.rejects(connect(t, address, openTls(t, frontLeaf)), /127\.0\.0\.1/);
  // One of several names suffices; where no name is known, no shard is.
  (await connect(t, address, openTls(t, frontLeaf, { serverNames: ['another.svc', SERVICE] }))).close();
  await assert.rejects(connect(t, address, openTls(t, frontLeaf, { serverNames: [] })), /No name of a shard is known/);
});

test('without a name of the Service the certificate is for the dialled address', async (t) => {
  const authority = await createAuthority();
  const leaf = await authority.issue('all', ['IP:127.0.0.1']);
  const tls = openTls(t, leaf);
  const front = await connect(t, await listen(t, tls), tls);
  assert.ok((await front.ask({ readTenant: { tenantId: 'x' } })).failure);
});

test('a shard is known by a name in its subjectAltName, whole or by one wildcard label, and never by its common name', async (t) => {
  const authority = await createAuthority();
  const front = openTls(t, await authority.issue('front', ['DNS:grantd-front']), { serverNames: [SERVICE] });
  const dial = async (commonName: string, names: readonly string[]) =>
    connect(t, await listen(t, openTls(t, await authority.issue(commonName, names))), front);
  for (const name of [SERVICE.toUpperCase(), '*.default.svc']) (await dial('shard', [`DNS:${name}`])).close();
  for (const [commonName, names] of [
    [SERVICE, []],
    [SERVICE, ['IP:127.0.0.1']],
    [SERVICE, ['DNS:another.svc']],
    ['shard', [`DNS:${SERVICE}.example`, `DNS:x.${SERVICE}`, `DNS:*.${SERVICE}`, 'DNS:*.svc', 'DNS:*']],
  ] as const) {
    await assert.rejects(
      dial(commonName, names),
      /grantd-shard\.default\.svc|does not contain a DNS name/,
      names.join(),
    );
  }
});

test("only a console's certificate may make the operator's calls", async (t) => {
  const authority = await createAuthority();
  const shardLeaf = await authority.issue('shard', [`DNS:${SERVICE}`]);
  const address = await listen(t, openTls(t, shardLeaf));
  const ask = async (leaf: Leaf, peer: number, at = address) => {
    const connection = await connect(t, at, openTls(t, leaf, { serverNames: [SERVICE] }), peer);
    return connection.ask({ listMembers: {} });
  };
  const frontLeaf = await authority.issue('front', ['DNS:grantd-front.svc']);
  const consoleLeaf = await authority.issue('console', ['DNS:other', 'DNS:grantd-console']);
  assert.equal((await ask(frontLeaf, Peer.PEER_CONSOLE)).failure?.code, 'insufficient-scope');
  assert.equal((await ask(consoleLeaf, Peer.PEER_FRONT)).failure?.code, 'insufficient-scope');
  assert.ok((await ask(consoleLeaf, Peer.PEER_CONSOLE)).members);
  for (const [name, names] of [
    ['grantd-console', []],
    ['grantd-console', ['DNS:grantd-front.svc']],
    ['x', ['DNS:grantd-console.default.svc', 'DNS:grantd-console-0', 'DNS:*.grantd-console', 'DNS:*']],
  ] as const) {
    const leaf = await authority.issue(name, [...names]);
    assert.equal((await ask(leaf, Peer.PEER_CONSOLE)).failure?.code, 'insufficient-scope', names.join());
  }

  const named = await listen(t, openTls(t, shardLeaf), { console: ['ops'], shard: [] });
  assert.equal((await ask(consoleLeaf, Peer.PEER_CONSOLE, named)).failure?.code, 'insufficient-scope');
  assert.ok((await ask(await authority.issue('x', ['DNS:ops']), Peer.PEER_CONSOLE, named)).members);
});

test('only the certificate of a shard may follow a tenant, and only of a peer that says it is a shard', async (t) => {
  const authority = await createAuthority();
  const shardLeaf = await authority.issue('shard', [`DNS:${SERVICE}`]);
  const address = await listen(t, openTls(t, shardLeaf), { console: ['grantd-console'], shard: [SERVICE, 'other'] });
  const code = async (leaf: Leaf, peer: number) => {
    const connection = await connect(t, address, openTls(t, leaf, { serverNames: [SERVICE] }), peer);
    return (await connection.ask({ followTenant: { tenantId: 'x' } })).failure?.code;
  };
  const console = await authority.issue('console', ['DNS:grantd-console']);
  for (const leaf of [console, await authority.issue(SERVICE, [`DNS:x.${SERVICE}`])]) {
    for (const peer of [Peer.PEER_FRONT, Peer.PEER_CONSOLE, Peer.PEER_SHARD]) {
      assert.equal(await code(leaf, peer), 'insufficient-scope');
    }
  }
  for (const leaf of [shardLeaf, await authority.issue('x', ['DNS:y', 'DNS:OTHER'])]) {
    assert.notEqual(await code(leaf, Peer.PEER_SHARD), 'insufficient-scope');
    assert.equal(await code(leaf, Peer.PEER_FRONT), 'insufficient-scope');
    assert.equal(await code(leaf, Peer.PEER_CONSOLE), 'insufficient-scope');
  }
});

test('a name counts as a console’s only where it is one', () => {
  const of = (subjectaltname: string | undefined, CN = '') =>
    // Only this part of what TLS gives is looked at.
    proofOf({ subject: { CN }, subjectaltname } as never).console;
  assert.equal(of('DNS:grantd-console'), true);
  assert.equal(of('DNS:a, DNS:Grantd-Console'), true, 'DNS names have no case');
  assert.equal(of('DNS:grantd-console-0'), false);
  assert.equal(of('DNS:grantd-console.svc'), false);
  assert.equal(of('DNS:*.svc, DNS:*'), false);
  assert.equal(of('DNS:grantd-console.'), false);
  assert.equal(of(undefined, 'grantd-console'), false, 'a common name proves nothing');
  assert.equal(of('DNS:front', 'grantd-console'), false);
  assert.equal(of('DNS:grantd-consoles'), false);
  assert.equal(of('DNS:not.grantd-console'), false);
  assert.equal(of('DNS:"a, DNS:grantd-console.x"'), false);
  assert.equal(of('URI:grantd-console, IP Address:127.0.0.1', 'front'), false);
  assert.deepEqual(proofOf(undefined), { console: false, shard: false });
  const shard = proofOf({ subject: { CN: 'grantd-console' }, subjectaltname: 'DNS:grantd-shard' } as never);
  assert.deepEqual(shard, { console: false, shard: true });
});

test('the certificates of the guide tell the three kinds of processes apart', async (t) => {
  const directory = useDirectory();
  const block = shellBlocks('docs/operating/cluster.md').find((each) => each.includes('openssl')) ?? assert.fail();
  await run('bash', ['-euc', block], { cwd: directory });
  const leafOf = (name: string): Leaf => ({
    cert: join(directory, `${name}.crt`),
    key: join(directory, `${name}.key`),
    ca: join(directory, 'ca.crt'),
  });
  const address = await listen(t, openTls(t, leafOf('shard')));
  for (const name of ['front', 'shard', 'console']) {
    const tls = openTls(t, leafOf(name), { serverNames: ['grantd-shard'] });
    const { failure, members } = await (await connect(t, address, tls, Peer.PEER_CONSOLE)).ask({ listMembers: {} });
    assert.equal(failure?.code, name === 'console' ? undefined : 'insufficient-scope', name);
    assert.equal(members !== null && members !== undefined, name === 'console', name);
    const follower = await connect(t, address, tls, Peer.PEER_SHARD);
    const refusal = (await follower.ask({ followTenant: { tenantId: 'x' } })).failure?.code;
    assert.equal(refusal === 'insufficient-scope', name !== 'shard', name);
  }
  // A front cannot stand for a shard.
  const impostor = await listen(t, openTls(t, leafOf('front')));
  await assert.rejects(connect(t, impostor, openTls(t, leafOf('console'), { serverNames: ['grantd-shard'] })));
});

test('changed files hold for new connections, and existing ones go on', async (t) => {
  const [first, second] = await Promise.all([createAuthority(), createAuthority()]);
  const names = [`DNS:${SERVICE}`];
  const [oldLeaf, newLeaf] = await Promise.all([first.issue('old', names), second.issue('new', names)]);

  // As a secret is mounted: the files are links through a link to a directory, which is swapped.
  const directory = useDirectory();
  const install = async (version: string, leaf: Leaf): Promise<void> => {
    await mkdir(join(directory, version));
    for (const part of ['cert', 'key', 'ca'] as const) await writeFile(join(directory, version, part), leaf[part]);
    await symlink(version, join(directory, 'next'));
    await rename(join(directory, 'next'), join(directory, 'data'));
  };
  await install('v1', oldLeaf);
  for (const part of ['cert', 'key', 'ca']) await symlink(join('data', part), join(directory, part));
  const files = { cert: join(directory, 'cert'), key: join(directory, 'key'), ca: join(directory, 'ca') };

  const log = createRecordingLog();
  const serverTls = openTls(t, files, {}, log);
  const address = await listen(t, serverTls);
  const clientTls = openTls(t, files, { serverNames: [SERVICE] });
  const standing = await connect(t, address, clientTls);

  // Half-written, then ill-matched: the old set stays in use, and it is said once each.
  const warnings = () => log.lines.filter((line) => line.startsWith('warn')).length;
  await install('v2', { ...newLeaf, ca: newLeaf.ca.slice(0, -30) });
  await waitFor('the first warning', () => warnings() === 1);
  await install('v3', { ...newLeaf, key: oldLeaf.key });
  await waitFor('the second warning', () => warnings() === 2);
  (await connect(t, address, clientTls)).close();

  await install('v4', newLeaf);
  await waitFor('the server to take the new files', async () => {
    // Fixed to the new set: it connects only once the server has taken the new files too.
    const probe = await connect(t, address, openTls(t, newLeaf, { serverNames: [SERVICE] })).catch(() => undefined);
    probe?.close();
    return probe !== undefined;
  });
  await assert.rejects(connect(t, address, openTls(t, oldLeaf, { serverNames: [SERVICE] })));
  await waitFor('the client to take the new files', async () => {
    const probe = await connect(t, address, clientTls).catch(() => undefined);
    probe?.close();
    return probe !== undefined;
  });
  assert.ok((await standing.ask({ readTenant: { tenantId: 'x' } })).failure);
  assert.equal(warnings(), 2, 'each failure is said once, however often the files are read');
});

test('files that cannot be used at the start stop it', async (t) => {
  const authority = await createAuthority();
  const [leaf, other] = await Promise.all([authority.issue('a', []), authority.issue('b', [])]);
  assert.throws(() => openTls(t, { ...leaf, key: other.key }));
  assert.throws(() => openTls(t, { ...leaf, cert: '/nowhere/at/all' }), /ENOENT/);
  assert.throws(() => openTls(t, { ...leaf, ca: '-----BEGIN CERTIFICATE-----\nx' }), /authorities/);
});
