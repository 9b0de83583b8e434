// Who may do what: every route of the operator's API and of the console, with every kind of credential. An operation of
// the API needs full access unless it is a GET or listed here, and a page that is in no table fails the test. So
// nothing that writes is served to readers before that is decided on.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { JWTPayload } from 'jose';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { createPages } from '../../../packages/console/src/page-table.ts';
import { IdFactory } from '../../../src/core/ids.ts';
import { BUILT_IN_PLANS } from '../../../src/core/plans.ts';
import { createConsoleApp } from '../../../src/operator/api/app.ts';
import { createOperatorOperations } from '../../../src/operator/api/operation-table.ts';
import { createIdentityProvider } from '../../../src/operator/identity/identity-provider.ts';
import { createOperatorTokens } from '../../../src/operator/operator-tokens.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { ERRORS_BASE, OPERATOR_TOKEN, READ_ONLY_TOKEN, startConsole, useConsole } from '../../kit/console-service.ts';
import { AUDIENCE, CLIENT_ID, startProvider } from '../../kit/identity-provider.ts';
import { ScriptedOperator } from '../../kit/scripted-operator.ts';
import { ConsoleVisitor } from '../console/console-visitor.ts';

/** Operations that only read, although they are no GET. */
const READ_BY_POST = [
  'POST /tenants/:tenantId/keys/:key_id/identify',
  'POST /tenants/:tenantId/check',
  'POST /tenants/:tenantId/check/bulk',
  'POST /tenants/:tenantId/objects',
  'POST /tenants/:tenantId/holders',
  'POST /tenants/:tenantId/sets',
];

