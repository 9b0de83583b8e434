// Log-ins to the console at a real OpenID Connect provider: who gets in, as whom, and everything on the way that
// somebody could change.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, beforeEach, describe, it } from 'node:test';
import type { FailureLimiter } from '../../../../src/front/limits/rate-limiter.ts';
import { createIdentityProvider } from '../../../../src/operator/identity/identity-provider.ts';
import { systemRandom } from '../../../../src/roles/process/system.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { startConsole, useConsole } from '../../../kit/console-service.ts';
import { AUDIENCE, CLIENT_ID, CLIENT_SECRET, startProvider } from '../../../kit/identity-provider.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { ConsoleVisitor, type Visit } from '../../console/console-visitor.ts';

const CONSOLE_URL = 'https://console.example.com';
const REDIRECT_URI = `${CONSOLE_URL}/console/log-in/callback`;
const MINUTE_MS = 60_000;

const rules = {
  nameClaim: 'sub',
  accessClaim: 'grantd_access',
  fullValues: ['full', 'admins'],
  readOnlyValues: ['read-only'],
  groupsClaim: 'groups',
  requiredGroups: ['staff'],
};

const log = createLog({ level: 'silent', pretty: false });
const clock = new VirtualClock();
const failures: string[] = [];
let blocked = false;
const failureLimiter: FailureLimiter = {
  refusal: () =>
    blocked ? { of: 'address' as const, allowed: false, limit: 60, remaining: 0, resetSeconds: 17 } : undefined,
  record: (address) => void failures.push(address),
};

const real = await startProvider(REDIRECT_URI);
const client = { id: CLIENT_ID, secret: CLIENT_SECRET, redirectUri: REDIRECT_URI, scope: 'openid' };
const identityProvider = createIdentityProvider(
  { clock, random: systemRandom, log },
  { issuer: real.issuer, client, audience: undefined, claims: rules },
);
const service = await useConsole({ clock, failureLimiter, identityProvider });
after(() => real[Symbol.asyncDispose]());
beforeEach(() => {
  failures.length = 0;
  blocked = false;
  real.people.clear();
  real.people.set('ada', { grantd_access: 'full', groups: ['staff'] });
  real.nextPerson = 'ada';
});

/** The browser at the provider: follows it with its cookies until it is sent back, and returns where to. */
async function atProvider(url: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let next = url;
  for (let hop = 0; hop < 10; hop += 1) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(next, { redirect: 'manual', headers: { Cookie: cookie } });
    for (const text of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (text.split(';')[0] ?? '').split(/=(.*)/s);
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    assert.ok(location !== null, await response.text());
    const to = new URL(location, next);
    if (to.origin === CONSOLE_URL) return to;
    next = to.href;
  }
  assert.fail('the provider sent the browser around');
}

