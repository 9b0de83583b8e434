// What the image contains, made of what the Dockerfile copies and run outside the checkout, where nothing else is.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { BARE_ENVIRONMENT } from '../kit/bare-environment.ts';
import { DevProcess, readDevFacts, testEnvironment } from '../kit/dev-process.ts';
import { ROOT, readText } from '../kit/source-tree.ts';
import { listBuildSources, parseStages } from './support/dockerfile.ts';

const run = promisify(execFile);
const SCRIPT = 'scripts/packages/image-files.ts';
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };

/** Path and hash of every file. */
const hashesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${path.slice(folder.length)} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`)
    .toSorted();

describe('the files of the image', () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-image-'));
  const sources = join(directory, 'sources');
  const files = join(directory, 'image');
  const main = join(files, 'dist', 'grantd.js');
  const make = (target: string) => run(process.execPath, [join(sources, SCRIPT), target], { cwd: directory });
  const grantd = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
    run(process.execPath, [main, ...args], { cwd: directory, env: { ...BARE_ENVIRONMENT, ...environment } });

  before(async () => {
    for (const path of listBuildSources(parseStages(readText('Dockerfile')))) {
      cpSync(join(ROOT, path), join(sources, path), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(sources, 'node_modules'));
    await make(files);
  });
  after(() => rmSync(directory, { recursive: true }));

  it('are the same in each build', async () => {
    const again = join(directory, 'again');
    await make(again);
    assert.ok(hashesOf(files).length > 20);
    assert.deepEqual(hashesOf(again), hashesOf(files));
    rmSync(again, { recursive: true });
  });

  it('contain all that any part of the program imports, and no TypeScript', async () => {
    const names = readdirSync(files, { recursive: true }).map(String);
    assert.deepEqual(
      names.filter((name) => name.endsWith('.ts')),
      [],
    );
    // A library that is missing where it is imported shows when its file runs.
    const chunks = readdirSync(join(files, 'dist')).filter((name) => /-[0-9A-Z]{8}\.js$/.test(name));
    assert.ok(chunks.length > 20);
    const program = `
      const missing = new Set();
      for (const each of ${JSON.stringify(chunks)}) {
        await import('${join(files, 'dist')}/' + each).catch((error) => missing.add(error.message.split(' imported')[0]));
      }
      process.stdout.write(JSON.stringify([...missing]), () => process.exit(0));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: directory });
    // The package of the command line has that one alone, and the program says so.
    assert.deepEqual(JSON.parse(stdout), ["Cannot find package '@modelcontextprotocol/server'"]);
  });

  it('run the program: its threads, its pages and what they load, and the commands of an operator', async () => {
    const data = join(directory, 'data');
    const process_ = new DevProcess(['dev', '--threads', '2'], testEnvironment(data), [process.execPath, main]);
    try {
      await process_.ready();
      const { base_url: api, console_url: console_, operator_token: token, key } = readDevFacts(data);
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      const call = (path: string) => fetch(`${api}${path}`, { method: 'POST', headers, body: JSON.stringify(TUPLE) });
      assert.equal((await call('/v1/grants')).status, 201);
      assert.equal(Object(await (await call('/v1/check')).json()).authorized, true);
      for (const page of [`${api}/docs`, `${console_}/`]) {
        const html = await (await fetch(page)).text();
        const assets = [...html.matchAll(/(?:src|href)="([^"]*assets\/[^"]+)"/g)].map(([, path = '']) => path);
        assert.ok(assets.length >= 2, html);
        for (const path of assets) assert.equal((await fetch(new URL(path, page))).status, 200, path);
      }
      const operator = { GRANTD_OPERATOR_URL: console_, GRANTD_OPERATOR_TOKEN: token };
      const { stdout } = await grantd(['tenants', 'list', '--json'], operator);
      assert.equal(JSON.parse(stdout).length, 1, stdout);
      assert.equal((await process_.stop()).code, 0, process_.stderr);
    } finally {
      await process_.stop('SIGKILL');
    }
  });

  it('refuse wrong settings of a role in words', async () => {
    for (const role of ['front', 'shard', 'console', 'migrate']) {
      await assert.rejects(grantd([role], { GRANTD_DISCOVERY: 'nowhere', GRANTD_STORE: 'nowhere' }), /grantd: /, role);
    }
  });

  it('name the licenses of all that is inside', () => {
    const licenses = readFileSync(join(files, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['express', '@grpc/grpc-js', 'cassandra-driver', 'htmx.org', '@picocss/pico']) {
      assert.ok(`\n${licenses}`.includes(`\n${name} `), name);
    }
  });

  it('are not made where a thread would start with a file that is not built', async () => {
    appendFileSync(join(sources, 'src/main.ts'), "\nnew Worker(new URL('./roles/front.ts', import.meta.url));\n");
    await assert.rejects(
      make(join(directory, 'wrong')),
      /src\/main\.ts starts src\/roles\/front\.ts, which is not built/,
    );
  });
});