/** What each operation of the API needs. */
const OPERATIONS: Readonly<Record<string, 'read-only' | 'full'>> = Object.fromEntries(
  createOperatorOperations().map(({ method, path }) => {
    const entry = `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
    return [entry, method === 'GET' || READ_BY_POST.includes(entry) ? 'read-only' : 'full'];
  }),
);

/** What each page needs, by method. */
const PAGES_BY_PATH: Readonly<Record<string, Partial<Record<'GET' | 'POST', 'read-only' | 'full'>>>> = {
  '/cluster': { GET: 'read-only' },
  '/cluster/live': { GET: 'read-only' },
  '/cluster/past': { GET: 'read-only' },
  '/cluster/slots': { GET: 'read-only' },
  '/tenants': { GET: 'read-only', POST: 'full' },
  '/tenants/new': { GET: 'full' },
  '/tenants/:tenantId': { GET: 'read-only' },
  '/tenants/:tenantId/usage': { GET: 'read-only' },
  '/tenants/:tenantId/plan': { POST: 'full' },
  '/tenants/:tenantId/name': { POST: 'full' },
  '/tenants/:tenantId/readers': { POST: 'full' },
  '/tenants/:tenantId/suspend': { GET: 'full', POST: 'full' },
  '/tenants/:tenantId/resume': { GET: 'full', POST: 'full' },
  '/tenants/:tenantId/delete': { GET: 'full', POST: 'full' },
  '/tenants/:tenantId/deletion': { GET: 'read-only' },
  '/tenants/:tenantId/keys': { GET: 'read-only', POST: 'full' },
  '/tenants/:tenantId/keys/:keyId/revoke': { GET: 'full', POST: 'full' },
  '/tenants/:tenantId/keys/:keyId/rotate': { GET: 'full', POST: 'full' },
  '/identify-key': { GET: 'read-only', POST: 'read-only' },
  '/tenants/:tenantId/namespaces': { GET: 'read-only', POST: 'full' },
  '/tenants/:tenantId/grants': { GET: 'read-only', POST: 'full' },
  '/tenants/:tenantId/grants/new': { GET: 'full' },
  '/tenants/:tenantId/grants/revoke': { GET: 'full', POST: 'full' },
  '/tenants/:tenantId/grants/lines': { GET: 'full', POST: 'full' },
  '/tenants/:tenantId/grants/revoke-all': { GET: 'full', POST: 'full' },
  '/tenants/:tenantId/grants/holders': { POST: 'read-only' },
  '/tenants/:tenantId/objects': { GET: 'read-only', POST: 'read-only' },
  '/tenants/:tenantId/check': { GET: 'read-only', POST: 'read-only' },
  '/tenants/:tenantId/check/many': { GET: 'read-only', POST: 'read-only' },
  '/tenants/:tenantId/check/many/file': { POST: 'read-only' },
  '/tenants/:tenantId/rules': { GET: 'read-only', POST: 'full' },
  '/tenants/:tenantId/rules/validate': { POST: 'full' },
  '/tenants/:tenantId/rules/versions': { GET: 'read-only' },
  '/tenants/:tenantId/rules/versions/:version': { GET: 'read-only' },
  '/tenants/:tenantId/changes': { GET: 'read-only' },
  '/tenants/:tenantId/changes/live': { GET: 'read-only' },
  '/tenants/:tenantId/audit-log': { GET: 'read-only' },
  '/tenants/:tenantId/audit-log/file': { GET: 'read-only' },
  '/tenants/:tenantId/keys/:keyId': { GET: 'read-only' },
  '/audit-log': { GET: 'read-only' },
  '/audit-log/file': { GET: 'read-only' },
  '/search': { GET: 'read-only', POST: 'read-only' },
};
const PAGES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(PAGES_BY_PATH).flatMap(([path, ofPath]) =>
    Object.entries(ofPath).map(([method, needed]) => [`${method} ${path}`, needed]),
  ),
);

/** Open to everybody, with what each of them shows a stranger. */
const OPEN_PAGES = ['/', '/assets/:name', '/log-in', '/log-in/provider', '/log-in/callback'];
const WITH_ANY_SESSION = ['/log-out'];

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  readonly handle: { readonly stack?: readonly Layer[] };
}

/** `METHOD path` of everything that express would route; `*` for all methods. */
function routesOf(stack: readonly Layer[]): string[] {
  return stack.flatMap(({ route, handle }) => {
    if (route === undefined) return routesOf(handle.stack ?? []);
    // A route of all methods has one mark in a router, and a handler for each method that Node knows in an app.
    const methods = Object.keys(route.methods);
    return (methods.includes('_all') || methods.length > 3 ? ['*'] : methods).map(
      (method) => `${method.toUpperCase()} ${route.path}`,
    );
  });
}

const pathOf = (entry: string): string => entry.slice(entry.indexOf(' ') + 1);
const MAPPING = {
  nameClaim: 'sub',
  accessClaim: 'grantd_access',
  fullValues: ['full'],
  readOnlyValues: ['read-only'],
  groupsClaim: 'groups',
  requiredGroups: [],
};

const redirectUri = 'https://console.example.com/console/log-in/callback';
const real = await startProvider(redirectUri);
const log = createLog({ level: 'silent', pretty: false });
const identityProvider = createIdentityProvider(
  { clock: systemClock, random: systemRandom, log },
  {
    issuer: real.issuer,
    client: { id: CLIENT_ID, secret: undefined, redirectUri, scope: 'openid' },
    audience: AUDIENCE,
    claims: MAPPING,
  },
);
const service = await useConsole({ identityProvider });
after(() => real[Symbol.asyncDispose]());
const factory = new IdFactory(systemClock, systemRandom);
const context = { requestId: 'req_0', deadlineMs: systemClock.monotonicMs() + 60_000 };
const { tenantId } = await service.operator.createTenant(context, { name: 'Acme', plan: 'free', operator: 'ada' });
const keyId = factory.create('key');
const ids: Readonly<Record<string, string>> = { tenantId, keyId, key_id: keyId };

const filled = (path: string): string => path.replaceAll(/:(\w+)/g, (_whole, name: string) => ids[name] ?? name);

/** The status of a call of the API, and how many calls to the shards it made. */
async function call(entry: string, token: string | undefined): Promise<{ status: number; calls: number }> {
  const before = service.operator.calls.length;
  const method = entry.slice(0, entry.indexOf(' '));
  const response = await fetch(`${service.url}/operator/v1${filled(pathOf(entry))}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(method === 'GET' ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(method === 'GET' ? {} : { body: '{}' }),
  });
  await response.arrayBuffer();
  return { status: response.status, calls: service.operator.calls.length - before };
}

describe('the routes of the console', () => {
  it('are all in the tables of this test', () => {
    const shared = { clock: systemClock, random: systemRandom, log, metrics: createMetrics() };
    const operator = new ScriptedOperator(systemClock, systemRandom);
    const parts = { ...shared, operator, ids: factory, tokens: createOperatorTokens([]), identityProvider };
    const site = { errorsBase: ERRORS_BASE, plans: BUILT_IN_PLANS, trustedProxies: [] };
    const app = createConsoleApp({ ...parts, pages: createPages(parts, site) }, site);
    const known = [
      'GET /',
      ...OPEN_PAGES.map((path) => `GET ${path}`),
      'POST /log-in',
      ...WITH_ANY_SESSION.map((path) => `POST ${path}`),
      ...new Set(Object.keys(PAGES).map((entry) => `* ${pathOf(entry)}`)),
      ...new Set(Object.keys(OPERATIONS).map((entry) => `* /operator/v1${pathOf(entry)}`)),
    ];
    const stack: unknown = app.router.stack;
    assert.deepEqual(routesOf(stack as readonly Layer[]).sort(), known.sort());
  });

  it('serve only the methods of the tables, and no form of another session', async () => {
    const visitor = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
    for (const [path, ofPath] of Map.groupBy(Object.keys(OPERATIONS), pathOf)) {
      const methods = ofPath.map((entry) => entry.split(' ')[0]);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        // It comes before the access, and nothing happens.
        const { status } = await call(`${method} ${path}`, READ_ONLY_TOKEN);
        assert.equal(status === 405, !methods.includes(method), `${method} ${path}: ${status}`);
      }
    }
    for (const [path, ofPath] of Map.groupBy(Object.keys(PAGES), pathOf)) {
      const methods = ofPath.map((entry) => entry.split(' ')[0]);
      const to = `/console${filled(path)}`;
      assert.equal((await visitor.get(to)).status === 405, !methods.includes('GET'), `GET ${path}`);
      const before = service.operator.calls.length;
      const posted = await visitor.post(to, { csrf: 'of another session' });
      assert.equal(posted.status, methods.includes('POST') ? 403 : 405, `POST ${path}`);
      assert.equal(service.operator.calls.length, before, 'nothing was asked of the cluster');
    }
  });
});

