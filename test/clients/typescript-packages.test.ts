// The packages of the TypeScript client as people install them: small and well-formed, with types that compile. And
// what its pages and examples tell people to write, which runs as it stands.

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Grantd } from '../../clients/typescript/src/exports.ts';
import { startGrantd } from '../../clients/typescript/testing/testing.ts';
import { NODE_20, NODE_24, oldestNode } from '../../tools/engines/npm-program.ts';
import { call } from '../kit/http-client.ts';
import type { HttpService } from '../kit/http-service.ts';
import { waitFor } from '../kit/wait-for.ts';
import {
  buildClientPackages,
  CLIENT,
  type ClientPackages,
  checkTypes,
  compile,
  programsIn,
  runTool,
} from './support/client-packages.ts';
import { startContractService } from './support/contract.ts';
import { startFaultProxy } from './support/fault-proxy.ts';
import { TESTING_COMMAND } from './support/testing-service.ts';

const run = promisify(execFile);
/** Half of that of the service is the reference at /docs. */
const PACKED_BYTES_MAX: Readonly<Record<string, number>> = { '@grantd/client': 55_000, '@grantd/testing': 3_000_000 };
let packages: ClientPackages;
let service: HttpService;

before(async () => {
  [packages, service] = await Promise.all([buildClientPackages(), startContractService()]);
});
after(async () => {
  packages.remove();
  await service.stop();
});

describe('the packages', () => {
  it('are small, and hold what they have to and nothing else', () => {
    for (const { name, bytes, files } of packages.packed) {
      assert.ok(bytes <= (PACKED_BYTES_MAX[name] ?? 0), `${name} has ${bytes} bytes`);
      for (const file of ['LICENSE', 'README.md', 'package.json']) assert.ok(files.includes(file), `${name}: ${file}`);
      const others = files.filter(
        (file) => !/^dist\/(service\/assets\/.*|.*\.(js|d\.ts))$/.test(file) && file.startsWith('dist/'),
      );
      assert.deepEqual(others, []);
    }
  });

  it('can be read: an uncaught error says what is wrong in its first lines of at most 15', async () => {
    const { key } = await service.createTenant();
    const question = "{ subject: 'user:ada', relation: 'viewer', object: 'document:plan' }";
    const right = `{ url: '${service.baseUrl}', key: '${key}', maxRetries: 0 }`;
    const mistakes = [
      ['new Grantd();', /^TypeError: There is no url and no key: /m],
      [`await new Grantd(${right}).check({ ...${question}, contextGrants: [] });`, /"context_grants"/],
      [`await new Grantd(${right}).check({ ...${question}, subject: 'ada' });`, /^GrantdError: invalid-subject: /m],
      [`await new Grantd({ ...${right}, url: 'http://127.0.0.1:1' }).check(${question});`, /connection-lost/],
    ] as const;
    const programs = [process.execPath, await oldestNode(NODE_20, 'the client')];
    const program = join(packages.directory, 'uncaught.mjs');
    const env = { ...process.env, GRANTD_URL: '', GRANTD_KEY: '' };
    for (const [code, message] of mistakes) {
      writeFileSync(program, `import { Grantd } from '@grantd/client';\n${code}\n`);
      for (const node of programs) {
        const { stderr } = await run(node, [program], { env }).catch((error: { stderr: string }) => error);
        const lines = stderr.trim().split('\n');
        assert.match(lines.slice(0, 5).join('\n'), message);
        assert.ok(lines.length <= 15 && lines.every((line) => line.length <= 200), stderr);
      }
    }
  });

  it('are well-formed for Node and bundlers', async () => {
    for (const { path } of packages.packed) {
      await runTool('publint', ['run', path, '--strict']);
      await runTool('attw', [path, '--profile', 'esm-only', '--no-color']);
    }
  });
});

