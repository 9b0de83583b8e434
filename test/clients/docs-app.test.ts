// The example application over HTTP: its page's commands start it, its code agrees with the types of the client, and
// neither a hostile form nor an error of grantd grants access.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ERROR_CATALOGUE } from '../../src/core/errors.ts';
import { type ExampleApp, startDocsApp } from '../kit/example-app.ts';
import { type Answer, call } from '../kit/http-client.ts';
import { type HttpService, startHttpService } from '../kit/http-service.ts';
import { ROOT } from '../kit/source-tree.ts';
import { checkScripts } from './support/client-packages.ts';
import { invented } from './support/invented-responses.ts';

const SECRET = 'nobody else may read this';
const directory = mkdtempSync(join(tmpdir(), 'grantd-docs-app-'));
const example = join(directory, 'examples', 'docs-app');

let service: HttpService;
let proxy: Server;
let app: ExampleApp;
/** What the application gets in place of each response of grantd. */
let failure: string | undefined;

async function startProxy(target: string): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (failure !== undefined) {
      const { status, headers, body } = invented({
        method: '',
        path: '',
        do: '',
        problem: failure,
        retry_after: '3600',
      });
      response.writeHead(status, headers).end(body);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    const key = headers.authorization?.replace('Bearer ', '');
    const body = chunks.length > 0 ? Buffer.concat(chunks).toString() : undefined;
    const sent = { 'Content-Type': headers['content-type'] ?? '' };
    const answer = await call(target, { method, path: url, key, body, headers: sent });
    const { 'content-type': type = '', etag = '' } = answer.headers;
    response.writeHead(answer.status, { 'content-type': type, etag }).end(answer.text);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

before(async () => {
  service = await startHttpService();
  proxy = await startProxy(service.baseUrl);
  const address = proxy.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  app = await startDocsApp(directory, { url: `http://127.0.0.1:${port}`, key: service.key });
});
after(async () => {
  await app?.stop();
  proxy?.closeAllConnections();
  proxy?.close();
  await service?.stop();
  rmSync(directory, { recursive: true });
});

type Fields = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

const get = (path: string, cookie = ''): Promise<Answer> =>
  call(app.url, { method: 'GET', path, headers: cookie === '' ? {} : { cookie } });
const post = (path: string, fields: Fields, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  call(app.url, {
    method: 'POST',
    path,
    body: new URLSearchParams(fields as Record<string, string>).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

async function logIn(person: string): Promise<string> {
  const { status, headers } = await post('/log-in', { person });
  assert.equal(status, 303);
  return headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '';
}

/** Creates a document. Returns its path. */
async function createDocument(cookie: string, title: string): Promise<string> {
  const created = await post('/documents', { title, text: SECRET, folder: '' }, { cookie });
  assert.equal(created.status, 303, created.text);
  const { text } = await get('/', cookie);
  const [, path] = new RegExp(`<a href="(/document/[0-9a-f-]+)">${title}</a>`).exec(text) ?? [];
  return path ?? assert.fail(text);
}

describe('the example docs-app', () => {
  it('depends on Express as this repository does, and on the client that it builds', () => {
    const manifest = JSON.parse(readFileSync(join(example, 'package.json'), 'utf8'));
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    assert.deepEqual(manifest.dependencies, {
      '@grantd/client': 'file:../../clients/typescript/dist/client',
      express: dependencies.express,
    });
  });

  it('agrees with the types of the client, as does the other example', async () => {
    symlinkSync(join(example, 'node_modules'), join(directory, 'examples', 'lists-app', 'node_modules'));
    await checkScripts(join(directory, 'examples'));
  });

  it('believes no cookie but its own, and no form of another site', async () => {
    const ada = await logIn('ada');
    const path = await createDocument(ada, 'believed');
    assert.equal((await get(path, ada)).status, 200);
    const [name = '', value = ''] = ada.split('=');
    const bob = (await logIn('bob')).split('=')[1] ?? '';
    const forged = [
      `ada.${bob.split('.')[1]}`,
      'ada',
      'ada.',
      value.slice(0, -1),
      `${value}x`,
      value.replace('ada', 'Ada'),
    ];
    for (const each of forged) assert.equal((await get(path, `${name}=${each}`)).headers.location, '/log-in', each);
    for (const site of ['cross-site', 'same-site', 'none']) {
      const { status } = await post(`${path}/deletion`, {}, { cookie: ada, 'sec-fetch-site': site });
      assert.equal(status, 403, site);
    }
    assert.equal((await get(path, ada)).status, 200);
    assert.equal((await post('/documents', { title: 'x', text: '', folder: '' })).status, 401);
  });

  it('shows what people have written as text', async () => {
    const ada = await logIn('ada');
    await post('/folders', { title: `<b title="'">&` }, { cookie: ada });
    const { text } = await get('/', ada);
    assert.ok(text.includes('&lt;b title=&quot;&#39;&quot;&gt;&amp;') && !text.includes('<b title'));
  });

  it('shares only what somebody owns, with those and as what it offers', async () => {
    const [ada, bob] = [await logIn('ada'), await logIn('bob')];
    const path = `${await createDocument(ada, 'offered')}/sharing`;
    const good = { subject: 'user:bob', relation: 'viewer', duration: 'a day' };
    const refused: readonly [Fields, number][] = [
      [{ ...good, subject: 'user:eve' }, 400],
      [{ ...good, subject: 'user:ada' }, 400],
      [{ ...good, subject: 'team:none#member' }, 400],
      [{ ...good, subject: 'user:*', relation: 'editor' }, 400],
      [{ ...good, relation: 'owner' }, 400],
      [{ ...good, relation: 'parent' }, 400],
      [{ ...good, duration: 'two days' }, 400],
      [{ subject: 'user:bob', relation: 'viewer' }, 400],
      [[...Object.entries(good), ['subject', 'user:carol']], 400],
    ];
    for (const [fields, status] of refused) {
      assert.equal((await post(path, fields, { cookie: ada })).status, status, JSON.stringify(fields));
    }
    assert.equal((await post(path, good, { cookie: bob })).status, 403);
    const revocation = { subject: 'user:ada', relation: 'owner' };
    assert.equal((await post(`${path}/revocation`, revocation, { cookie: ada })).status, 400);
    for (const unknown of ['/user/ada/sharing', '/key/1/sharing', '/document/a%20b/sharing', '/document/%E0%A4%A']) {
      assert.ok([400, 403, 404].includes((await get(unknown, ada)).status), unknown);
    }
    assert.equal((await get(`/?cursor=nonsense`, ada)).status, 400);
    assert.equal((await get('/nowhere', ada)).status, 404);
    assert.equal((await get(path.replace('/sharing', ''), bob)).status, 403);
    const folder = { title: 'x', text: '', folder: 'folder:of-somebody-else' };
    assert.equal((await post('/documents', folder, { cookie: ada })).status, 403);
  });

  it('revokes all grants of a document that is deleted', async () => {
    const ada = await logIn('ada');
    const path = await createDocument(ada, 'deleted');
    const share = { subject: 'user:bob', relation: 'editor', duration: 'without end' };
    assert.equal((await post(`${path}/sharing`, share, { cookie: ada })).status, 303);
    const object = path.slice(1).replace('/', ':');
    const grants = async (): Promise<unknown> =>
      (await service.send({ method: 'GET', path: `/v1/grants?object=${object}`, key: service.key })).json;
    assert.match(JSON.stringify(await grants()), /user:bob.*user:ada|user:ada.*user:bob/);
    assert.equal((await post(`${path}/deletion`, {}, { cookie: ada })).status, 303);
    assert.deepEqual(await grants(), { grants: [], next_cursor: null });
    assert.equal((await get(path, ada)).status, 403);
    assert.equal((await post(`${path}/sharing`, share, { cookie: ada })).status, 403);
  });
});

describe('the example docs-app, if grantd answers with an error', () => {
  let ada: string;
  let path: string;
  before(async () => {
    ada = await logIn('ada');
    path = await createDocument(ada, 'kept');
  });

  for (const problem of Object.keys(ERROR_CATALOGUE)) {
    it(`shows nothing and does nothing: ${problem}`, async () => {
      const cookie = { cookie: ada };
      failure = problem;
      try {
        const answers = await Promise.all([
          get(path, ada),
          get('/', ada),
          get(`${path}/sharing`, ada),
          post(path, { text: 'changed' }, cookie),
          post(`${path}/sharing`, { subject: 'user:bob', relation: 'viewer', duration: 'a day' }, cookie),
          post(`${path}/deletion`, {}, cookie),
          post('/documents', { title: 'new', text: '', folder: '' }, cookie),
        ]);
        for (const { status, text, headers } of answers) {
          assert.ok([400, 403, 404, 409, 503, 507].includes(status), `${status} ${text}`);
          assert.equal(status === 503, headers['retry-after'] !== undefined, text);
          assert.ok(!text.includes(SECRET) && text.includes('<h1>Sorry'), text);
        }
      } finally {
        failure = undefined;
      }
      const { status, text } = await get(path, ada);
      assert.ok(status === 200 && text.includes(SECRET), `${status} ${text}`);
    });
  }
});