describe("an operation of the operator's API", () => {
  /** Of one who has no business here; the reason is the name. */
  async function strangers(): Promise<[string, string | undefined][]> {
    const sign = (claims: JWTPayload, header = {}): Promise<string> => real.sign(real.claims(claims), header);
    const second = Math.floor(Date.now() / 1000);
    const good = await sign({});
    const [header = '', payload = '', signature = ''] = good.split('.');
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const other = await generateKeyPair('RS256', { extractable: true });
    const signOther = (key: typeof other.privateKey, protectedHeader: Record<string, unknown>): Promise<string> =>
      new SignJWT(real.claims()).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', ...protectedHeader }).sign(key);
    const hmac = new SignJWT(real.claims()).setProtectedHeader({ alg: 'HS256', kid: 'key-of-the-provider' });
    return [
      ['nothing', undefined],
      ['an unknown token', 'an-unknown-token-of-32-characters-or-more'],
      ['another audience', await sign({ aud: 'https://other.example.com' })],
      ['the audience of the log-in', await sign({ aud: CLIENT_ID })],
      ['a part of the audience', await sign({ aud: AUDIENCE.slice(0, -1) })],
      ['an audience that is no text', await sign(Object.assign({}, { aud: { [AUDIENCE]: true } }) as never)],
      ['an expired token', await sign({ exp: second - 60 })],
      ['a token without an end', await sign(Object.assign(real.claims(), { exp: undefined }))],
      ['a token of the future', await sign({ nbf: second + 120 })],
      ['another issuer', await sign({ iss: 'https://other.example.com' })],
      ['nearly the issuer', await sign({ iss: `${real.issuer}/` })],
      ['a token without a subject', await sign(Object.assign(real.claims(), { sub: undefined }))],
      ['an ID token', await sign({ nonce: 'abc' })],
      ['a token bound to a key', await sign({ cnf: { jkt: 'abc' } } as JWTPayload)],
      ['a token of another kind', await sign({}, { typ: 'logout+jwt' })],
      [
        'a token with an unknown critical header',
        `${encode({ alg: 'RS256', crit: ['x'], x: 1 })}.${payload}.${signature}`,
      ],
      ['another key', await signOther(other.privateKey, { kid: 'key-of-the-provider' })],
      ['an unknown key', await signOther(other.privateKey, { kid: 'another' })],
      ['its own key in the header', await signOther(other.privateKey, { jwk: await exportJWK(other.publicKey) })],
      ['no signature (alg none)', `${encode({ alg: 'none', typ: 'at+jwt' })}.${payload}.`],
      ['alg none with the signature', `${encode({ alg: 'none', typ: 'at+jwt' })}.${payload}.${signature}`],
      ['alg NoNe', `${encode({ alg: 'NoNe' })}.${payload}.${signature}`],
      ['HS256 with the public key', await hmac.sign(Buffer.from(real.publicKey))],
      ['HS256 with the trimmed public key', await hmac.sign(Buffer.from(real.publicKey.trim()))],
      ['changed claims', `${header}.${encode(real.claims({ sub: 'eve' }))}.${signature}`],
      ['a cut signature', good.slice(0, -4)],
      ['five parts', `${good}.a.b`],
    ];
  }

  it('is refused to everybody else before anything happens', async () => {
    const all = await strangers();
    let asked = 0;
    let keysRead = 0;
    real.onRequest = (path) => {
      if (path === '/jwks') keysRead += 1;
    };
    for (const [reason, token] of all) {
      assert.deepEqual(await call('GET /plans', token), { status: 401, calls: 0 }, reason);
    }
    for (const entry of Object.keys(OPERATIONS)) {
      for (const [reason, token] of all) {
        const { status, calls } = await call(entry, token);
        assert.equal(status, 401, `${entry} with ${reason}`);
        assert.equal(calls, 0, `${entry} with ${reason}`);
        asked += 1;
      }
    }
    // An unknown key makes the console read the keys again, but not each time.
    assert.ok(keysRead * 20 < asked, `${keysRead} reads of the keys for ${asked} requests`);
  });

  it('is refused to a known person without access', async () => {
    const tokens = await Promise.all(
      [undefined, 'Full', 'none', '', ['x'], ['full', null], true, { full: 'full' }, 'full read-only'].map((value) =>
        real.sign(real.claims({ grantd_access: value })),
      ),
    );
    for (const entry of Object.keys(OPERATIONS)) {
      for (const token of tokens) assert.deepEqual(await call(entry, token), { status: 403, calls: 0 }, entry);
    }
  });

  it('needs the access that the table says', async () => {
    const readers = [READ_ONLY_TOKEN, await real.sign(real.claims({ grantd_access: 'read-only' }))];
    const full = [OPERATOR_TOKEN, await real.sign(real.claims())];
    for (const [entry, needed] of Object.entries(OPERATIONS)) {
      for (const token of readers) {
        const { status, calls } = await call(entry, token);
        assert.equal(status === 403, needed === 'full', `${entry}: ${status}`);
        if (needed === 'full') assert.equal(calls, 0, entry);
        assert.notEqual(status, 401, entry);
      }
      // The last one would delete the tenant of the test.
      if (entry.startsWith('DELETE /tenants/:tenantId') && !entry.includes('/keys')) continue;
      for (const token of full) {
        const { status } = await call(entry, token);
        assert.ok(![401, 403, 405].includes(status) && status < 500, `${entry}: ${status}`);
      }
    }
  });

  it('is done in the name of the subject, escaped and cut', async () => {
    const names: [string, RegExp][] = [
      ['ada', /^oidc:ada$/],
      ['auth0|5f7c', /^oidc:auth0\|5f7c$/],
      ['a b\n"<ü%~', /^oidc:a%20b%0a%22%3c%c3%bc%25%7e$/],
      ['x'.repeat(59), /^oidc:x{59}$/],
      ['x'.repeat(60), /^oidc:x{38}~[0-9a-f]{20}$/],
      ['x'.repeat(1024), /^oidc:x{38}~[0-9a-f]{20}$/],
    ];
    const seen = new Set<string>();
    for (const [sub, name] of names) {
      await call('GET /tenants/:tenantId/namespaces', await real.sign(real.claims({ sub })));
      const operator = service.operator.calls.findLast((made) => made.operator !== undefined)?.operator ?? '';
      assert.match(operator, name);
      assert.ok(operator.length <= 64);
      seen.add(operator);
    }
    assert.equal(seen.size, names.length);
  });
});