describe('what the pages say', () => {
  const programs = ['README.md', 'testing/README.md'].flatMap((page) => programsIn(page));

  it('compiles with the examples, and runs on a real service', async () => {
    const folder = join(packages.directory, 'programs');
    cpSync(join(CLIENT, 'examples'), folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const [index, text] of programs.entries()) writeFileSync(join(folder, `program-${index}.ts`), text);
    assert.ok(programs.length >= 7);
    await Promise.all([checkTypes(folder), checkTypes(join(folder, 'next'))]);
    const { key } = await service.createTenant();
    const env = { ...process.env, GRANTD_URL: service.baseUrl, GRANTD_KEY: key };
    const perform = async (index: number): Promise<void> => {
      const { stdout, stderr } = await run(process.execPath, [join(folder, `program-${index}.ts`)], { env });
      // Tests among them report there.
      assert.doesNotMatch(stdout, /✖/);
      // A failed console.assert is printed there.
      assert.equal(stderr, '', `of program ${index}`);
    };
    // The first one grants what the others ask for.
    await perform(0);
    await Promise.all(programs.slice(1).map((_, index) => perform(index + 1)));
    await run(process.execPath, ['--test', '--test-force-exit', 'express.test.ts'], { cwd: folder });
  });
});

describe('the service for tests', () => {
  const isAway = (url: string): Promise<boolean> =>
    fetch(url).then(
      () => false,
      () => true,
    );

  it('runs from its package, on the oldest Node that it asks for, and ends with a process that is killed', async () => {
    const program = join(packages.directory, 'killed.mjs');
    writeFileSync(
      program,
      "import { startGrantd } from '@grantd/testing';\nconsole.log((await startGrantd()).url);\nsetInterval(() => {}, 1000);\n",
    );
    const node = await oldestNode(NODE_24, 'the service for tests');
    const child = spawn(node, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const url of createInterface({ input: child.stdout })) {
      const grantd = new Grantd({ url, key: 'test_a' });
      assert.equal(await grantd.check({ subject: 'user:a', relation: 'viewer', object: 'document:a' }), false);
      const page = await (await fetch(`${url}/docs`)).text();
      const files = [...page.matchAll(/"(\/?docs\/assets\/[^"]+)"/g)].map(([, path = '']) => new URL(path, `${url}/`));
      assert.ok(files.length >= 3);
      for (const file of files) assert.equal((await fetch(file)).status, 200, file.href);
      child.kill('SIGKILL');
      await waitFor('its end', () => isAway(url));
      return;
    }
    assert.fail('it did not start');
  });

  it('says in two lines which Node it needs', async () => {
    const file = join(packages.directory, 'node_modules', '@grantd', 'testing', 'dist', 'service', 'start.js');
    const program = `Object.defineProperty(process.versions, 'node', { value: '22.1.0' }); await import(${JSON.stringify(file)});`;
    const { stderr } = await run(process.execPath, ['--input-type=module', '--eval', program]).catch(
      (error: { stderr: string }) => error,
    );
    assert.match(
      stderr,
      /^grantd: This is Node 22\.1\.0, and the service for tests needs Node 24 or later\.\n {2}.*\n$/,
    );
  });

  it('is one that runs already, or started by another command, and says why that fails', async () => {
    assert.equal((await startGrantd({ url: service.baseUrl })).url, service.baseUrl);
    const started = await startGrantd({ command: TESTING_COMMAND });
    const tenant = started.newTenant();
    assert.match(tenant.key, /^test_/);
    assert.notEqual(started.newTenant().key, tenant.key);
    await started.stop();
    assert.ok(await isAway(started.url));
    await assert.rejects(
      startGrantd({ url: service.baseUrl, ...{ comand: ['true'] } }),
      /^TypeError: "options\.comand" is unknown; .*"command"/,
    );
    await assert.rejects(startGrantd({ command: ['no-such-program'] }), /did not start: .*ENOENT/);
    await assert.rejects(startGrantd({ command: ['true'] }), /did not start: it ended with 0/);
  });
});

