// `grantd secrets`, the Job of the chart: certificates that TLS and OpenSSL take, made once whatever happens in
// between.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect, createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { createAuthority, issueCertificate } from '../../packages/cli/src/secrets/certificates.ts';
import {
  ensureSecrets,
  type MadeSecretsOptions,
  type SecretData,
  type SecretStore,
} from '../../packages/cli/src/secrets/generated-secrets.ts';
import { proofOf } from '../../src/rpc/transport/peer-certificate.ts';
import { useDirectory } from '../kit/directory.ts';

const SHARDS = 'grantd-shards.authorization.svc';
const CONSOLE = 'grantd-console.authorization.svc';
const OPTIONS: MadeSecretsOptions = {
  name: 'grantd',
  operatorToken: true,
  certificates: { shard: [SHARDS, `*.${SHARDS}`], front: ['grantd.authorization.svc'], console: [CONSOLE] },
  certificateDays: 90,
  renewBeforeDays: 30,
};
const MS_PER_DAY = 86_400_000;
const OPENSSL = 'openssl';
const NOW_MS = Date.now();
const dependencies = { nowMs: NOW_MS, randomBytes };

class MemorySecrets implements SecretStore {
  readonly secrets = new Map<string, SecretData>();
  /** Called before a Secret is made. */
  beforeCreate: (name: string) => void = () => {};

  async read(name: string): Promise<SecretData | undefined> {
    return this.secrets.get(name);
  }

  async create(name: string, { data }: { readonly data: SecretData }): Promise<boolean> {
    this.beforeCreate(name);
    if (this.secrets.has(name)) return false;
    this.secrets.set(name, data);
    return true;
  }

  async replace(name: string, data: SecretData): Promise<void> {
    assert.ok(this.secrets.has(name));
    this.secrets.set(name, data);
  }

  text(name: string, key: string): string {
    return this.secrets.get(name)?.[key] ?? assert.fail(`${name} has no ${key}`);
  }
}

async function makeIn(
  store: SecretStore,
  options: MadeSecretsOptions = OPTIONS,
  nowMs: number = NOW_MS,
): Promise<string> {
  const lines: string[] = [];
  await ensureSecrets({ randomBytes, nowMs, store, print: (line) => lines.push(line) }, options);
  return lines.join('\n');
}

const authority = await createAuthority(dependencies, { name: 'grantd', days: 3650 });
const shard = await issueCertificate(
  dependencies,
  { name: 'grantd', key: authority.key },
  {
    name: 'grantd-shard',
    dnsNames: [SHARDS, `*.${SHARDS}`],
    uses: ['server', 'client'],
    days: 3650,
  },
);

describe('the certificates that are made', () => {
  it('say whom they are for, and who signed them', () => {
    const ca = new X509Certificate(authority.certificate);
    const own = new X509Certificate(shard.certificate);
    assert.equal(ca.ca, true);
    assert.equal(own.ca, false);
    assert.ok(own.checkIssued(ca) && own.verify(ca.publicKey) && ca.verify(ca.publicKey));
    assert.equal(own.subject, 'CN=grantd-shard');
    assert.equal(own.subjectAltName, `DNS:${SHARDS}, DNS:*.${SHARDS}`);
    assert.equal(own.checkHost(SHARDS), SHARDS);
    assert.equal(own.checkHost('grantd.authorization.svc'), undefined);
    assert.ok(Date.parse(own.validFrom) < NOW_MS && Date.parse(own.validTo) > NOW_MS + 3_649 * 86_400_000);
  });

  it('are written with four digits for years from 2050 on', async () => {
    const late = await createAuthority({ ...dependencies, nowMs: Date.UTC(2049, 0) }, { name: 'x', days: 3650 });
    const { validFrom, validTo } = new X509Certificate(late.certificate);
    assert.match(validFrom, / 2048 GMT$/);
    assert.match(validTo, / 2058 GMT$/);
  });

  it('have another serial number each, never a negative one', async () => {
    for (const first of [0x00, 0x7f, 0x80, 0xff]) {
      const bytes = Buffer.alloc(16, 1).fill(first, 0, 1);
      const { certificate } = await createAuthority(
        { nowMs: NOW_MS, randomBytes: () => bytes },
        { name: 'x', days: 1 },
      );
      assert.equal(BigInt(`0x${new X509Certificate(certificate).serialNumber}`), BigInt(`0x${bytes.toString('hex')}`));
    }
  });

  it('pass the strict rules of OpenSSL', (context) => {
    const directory = useDirectory();
    writeFileSync(join(directory, 'ca.crt'), authority.certificate);
    writeFileSync(join(directory, 'tls.crt'), shard.certificate);
    for (const purpose of ['sslserver', 'sslclient']) {
      const args = ['verify', '-x509_strict', '-purpose', purpose, '-CAfile', 'ca.crt', 'tls.crt'];
      const { error, status, stdout, stderr } = spawnSync(OPENSSL, args, { cwd: directory, encoding: 'utf8' });
      if (error !== undefined && process.env.CI === undefined) {
        console.error(`\nNOT TESTED: certificates against OpenSSL, which is not on this machine.\n`);
        context.skip('OpenSSL is not on this machine');
        return;
      }
      assert.equal(status, 0, `${stdout}${stderr}`);
    }
  });
});