describe('the frame of the pages', () => {
  it('names the cluster to everybody, and the version to operators', async () => {
    await using console = await startConsole({ clock: systemClock, random: systemRandom, clusterName: 'eu <1' });
    const visitor = new ConsoleVisitor(console.url);
    const { text: logIn } = await visitor.get('/console/log-in');
    assert.match(logIn, /<title>Log in · eu &lt;1 · grantd<\/title>/);
    assert.match(logIn, /class="badge cluster-name"><bdi class="foreign">eu &lt;1</);
    assert.doesNotMatch(logIn, /1\.2\.3/);
    await visitor.logIn(OPERATOR_TOKEN);
    assert.match((await visitor.get('/console/tenants')).text, /<footer class="version">grantd 1\.2\.3<\/footer>/);
  });
});

const READ_STATUSES: Readonly<Record<string, number>> = {
  // Nobody has created it.
  'GET /tenants/:tenantId/keys/:keyId': 404,
  'POST /tenants/:tenantId/check/many': 422,
  'GET /tenants/:tenantId/rules/versions/:version': 404,
};

describe('a page of the console', () => {
  const visit = (visitor: ConsoleVisitor, entry: string): ReturnType<ConsoleVisitor['get']> => {
    const to = `/console${filled(pathOf(entry))}`;
    return entry.startsWith('GET') ? visitor.get(to) : visitor.post(to, {});
  };

  it('is shown to nobody without a session, whatever the header says', async () => {
    const stranger = new ConsoleVisitor(service.url);
    const tokens = [undefined, OPERATOR_TOKEN, await real.sign(real.claims())];
    for (const entry of Object.keys(PAGES)) {
      for (const token of tokens) {
        stranger.headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
        const before = service.operator.calls.length;
        const { status, headers } = await visit(stranger, entry);
        assert.equal(status, 303, entry);
        assert.match(headers.get('location') ?? '', /^\/console\/log-in/, entry);
        assert.equal(service.operator.calls.length, before, entry);
      }
    }
  });

  it('needs the access that the table says', async () => {
    const reader = await new ConsoleVisitor(service.url).logIn(READ_ONLY_TOKEN);
    await reader.get('/console/cluster');
    for (const [entry, needed] of Object.entries(PAGES)) {
      const before = service.operator.calls.length;
      const { status, text } = await visit(reader, entry);
      assert.equal(status === 403, needed === 'full', `${entry}: ${status}`);
      // A question that is sent as a form is refused without its text, and the rules were never changed.
      if (needed === 'read-only') assert.equal(status, READ_STATUSES[entry] ?? 200, entry);
      else {
        assert.match(text, /read-only access/);
        assert.equal(service.operator.calls.length, before, entry);
      }
    }
    const operator = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
    for (const entry of Object.keys(PAGES)) {
      if (entry === 'POST /tenants/:tenantId/suspend') continue;
      const { status } = await visit(operator, entry);
      assert.ok(![401, 403, 405].includes(status) && status < 500, `${entry}: ${status}`);
    }
  });

  it('shows its forms disabled to an operator who may only read', async () => {
    const reader = await new ConsoleVisitor(service.url).logIn(READ_ONLY_TOKEN);
    const { text } = await reader.get(`/console/tenants/${ids.tenantId}/namespaces`);
    assert.match(text, /You have read-only access.*<fieldset disabled/s);
    const operator = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
    const { text: whole } = await operator.get(`/console/tenants/${ids.tenantId}/namespaces`);
    assert.doesNotMatch(whole, /fieldset disabled|read-only/);
  });
});