interface Application {
  readonly url: string;
  readonly child: ChildProcess;
}

/** The programs of each framework. Those for Next.js are handlers, which are served as it does. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  express: ['express.ts'],
  fastify: ['fastify.ts'],
  nest: ['nest.ts'],
  next: ['next/app/documents/[id]/route.ts', 'next/app/documents/route.ts'],
};

async function startExample(name: string, url: string, key: string): Promise<Application> {
  const compiled = (EXAMPLES[name] ?? []).map(async (source, index) => {
    const program = join(packages.directory, `${name}-${index}.mjs`);
    await compile(join(CLIENT, 'examples', source), program);
    return program;
  });
  const programs = await Promise.all(compiled);
  const args = name === 'next' ? [join(import.meta.dirname, 'support', 'next-handlers.ts'), ...programs] : programs;
  const env = { ...process.env, GRANTD_URL: url, GRANTD_KEY: key, PORT: '0' };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('http://')) return { url: line, child };
  }
  throw new Error(`The example ${name} ended before it served.`);
}

async function endExample({ child }: Application): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

describe('the examples', () => {
  it('are those that are tested', () => {
    const names = readdirSync(join(CLIENT, 'examples')).filter((name) => !/\.test\.ts$|\.json$/.test(name));
    assert.deepEqual(names.map((name) => name.replace('.ts', '')).toSorted(), Object.keys(EXAMPLES));
  });

  for (const name of Object.keys(EXAMPLES)) {
    it(`${name}: lets pass who may, and nobody else, whatever the service does`, async () => {
      const { key } = await service.createTenant();
      const body = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
      assert.equal((await service.send({ method: 'POST', path: '/v1/grants', key, body })).status, 201);
      // From the sixth check on: an answer of another shape, an outage, and connections that are cut.
      const check = { method: 'POST', path: '/v1/check' } as const;
      const faults = [
        { ...check, skip: 5, times: 1, do: 'respond', json: { authorized: 'true', checked_at: '' } },
        { ...check, skip: 5, times: 1, do: 'respond', problem: 'unavailable', retry_after: '3600' },
        { ...check, skip: 5, times: 6, do: 'cut-before' },
        {
          method: 'GET',
          path: '/v1/objects',
          skip: 1,
          times: 1,
          do: 'respond',
          problem: 'unavailable',
          retry_after: '3600',
        },
      ];
      await using stack = new AsyncDisposableStack();
      const proxy = await startFaultProxy(service.baseUrl, faults);
      stack.defer(() => proxy.close());
      const application = await startExample(name, proxy.url, key);
      stack.defer(() => endExample(application));
      const ask = async (id: string, user?: string): Promise<number> => {
        const headers = user === undefined ? {} : { 'x-authenticated-user': user };
        const { status, text } = await call(application.url, { method: 'GET', path: `/documents/${id}`, headers });
        assert.equal(status === 200, text.includes('"id":'), `${status} ${text}`);
        return status;
      };
      assert.deepEqual(
        [await ask('plan', 'ada'), await ask('plan', 'bob'), await ask('other', 'ada')],
        [200, 403, 403],
      );
      assert.equal(await ask('plan'), 401);
      // What no grant can name is nobody's.
      assert.deepEqual([await ask('a%20b', 'ada'), await ask('plan', 'a b')], [404, 403]);
      assert.deepEqual([await ask('plan', 'ada'), await ask('plan', 'ada'), await ask('plan', 'ada')], [503, 503, 503]);
      assert.equal(await ask('plan', 'ada'), 200);

      const list = (user?: string) => {
        const headers = user === undefined ? {} : { 'x-authenticated-user': user };
        return call(application.url, { method: 'GET', path: '/documents', headers });
      };
      assert.deepEqual(JSON.parse((await list('ada')).text), ['plan']);
      assert.deepEqual([(await list()).status, (await list('ada')).status], [401, 503]);
      assert.deepEqual(JSON.parse((await list('bob')).text), []);
    });
  }
});
