// The commands of the guide to lists, and the example lists-app with fewer documents, on a real Postgres and a real
// service: each list is what the rules say, in order, at every change; whatever fails, there is no list.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { missingPostgres, PostgresServer } from '../../tools/engines/postgres.ts';
import { BARE_ENVIRONMENT } from '../kit/bare-environment.ts';
import { type ExampleApp, startExample } from '../kit/example-app.ts';
import { type Answer, call } from '../kit/http-client.ts';
import { type HttpService, startHttpService } from '../kit/http-service.ts';
import { linesOf, shellBlocks, shellSteps } from '../kit/shell-blocks.ts';
import { ROOT } from '../kit/source-tree.ts';
import { linkedInstall, makeUserCheckout } from '../kit/user-checkout.ts';
import { waitFor } from '../kit/wait-for.ts';

const run = promisify(execFile);
const missing = await missingPostgres('lists joined with a mirror in Postgres');
/** One in each folder. test/clients/typescript-filter.test.ts has the form of a filter for those who see very many. */
const DOCUMENTS = 1000;
const ABOVE = {
  ada: 'id <= 10',
  bob: `folder IN (SELECT id FROM folders WHERE parent = 'area-7')`,
  eve: `folder IN (SELECT id FROM folders WHERE parent <> 'area-100')`,
};