/** Leaves for the provider and comes back with its answer, before the console has seen it. */
async function leave(visitor: ConsoleVisitor, to = ''): Promise<URL> {
  const begun = await visitor.get(`/console/log-in/provider${to === '' ? '' : `?to=${encodeURIComponent(to)}`}`);
  assert.equal(begun.status, 303, begun.text);
  const [cookie = ''] = begun.headers.getSetCookie();
  assert.match(cookie, /^grantd_log_in=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
  const url = new URL(begun.headers.get('location') ?? '');
  assert.equal(url.origin, real.issuer);
  assert.equal(url.searchParams.get('code_challenge_method'), 'S256');
  for (const name of ['state', 'nonce', 'code_challenge'])
    assert.match(url.searchParams.get(name) ?? '', /^[\w-]{43}$/);
  return atProvider(url.href);
}

const back = (visitor: ConsoleVisitor, { search }: URL): Promise<Visit> =>
  visitor.get(`/console/log-in/callback${search}`);

async function logIn(visitor: ConsoleVisitor, to?: string): Promise<Visit> {
  return back(visitor, await leave(visitor, to));
}

function assertRefused(visit: Visit, status: number, message: RegExp): void {
  assert.equal(visit.status, status, visit.text);
  assert.match(visit.text, message);
  assert.match(visit.text, /<h1>Log in<\/h1>/);
  assert.ok(!visit.headers.getSetCookie().some((cookie) => /^(__Host-)?grantd_console=./.test(cookie)));
}

const visitor = (): ConsoleVisitor => new ConsoleVisitor(service.url);

describe('a log-in at the identity provider', () => {
  it('gives a session in the name of the subject, and leads on to the page that was wanted', async () => {
    const ada = visitor();
    assert.match((await ada.get('/console/log-in')).text, /href="\/console\/log-in\/provider"/);
    const done = await logIn(ada, '/console/tenants?q=a');
    assert.equal(done.status, 200, done.text);
    assert.match(done.text, /http-equiv="refresh" content="0;url=\/console\/tenants\?q=a"/);
    assert.equal(done.headers.get('referrer-policy'), 'no-referrer');
    const [session, ended] = done.headers.getSetCookie();
    assert.match(session ?? '', /^grantd_console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    assert.match(ended ?? '', /^grantd_log_in=; .*Max-Age=0$/);
    const page = await ada.get('/console/tenants');
    assert.equal(page.status, 200);
    assert.match(page.text, /oidc:ada/);
    assert.doesNotMatch(page.text, /read-only/);
    await ada.get('/console/tenants/new');
    assert.equal((await ada.post('/console/tenants', { name: 'Acme', plan: 'free' })).status, 303);
    assert.deepEqual(failures, []);
  });

  it('shows no page outside the console, whatever the link says', async () => {
    const outside = ['https://evil.example/', '//evil.example', '/console/../x"><script>', '/operator/v1/plans'];
    const dots = [
      '/console/../evil',
      '/console/./../evil',
      '/console/%2e%2E/evil',
      '/console/a/../../evil',
      '/console/..',
    ];
    const hosts = ['/console/..//evil.example', '/console/%2e%2e/%2fevil.example', '/../console/..//evil.example'];
    for (const to of [...outside, ...dots, ...hosts]) {
      assert.match((await logIn(visitor(), to)).text, /content="0;url=\/console\/cluster"/);
    }
  });

  it('can be read-only', async () => {
    real.people.set('rob', { grantd_access: ['something', 'read-only'], groups: ['staff', 'others'] });
    real.nextPerson = 'rob';
    const rob = visitor();
    assert.equal((await logIn(rob)).status, 200);
    assert.match((await rob.get('/console/tenants')).text, /oidc:rob.*read-only/s);
    assert.equal((await rob.get('/console/tenants/new')).status, 403);
    assert.equal((await rob.post('/console/tenants', { name: 'Acme', plan: 'free' })).status, 403);
  });

  it('is refused without a claim that gives access, and without every required group', async () => {
    // Which values give access, the tests of tokens say (access.test.ts).
    for (const claims of [{ groups: ['staff'] }, { groups: ['staff'], grantd_access: 'full read-only' }]) {
      real.people.set('ada', claims);
      assertRefused(await logIn(visitor()), 403, /gives you no access/);
    }
    for (const groups of [undefined, [], 'staff2', ['Staff'], 7, { staff: true }]) {
      real.people.set('ada', { grantd_access: 'full', groups });
      assertRefused(await logIn(visitor()), 403, /every group/);
    }
    assert.deepEqual(failures, []);
  });

  it('is refused if the person cancels it, and then counts as a failure', async () => {
    real.nextPerson = undefined;
    assertRefused(await logIn(visitor()), 401, /did not confirm/);
    assert.deepEqual(failures, ['127.0.0.1']);
  });

  it('ends only in the browser in which it began', async () => {
    const answer = await leave(visitor());
    assertRefused(await back(visitor(), answer), 401, /did not begin in this browser/);
    const other = visitor();
    await leave(other);
    assertRefused(await back(other, answer), 401, /did not confirm/);
  });

  it('takes each answer once', async () => {
    const ada = visitor();
    const answer = await leave(ada);
    const { cookie } = ada;
    assert.equal((await back(ada, answer)).status, 200);
    const thief = visitor();
    thief.cookie = cookie;
    assertRefused(await back(thief, answer), 401, /did not confirm/);
  });

  it('is refused with any part of the answer changed', async () => {
    const changes: ((search: URLSearchParams) => void)[] = [
      (search) => search.delete('state'),
      (search) => search.set('state', `${search.get('state')}x`),
      (search) => search.delete('code'),
      (search) => search.set('code', 'another'),
      (search) => search.append('code', 'another'),
      (search) => search.set('iss', 'https://other.example.com'),
      (search) => search.delete('iss'),
    ];
    for (const change of changes) {
      const ada = visitor();
      const answer = await leave(ada);
      change(answer.searchParams);
      assertRefused(await back(ada, answer), 401, /did not confirm/);
    }
  });

  it('is refused with a cookie that was changed, or after ten minutes', async () => {
    const ada = visitor();
    const answer = await leave(ada);
    const { cookie = '' } = ada;
    const sealed = cookie.slice('grantd_log_in='.length);
    for (const wrong of ['', sealed.slice(4), `${sealed.slice(0, 40)}A${sealed.slice(41)}`, 'A'.repeat(200)]) {
      ada.cookie = wrong === sealed ? undefined : `grantd_log_in=${wrong}`;
      assertRefused(await back(ada, answer), 401, /did not begin/);
    }
    ada.cookie = cookie;
    clock.stall(10 * MINUTE_MS);
    assertRefused(await back(ada, answer), 401, /took too long/);
  });

  it('is never refused because others have failed too often; one that fails must wait', async () => {
    const ada = visitor();
    const answer = await leave(ada);
    blocked = true;
    assert.equal((await back(ada, answer)).status, 200);
    real.nextPerson = undefined;
    const visit = await logIn(visitor());
    assertRefused(visit, 429, /Try again in 17 seconds/);
    assert.equal(visit.headers.get('retry-after'), '17');
  });

  it('counts no callback without the cookie of a log-in, which any web page can make a browser send', async () => {
    const answer = await leave(visitor());
    for (const search of ['', '?x=1', '?code=guess&state=guess', answer.search]) {
      for (const cookie of [undefined, 'grantd_log_in=', 'grantd_log_in=guess', `grantd_log_in=${'A'.repeat(200)}`]) {
        const stranger = visitor();
        stranger.cookie = cookie;
        assertRefused(await stranger.get(`/console/log-in/callback${search}`), 401, /did not begin in this browser/);
      }
    }
    blocked = true;
    assertRefused(await visitor().get('/console/log-in/callback?x=1'), 401, /did not begin in this browser/);
    assert.deepEqual(failures, []);
  });

  it('lasts an hour, also for somebody who goes on working', async () => {
    const ada = visitor();
    await logIn(ada);
    for (const [minutes, status] of [
      [25, 200],
      [25, 200],
      [10, 303],
    ] as const) {
      clock.stall(minutes * MINUTE_MS);
      assert.equal((await ada.get('/console/tenants')).status, status);
    }
  });
});

describe('a console whose identity provider fails', () => {
  it('says so, asks again only after a while, and still takes operator tokens', async () => {
    let asked = 0;
    const failing = createServer((_request, response) => {
      asked += 1;
      response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => failing.listen(0, '127.0.0.1', resolve));
    const issuer = `http://127.0.0.1:${(failing.address() as AddressInfo).port}`;
    const identityProvider = createIdentityProvider(
      { clock, random: systemRandom, log },
      { issuer, client, audience: AUDIENCE, claims: rules },
    );
    await using console = await startConsole({ clock, random: systemRandom, identityProvider });
    const ada = new ConsoleVisitor(console.url);
    const Authorization = `Bearer ${await real.sign(real.claims({ iss: issuer }))}`;
    for (let round = 1; round <= 3; round += 1) {
      for (let time = 0; time < 3; time += 1) {
        const visit = await ada.get('/console/log-in/provider');
        assert.equal(visit.status, 503);
        assert.match(visit.text, /identity provider does not respond/);
        assert.equal((await fetch(`${console.url}/operator/v1/plans`, { headers: { Authorization } })).status, 503);
      }
      assert.equal(asked, round);
      clock.stall(5_000);
    }
    await ada.logIn('another-operator-token-of-32-characters');
    await new Promise((resolve) => failing.close(resolve));
  });
});