describe('the Secrets that are made', () => {
  it('let a front, a console and another shard prove themselves to a shard, and tell them apart', async () => {
    const store = new MemorySecrets();
    await makeIn(store);
    const materialOf = (process: string) => ({
      cert: store.text(`grantd-tls-${process}`, 'tls.crt'),
      key: store.text(`grantd-tls-${process}`, 'tls.key'),
      ca: store.text(`grantd-tls-${process}`, 'ca.crt'),
    });
    const server = createTlsServer({ ...materialOf('shard'), requestCert: true, rejectUnauthorized: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      for (const process of ['front', 'console', 'shard']) {
        const accepted = once(server, 'secureConnection');
        const client = connect({ port, host: '127.0.0.1', servername: SHARDS, ...materialOf(process) });
        const [socket] = (await accepted) as [TLSSocket];
        assert.equal(socket.authorized, true, process);
        const proof = proofOf(socket.getPeerCertificate(), { console: [CONSOLE], shard: [SHARDS] });
        assert.deepEqual(proof, { console: process === 'console', shard: process === 'shard' });
        client.destroy();
        socket.destroy();
      }
    } finally {
      server.close();
    }
  });

  it('hold a token long enough for the console, another one each time', async () => {
    const [first, second] = [new MemorySecrets(), new MemorySecrets()];
    await makeIn(first);
    await makeIn(second);
    assert.match(first.text('grantd-operator', 'token'), /^[\w-]{43}$/);
    assert.notEqual(first.text('grantd-operator', 'token'), second.text('grantd-operator', 'token'));
  });

  it('stay as they are, and nothing secret is printed', async () => {
    const store = new MemorySecrets();
    const printed = await makeIn(store);
    const before = structuredClone(store.secrets);
    assert.match(printed, /^Created grantd-operator\.$/m);
    assert.match(await makeIn(store), /^grantd-tls-console already exists; left unchanged\.$/m);
    assert.deepEqual(store.secrets, before);
    for (const data of before.values()) for (const text of Object.values(data)) assert.ok(!printed.includes(text));
  });

  it('are completed by the same authority after a run that broke off', async () => {
    const whole = [
      'grantd-operator',
      'grantd-tls-authority',
      'grantd-tls-shard',
      'grantd-tls-front',
      'grantd-tls-console',
    ];
    for (const broken of whole) {
      const store = new MemorySecrets();
      store.beforeCreate = (name) => {
        if (name === broken) throw new Error('the process was killed');
      };
      await assert.rejects(makeIn(store), /killed/);
      store.beforeCreate = () => {};
      await makeIn(store);
      assert.deepEqual([...store.secrets.keys()].sort(), [...whole].sort());
      const authority = store.text('grantd-tls-authority', 'tls.crt');
      for (const process of ['shard', 'front', 'console']) {
        assert.equal(store.text(`grantd-tls-${process}`, 'ca.crt'), authority);
        const own = new X509Certificate(store.text(`grantd-tls-${process}`, 'tls.crt'));
        assert.ok(own.verify(new X509Certificate(authority).publicKey));
      }
    }
  });

  it('are of one authority when two run at once', async () => {
    const store = new MemorySecrets();
    const other = new MemorySecrets();
    await makeIn(other);
    store.beforeCreate = (name) => {
      // The other one is a moment faster with the authority.
      if (name === 'grantd-tls-authority') store.secrets.set(name, other.secrets.get(name) ?? {});
    };
    assert.match(await makeIn(store), /^grantd-tls-authority was created by another run at the same time\.$/m);
    assert.equal(store.text('grantd-tls-shard', 'ca.crt'), other.text('grantd-tls-authority', 'tls.crt'));
  });

  const PROCESSES = ['grantd-tls-shard', 'grantd-tls-front', 'grantd-tls-console'];
  const endOf = (store: MemorySecrets, name: string): number =>
    Date.parse(new X509Certificate(store.text(name, 'tls.crt')).validTo);

  it('are renewed by the same authority when they end soon, and not before', async () => {
    const store = new MemorySecrets();
    await makeIn(store);
    const first = structuredClone(store.secrets);
    await makeIn(store, OPTIONS, NOW_MS + 59 * MS_PER_DAY);
    assert.deepEqual(store.secrets, first);
    const laterMs = NOW_MS + 61 * MS_PER_DAY;
    assert.match(
      await makeIn(store, OPTIONS, laterMs),
      /^Renewed grantd-tls-front for \d+ days; it would have expired in 28 days\.$/m,
    );
    const authority = new X509Certificate(store.text('grantd-tls-authority', 'tls.crt'));
    for (const name of PROCESSES) {
      assert.ok(endOf(store, name) >= laterMs + 89 * MS_PER_DAY, name);
      const certificate = new X509Certificate(store.text(name, 'tls.crt'));
      assert.ok(certificate.verify(authority.publicKey), name);
      assert.notEqual(store.text(name, 'tls.key'), first.get(name)?.['tls.key']);
      assert.equal(store.text(name, 'ca.crt'), first.get(name)?.['ca.crt']);
    }
    for (const name of ['grantd-operator', 'grantd-tls-authority']) {
      assert.deepEqual(store.secrets.get(name), first.get(name), name);
    }
  });

  it('stay for ever where nothing is to be renewed', async () => {
    const store = new MemorySecrets();
    await makeIn(store);
    const first = structuredClone(store.secrets);
    await makeIn(store, { ...OPTIONS, renewBeforeDays: 0 }, NOW_MS + 89 * MS_PER_DAY);
    assert.deepEqual(store.secrets, first);
  });

  it('never outlast their authority, whose end is told, and are not renewed for nothing', async () => {
    const store = new MemorySecrets();
    await makeIn(store);
    const lateMs = NOW_MS + 3640 * MS_PER_DAY;
    assert.match(
      await makeIn(store, OPTIONS, lateMs),
      /^The CA in grantd-tls-authority expires in \d+ days\. This command does not renew it\.$/m,
    );
    for (const name of PROCESSES) assert.ok(endOf(store, name) <= endOf(store, 'grantd-tls-authority'), name);
    const renewed = structuredClone(store.secrets);
    await makeIn(store, OPTIONS, lateMs);
    assert.deepEqual(store.secrets, renewed);
  });

  it('of another authority are left alone, however soon they end', async () => {
    const store = new MemorySecrets();
    const other = new MemorySecrets();
    await makeIn(store);
    await makeIn(other);
    const foreign = other.secrets.get('grantd-tls-front') ?? assert.fail();
    store.secrets.set('grantd-tls-front', foreign);
    await makeIn(store, OPTIONS, NOW_MS + 80 * MS_PER_DAY);
    assert.equal(store.secrets.get('grantd-tls-front'), foreign);
  });

  it('are not made from a Secret of that name that is something else', async () => {
    const store = new MemorySecrets();
    store.secrets.set('grantd-tls-authority', { password: 'x' });
    await assert.rejects(makeIn(store), /The Secret grantd-tls-authority has no tls\.crt/);
  });
});