describe('lists joined with a mirror', { skip: missing ?? false }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-lists-'));
  // The name of a checkout in the guide.
  const checkout = join(directory, 'grantd');
  let [service, stopped]: [HttpService | undefined, boolean] = [undefined, false];
  let postgres: PostgresServer;
  const running = (): HttpService => service ?? assert.fail('It does not run.');

  const urlOf = (database: string): string => postgres.url.replace(/postgres$/, database);
  const environment = (database: string) => ({ ...BARE_ENVIRONMENT, HOME: directory, DATABASE_URL: urlOf(database) });
  const linesFor = async (database: string, sql: string): Promise<string[]> =>
    linesOf((await run('psql', [urlOf(database), '-qAtc', sql])).stdout);
  const asHere = (commands: string): string =>
    [linkedInstall(checkout), commands].join('\n').replaceAll('http://127.0.0.1:8080', running().baseUrl);

  before(async () => {
    makeUserCheckout(checkout);
    mkdirSync(join(checkout, '.grantd'));
    [service, postgres] = await Promise.all([startHttpService(), PostgresServer.start()]);
    const { baseUrl, opsUrl, consoleUrl, operatorToken: operator_token, tenantId: tenant_id, key } = service;
    const facts = { base_url: baseUrl, ops_url: opsUrl, console_url: consoleUrl, operator_token, tenant_id, key };
    writeFileSync(join(checkout, '.grantd', 'dev.json'), JSON.stringify(facts, undefined, 2), { mode: 0o600 });
    for (const database of ['guide', 'app']) await linesFor('postgres', `CREATE DATABASE ${database}`);
  });
  after(async () => {
    if (!stopped) await service?.stop();
    await postgres?.stop();
    rmSync(directory, { recursive: true });
  });

  it('are what the guide shows', async () => {
    const steps = shellSteps('docs/guides/lists.md');
    const shown = steps.flatMap(({ printed = [] }) => printed);
    assert.equal(shown.length, 3);
    // The mirror ends with the shell.
    const script = `trap 'kill $(jobs -p)' EXIT\n${steps.map(({ commands }) => commands).join('\n')}`;
    const options = { cwd: checkout, env: environment('guide') };
    const { stdout } = await run('timeout', ['--kill-after=10', '300', 'bash', '-euc', asHere(script)], options);
    const lines = linesOf(stdout);
    assert.deepEqual(lines.slice(-shown.length), shown, stdout);
  });

  describe('in the example lists-app', () => {
    let app: ExampleApp;
    before(async () => {
      const commands = shellBlocks('examples/lists-app/README.md').join('');
      const script = commands
        .replace('data.sql', `data.sql -v documents=${DOCUMENTS}`)
        // The guide has built it with the same command.
        .replace('npm --prefix clients/typescript run -s build\n', '')
        .replace(/ &$/m, ' & echo $! > sync.pid');
      app = await startExample(['bash', '-euc', asHere(script)], checkout, environment('app'));
      await waitFor('the mirror', () => /everything up to/.test(readFileSync(join(checkout, 'sync.log'), 'utf8')));
    });
    after(() => app?.stop());

    const get = (query: Readonly<Record<string, string>>): Promise<Answer> =>
      call(app.url, { method: 'GET', path: `/?${new URLSearchParams(query)}` });
    const idsIn = ({ text }: Answer): string[] => [...text.matchAll(/<li id="(\d+)">/g)].map(([, id = '']) => id);

    /** A page, once the mirror is not behind. */
    async function read(path: string): Promise<Answer> {
      let answer: Answer | undefined;
      await waitFor('a list', async () => {
        answer = await call(app.url, { method: 'GET', path });
        if (answer.status !== 200) assert.deepEqual([answer.status, idsIn(answer)], [503, []]);
        return answer.status === 200;
      });
      return answer ?? assert.fail();
    }

    const idsOf = (where: string): Promise<string[]> =>
      linesFor('app', `SELECT id FROM documents WHERE ${where} ORDER BY updated_at DESC, id DESC`);

    for (const [person, where] of Object.entries(ABOVE)) {
      it(`are whole, in order and in pages, as the rules say: ${person}`, async () => {
        const found: string[] = [];
        let path = `/?as=${person}&search=pLAN`;
        while (path !== '') {
          const answer = await read(path);
          found.push(...idsIn(answer));
          path = /rel="next" href="([^"]*)"/.exec(answer.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
        }
        const expected = await idsOf(`title LIKE 'Plan%' AND ${where}`);
        assert.deepEqual(found, expected);
        if (person === 'eve') assert.ok(expected.length > 50);
      });
    }

    it('follow a grant on a folder and its revocation, at once', async () => {
      const before_ = await idsOf(ABOVE.ada);
      const with_ = await idsOf(`${ABOVE.ada} OR folder = 'folder-500'`);
      assert.deepEqual(idsIn(await read('/?as=ada')), before_);
      const tenant = await tenantOf('lists-app');
      const { key } = await running().createKey(tenant, { scopes: ['grant:write'] });
      const grant = { subject: 'user:ada', relation: 'viewer', object: 'folder:folder-500' };
      const change = { path: '/v1/grants', key, body: grant };
      assert.equal((await running().send({ method: 'POST', ...change })).status, 201);
      assert.deepEqual(idsIn(await read('/?as=ada')), with_);
      assert.equal((await running().send({ method: 'DELETE', ...change })).status, 204);
      assert.deepEqual(idsIn(await read('/?as=ada')), before_);
    });

    it('are for no address that the application has not made', async () => {
      for (const query of [
        { as: 'zoe' },
        { as: 'user:*' },
        { after: '1' },
        { after: '1,x' },
        { after: "1,1'" },
        { search: 'x'.repeat(101) },
        { search: '\0' },
      ]) {
        const answer = await get(query);
        assert.deepEqual([answer.status, idsIn(answer)], [400, []], JSON.stringify(query));
      }
      assert.equal((await call(app.url, { method: 'GET', path: '/documents' })).status, 404);
      for (const search of ['%', '_', '\\', `'`, '"><b>']) {
        const answer = await read(`/?${new URLSearchParams({ search })}`);
        assert.deepEqual(idsIn(answer), []);
        assert.ok(!answer.text.includes('<b>'));
      }
    });

    it('are an error where the mirror has ended and is behind', async () => {
      process.kill(Number(readFileSync(join(checkout, 'sync.pid'), 'utf8')), 'SIGTERM');
      await waitFor('the end of the mirror', () => /^Ended\./m.test(readFileSync(join(checkout, 'sync.log'), 'utf8')));
      assert.equal((await get({ as: 'eve' })).status, 200);
      const { key } = await running().createKey(await tenantOf('lists-app'), { scopes: ['grant:write'] });
      const body = { subject: 'folder:folder-1', relation: 'parent', object: 'document:new' };
      assert.equal((await running().send({ method: 'POST', path: '/v1/grants', key, body })).status, 201);
      for (const as of Object.keys(ABOVE)) {
        const answer = await get({ as });
        assert.deepEqual([answer.status, idsIn(answer)], [503, []], as);
        assert.match(answer.text, /nothing is shown/);
      }
    });

    it('are an error without the service', async () => {
      stopped = true;
      await running().stop();
      const answer = await get({ as: 'eve' });
      assert.deepEqual([answer.status, idsIn(answer)], [503, []]);
    });
  });

  async function tenantOf(name: string): Promise<string> {
    const { consoleUrl, operatorToken } = running();
    const { json } = await call(consoleUrl, { method: 'GET', path: '/operator/v1/tenants', key: operatorToken });
    const { tenants = [] }: { tenants?: readonly { tenant_id: string; name: string }[] } = Object(json);
    return tenants.find((each) => each.name === name)?.tenant_id ?? assert.fail(JSON.stringify(json));
  }

  it('are made by a program that depends on pg as this repository does, and on the client that it builds', () => {
    const manifestOf = (path: string) => JSON.parse(readFileSync(path, 'utf8')).dependencies;
    assert.deepEqual(manifestOf(join(ROOT, 'examples/lists-app/package.json')), {
      '@grantd/client': 'file:../../clients/typescript/dist/client',
      pg: manifestOf(join(ROOT, 'packages/sync/package.json')).pg,
    });
  });
});
