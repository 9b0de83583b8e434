// The image, built and run for real: what it holds, how soon it serves, how it ends, and that it needs no privilege.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { readDevFacts } from '../kit/dev-process.ts';
import { Container, type ContainerOptions } from './support/container.ts';
import { buildImage, buildImageAt, missingImageTools, type UnpackedImage } from './support/unpacked-image.ts';

const run = promisify(execFile);
const readPackage = (folder: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', folder, 'package.json'), 'utf8'));
const packageFile = readPackage('');
const dependencies = ['', 'packages/console', 'packages/convert', 'packages/sync'].flatMap((folder) =>
  Object.keys(readPackage(folder).dependencies ?? {}),
);
const SIZE_BYTES_MAX = 350_000_000;
const READY_MS_MAX = 2000;
const STOP_MS_MAX = 5000;
/** The machine may be busy with other things: what the image can do shows in the best of some starts. */
const STARTS_MAX = 5;
const REVISION = 'revision-of-the-test';
const ANY_PORTS = {
  GRANTD_HTTP_ADDRESS: '127.0.0.1:0',
  GRANTD_OPS_ADDRESS: '127.0.0.1:0',
  GRANTD_CONSOLE_ADDRESS: '127.0.0.1:0',
};
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };

/** What a command prints, line by line. */
async function readLines(command: string, ...args: readonly string[]): Promise<string[]> {
  const { stdout } = await run(command, args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout.split('\n').filter((line) => line !== '');
}

async function readSize(path: string): Promise<number> {
  const [line = ''] = await readLines('du', '--summarize', '--bytes', path);
  return Number.parseInt(line, 10);
}

const missing = await missingImageTools('the container image');

describe('the image', { skip: missing ?? false }, () => {
  let image: UnpackedImage;
  before(async () => {
    image = await buildImage({ version: packageFile.version, revision: REVISION });
  });
  after(() => image?.remove());

  /** Runs a container to its end. */
  async function runOnce(options: ContainerOptions) {
    const container = new Container(image, options);
    try {
      return await container.process.ended;
    } finally {
      await container.remove();
    }
  }

  /** Runs `grantd dev` until it is told to end. */
  async function serve(options: ContainerOptions, use: (container: Container) => Promise<void>): Promise<void> {
    const container = new Container(image, { args: ['dev'], environment: ANY_PORTS, ...options });
    try {
      await container.process.ready();
      await use(container);
    } finally {
      await container.remove();
    }
  }

  it(`is below ${SIZE_BYTES_MAX / 1e6} MB, its base included`, async (context) => {
    const totalBytes = await readSize(image.rootDirectory);
    const ownBytes = await readSize(join(image.rootDirectory, 'opt', 'grantd'));
    context.diagnostic(`${Math.round(totalBytes / 1e6)} MB, of which ours are ${Math.round(ownBytes / 1e6)} MB`);
    assert.ok(ownBytes > 1e6 && totalBytes > ownBytes);
    assert.ok(totalBytes < SIZE_BYTES_MAX, `${totalBytes} bytes`);
  });

  it('holds the program, what it needs to run, and nothing else', () => {
    const directory = join(image.rootDirectory, 'opt', 'grantd');
    assert.deepEqual(readdirSync(directory).sort(), [
      'LICENSE',
      'THIRD-PARTY-LICENSES.txt',
      'dist',
      'node_modules',
      'package.json',
      'packages',
      'proto',
      'sbom.spdx.json',
      'src',
    ]);
  });

  it('says which packages are inside', () => {
    const directory = join(image.rootDirectory, 'opt', 'grantd');
    const { packages }: { packages: { name: string; versionInfo: string }[] } = JSON.parse(
      readFileSync(join(directory, 'sbom.spdx.json'), 'utf8'),
    );
    const listed = new Set(packages.map(({ name, versionInfo }) => `${name}@${versionInfo}`));
    assert.ok(listed.has(`${packageFile.name}@${packageFile.version}`));
    const licenses = readFileSync(join(directory, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    const inside = [...licenses.matchAll(/(?:^|-{80}\n\n)(\S+) (\S+) \(/g)].map(
      ([, name, version]) => `${name}@${version}`,
    );
    assert.ok(inside.length > 50);
    assert.deepEqual(
      inside.filter((each) => !listed.has(each)),
      [],
    );
    const names = new Set(packages.map(({ name }) => name));
    for (const name of dependencies) assert.ok(names.has(name), name);
    const forDevelopment = Object.keys(packageFile.devDependencies).filter((name) => !dependencies.includes(name));
    for (const name of forDevelopment) assert.ok(name.startsWith('@types/') || !names.has(name), name);
  });

  it('is the same to the last bit when it is built again with the same time', async () => {
    const epochSeconds = 1_700_000_000;
    const id = await buildImageAt(epochSeconds);
    assert.match(id, /^[0-9a-f]{64}$/);
    assert.equal(await buildImageAt(epochSeconds), id);
  });

  it('can be read by every user and changed by none but root', () => {
    const files = readdirSync(join(image.rootDirectory, 'opt', 'grantd'), { recursive: true, withFileTypes: true });
    const wrong = files
      .filter((entry) => !entry.isSymbolicLink())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => {
        const { uid, mode } = statSync(path);
        return uid !== 0 || (mode & 0o044) !== 0o044 || (mode & 0o022) !== 0;
      });
    assert.deepEqual(wrong, []);
  });

  it('is no root, starts Node without a shell, and says what it is', () => {
    const { User, Entrypoint, ExposedPorts, Labels, Env } = image.config;
    assert.match(User, /^[1-9]\d*:[1-9]\d*$/);
    assert.deepEqual(Entrypoint, ['node', '/opt/grantd/dist/grantd.js']);
    assert.deepEqual(Object.keys(ExposedPorts).sort(), ['8080/tcp', '8081/tcp', '8082/tcp', '8090/tcp']);
    assert.ok(Env.includes('NODE_ENV=production'));
    assert.equal(Labels['org.opencontainers.image.version'], packageFile.version);
    assert.equal(Labels['org.opencontainers.image.revision'], REVISION);
    assert.equal(Labels['org.opencontainers.image.licenses'], packageFile.license);
  });

  it('tells its version, and its commands where it is given none', async () => {
    const version = await runOnce({ args: ['--version'] });
    assert.deepEqual([version.code, version.stdout, version.stderr], [0, `${packageFile.version}\n`, '']);
    const help = await runOnce({});
    assert.equal(help.code, 0);
    assert.match(help.stdout, /^Usage: grantd /);
  });

  it('has a `grantd` among its commands', async () => {
    const ended = await runOnce({ entrypoint: ['grantd', '--version'] });
    assert.deepEqual([ended.code, ended.stdout], [0, `${packageFile.version}\n`]);
  });

  it('takes its settings from the environment, and refuses wrong ones in words', async () => {
    const ended = await runOnce({ args: ['front'], environment: { GRANTD_HTTP_ADDRESS: 'nowhere' } });
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /GRANTD_HTTP_ADDRESS/);
    assert.match(ended.stderr, /GRANTD_DISCOVERY/);
  });

  it(`serves in less than ${READY_MS_MAX / 1000} s, on a read-only filesystem and without a privilege`, async (context) => {
    const startsMs: number[] = [];
    while (startsMs.length < STARTS_MAX && !startsMs.some((startMs) => startMs < READY_MS_MAX)) {
      const beginMs = performance.now();
      await serve({}, async (container) => {
        const { ops_url: opsUrl } = readDevFacts(container.dataDirectory);
        assert.equal((await fetch(`${opsUrl}/readyz`)).status, 200);
        const tookMs = performance.now() - beginMs;
        const waitedMs = await container.readWaitingMs();
        context.diagnostic(`ready after ${Math.round(tookMs)} ms, ${Math.round(waitedMs)} of them without a processor`);
        startsMs.push(tookMs - waitedMs);
        const status = await container.readStatus();
        assert.equal(status.get('Uid')?.split('\t')[0], image.config.User.split(':')[0]);
        for (const set of ['CapEff', 'CapPrm', 'CapBnd']) assert.match(status.get(set) ?? '', /^0+$/, set);
        assert.equal(status.get('NoNewPrivs'), '1');
        await assert.rejects(container.execute(['touch', '/tmp/x']), /Read-only file system/);
      });
    }
    assert.ok(Math.min(...startsMs) < READY_MS_MAX);
  });

  it('answers checks, has the commands of an operator at hand, and ends with status 0 when told to', async (context) => {
    await serve({}, async (container) => {
      const { base_url: baseUrl, key } = readDevFacts(container.dataDirectory);
      const call = (path: string): Promise<Response> =>
        fetch(`${baseUrl}${path}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify(TUPLE),
        });
      assert.equal(Object(await (await call('/v1/check')).json()).authorized, false);
      assert.equal((await call('/v1/grants')).status, 201);
      assert.equal(Object(await (await call('/v1/check')).json()).authorized, true);
      assert.equal(JSON.parse(await container.execute(['grantd', 'members', '--json'])).length, 2);
      const stopMs = performance.now();
      const ended = await container.process.stop('SIGTERM');
      const tookMs = Math.round(performance.now() - stopMs);
      context.diagnostic(`stopped after ${tookMs} ms`);
      assert.deepEqual([ended.code, ended.signal], [0, null], ended.stderr);
      assert.match(ended.stderr, /"stopped"/);
      assert.ok(tookMs < STOP_MS_MAX, `${tookMs} ms`);
    });
  });

  it("ends an operator's command when told to, though it is process 1", async () => {
    const silent = createServer();
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const address = silent.address();
    assert.ok(address !== null && typeof address === 'object');
    const container = new Container(image, {
      args: ['tenants', 'list'],
      environment: { GRANTD_OPERATOR_URL: `http://127.0.0.1:${address.port}`, GRANTD_OPERATOR_TOKEN: 't'.repeat(40) },
    });
    try {
      await once(silent, 'connection');
      const ended = await container.process.stop('SIGTERM');
      assert.equal(ended.code, 143, ended.stderr);
    } finally {
      await container.remove();
      silent.close();
    }
  });

  it('writes nowhere but to the data directory, even where it could', async () => {
    const mark = join(image.rootDirectory, 'mark-of-the-test');
    writeFileSync(mark, '');
    await serve({ readOnly: false }, async (container) => {
      await container.execute(['touch', '/tmp/could']);
      assert.equal((await container.process.stop()).code, 0);
      assert.ok(readdirSync(container.dataDirectory).length > 0);
    });
    // What a runtime makes for its mounts is made in folders of root.
    const written = await readLines(
      'find',
      image.rootDirectory,
      '!',
      '-type',
      'd',
      '-cnewer',
      mark,
      '!',
      '-user',
      'root',
    );
    assert.deepEqual(written, [join(image.rootDirectory, 'tmp', 'could')]);
  });
});
