// The pages over HTTP, without a browser: who gets in, what changes something, and that whatever was stored comes out
// as text.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { createLogInCode } from '../../../packages/console/src/log-in-code.ts';
import { createApiKey } from '../../../src/core/api-keys.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import { IdFactory, type TenantId } from '../../../src/core/ids.ts';
import type { FailureLimiter } from '../../../src/front/limits/rate-limiter.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { answering } from '../../kit/call-handlers.ts';
import { OPERATOR_NAME, OPERATOR_TOKEN, startConsole, UNKNOWN_TENANT, useConsole } from '../../kit/console-service.ts';
import { ConsoleVisitor } from './console-visitor.ts';

let visitor: ConsoleVisitor;
let blocked: number | undefined;
const failures: string[] = [];
const failureLimiter: FailureLimiter = {
  refusal: () =>
    blocked === undefined
      ? undefined
      : { of: 'address' as const, allowed: false, limit: 60, remaining: 0, resetSeconds: blocked },
  record: (address) => {
    failures.push(address);
  },
};
/** Every quote of a text is escaped, so what stands between two is an attribute's value: it may hold anything. */
function assertNoMarkup(text: string, path: string): void {
  const bare = text.replaceAll(/"[^"]*"/g, '""');
  assert.doesNotMatch(bare, /<script>|<img src=x|<svg onload|<b[ >]|<[^>]*\son\w+=/, path);
}

const context = { requestId: 'req_x', deadlineMs: Number.MAX_VALUE };

const service = await useConsole({ failureLimiter, trustedProxies: ['127.0.0.1'] });
beforeEach(async () => {
  visitor = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
});

async function makeTenant(name = 'Acme'): Promise<TenantId> {
  return (await service.operator.createTenant(context, { name, plan: 'free', operator: 'test' })).tenantId;
}

describe('a log-in link', () => {
  const start = async (token: string) => {
    const logInCode = createLogInCode({ clock: systemClock, random: systemRandom }, { token });
    const trustedProxies = ['127.0.0.1'];
    const linked = await startConsole({
      clock: systemClock,
      random: systemRandom,
      failureLimiter,
      trustedProxies,
      logInCode,
    });
    return { linked, code: logInCode.path.split('#code=')[1] ?? '' };
  };

  it('is for this machine only, also through a proxy of it', async (test) => {
    const { linked, code } = await start(OPERATOR_TOKEN);
    test.after(() => linked.close());
    const far = new ConsoleVisitor(linked.url);
    const headers = { 'X-Forwarded-For': '192.0.2.7' };
    assert.equal((await far.post('/console/log-in', { code }, headers)).status, 401);
    assert.equal((await far.post('/console/log-in', { code })).status, 303);
  });

  it('opens nothing where its token is not one that was given out, or where there is no link', async (test) => {
    const { linked, code } = await start('a-token-that-nobody-was-given-out-0000000');
    test.after(() => linked.close());
    assert.equal((await new ConsoleVisitor(linked.url).post('/console/log-in', { code })).status, 401);
    assert.equal((await new ConsoleVisitor(service.url).post('/console/log-in', { code })).status, 401);
  });
});

describe('the log-in', () => {
  it('is where every page leads without a session, and back to that page', async () => {
    const stranger = new ConsoleVisitor(service.url);
    assert.equal((await stranger.get('/')).headers.get('location'), '/console/');
    const visit = await stranger.get('/console/tenants?q=a%26b');
    assert.equal(visit.status, 303);
    const logIn = visit.headers.get('location') ?? '';
    const page = await stranger.get(logIn);
    const to = /name="to" value="([^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const done = await stranger.post('/console/log-in', { token: OPERATOR_TOKEN, to });
    assert.equal(done.headers.get('location'), '/console/tenants?q=a%26b');
  });

  it('leads to no other place than the console', async () => {
    for (const to of [
      'https://evil.example/',
      '//evil.example',
      '/console//evil.example',
      '/operator/v1/plans',
      '/console/\r\nX: y',
      '\\\\evil',
    ]) {
      const stranger = new ConsoleVisitor(service.url);
      const done = await stranger.post('/console/log-in', { token: OPERATOR_TOKEN, to });
      assert.equal(done.headers.get('location'), '/console/cluster', to);
    }
  });

  it('refuses another token beside the field, and counts it by address', async () => {
    failures.length = 0;
    const stranger = new ConsoleVisitor(service.url);
    for (const token of ['', 'wrong', `${OPERATOR_TOKEN}x`]) {
      const visit = await stranger.post('/console/log-in', { token }, { 'X-Forwarded-For': '192.0.2.7' });
      assert.equal(visit.status, 401);
      assert.match(visit.text, /aria-invalid="true"[^>]*|id="token-error"/);
      assert.ok(!visit.text.includes('value="wrong"'));
      assert.equal(visit.headers.get('set-cookie'), null);
    }
    // Without a token nothing was guessed.
    assert.deepEqual(failures, ['192.0.2.7', '192.0.2.7']);
  });

  it('tells an address that failed too often to wait, but for a good token', async () => {
    blocked = 42;
    try {
      const visit = await new ConsoleVisitor(service.url).post('/console/log-in', { token: 'wrong' });
      assert.equal(visit.status, 429);
      assert.equal(visit.headers.get('retry-after'), '42');
      assert.match(visit.text, /42 seconds/);
      const good = await new ConsoleVisitor(service.url).post('/console/log-in', { token: OPERATOR_TOKEN });
      assert.equal(good.status, 303);
      // Who is logged in goes on.
      assert.equal((await visitor.get('/console/tenants')).status, 200);
    } finally {
      blocked = undefined;
    }
  });

  it('gives a cookie that no script reads and no other site sends; over TLS, bound to the host', async () => {
    const plain = await new ConsoleVisitor(service.url).post('/console/log-in', { token: OPERATOR_TOKEN });
    assert.match(
      plain.headers.get('set-cookie') ?? '',
      /^grantd_console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const stranger = new ConsoleVisitor(service.url);
    stranger.headers = { 'X-Forwarded-Proto': 'https' };
    const secure = await stranger.post('/console/log-in', { token: OPERATOR_TOKEN });
    assert.match(
      secure.headers.get('set-cookie') ?? '',
      /^__Host-grantd_console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    assert.equal((await stranger.get('/console/tenants')).status, 200);
  });

  it('ends the session that the browser had', async () => {
    const { cookie } = visitor;
    await visitor.post('/console/log-in', { token: OPERATOR_TOKEN });
    assert.notEqual(visitor.cookie, cookie);
    visitor.cookie = cookie;
    assert.equal((await visitor.get('/console/tenants')).status, 303);
  });
});

describe('a session', () => {
  it('is of no use after log-out', async () => {
    const { cookie } = visitor;
    const out = await visitor.post('/console/log-out', {});
    assert.equal(out.headers.get('location'), '/console/log-in?done=logged-out');
    assert.match(out.headers.get('set-cookie') ?? '', /Max-Age=0$/);
    assert.equal(visitor.cookie, undefined);
    visitor.cookie = cookie;
    const visit = await visitor.get('/console/tenants');
    assert.equal(visit.status, 303);
    assert.equal((await visitor.post('/console/tenants', { name: 'x', plan: 'free' })).status, 303);
  });

  it('makes a part that renews itself lead the whole window to the log-in', async () => {
    const stranger = new ConsoleVisitor(service.url);
    const visit = await stranger.get('/console/cluster/live', {
      'HX-Request': 'true',
      'HX-Current-URL': `${service.url}/console/cluster`,
    });
    assert.equal(visit.status, 401);
    assert.equal(visit.headers.get('hx-redirect'), '/console/log-in?to=%2Fconsole%2Fcluster');
  });

  it('opens no operation of the JSON API', async () => {
    assert.equal((await visitor.get('/operator/v1/plans')).status, 401);
  });
});

describe('a change', () => {
  // That each form does, a table of all pages says (operator/access.test.ts).
  it('needs a form of the same session, and ends no session otherwise', async () => {
    const other = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
    for (const csrf of ['', 'x', other.csrf, visitor.cookie ?? '']) {
      for (const path of ['/console/log-out', '/console/tenants']) {
        assert.equal((await visitor.post(path, { csrf, name: 'x', plan: 'scale' })).status, 403, path);
      }
    }
    assert.equal((await visitor.get('/console/tenants')).status, 200);
  });

  it('has a form with the fields that its page reads', async () => {
    const tenantId = await makeTenant();
    const session = await service.operator.tenant(context, tenantId, 'bob');
    const { record } = await session.createKey(context, { name: 'k', scopes: 1, expiresAtMs: undefined });
    await session.call('writeGrants', context, [
      { subject: 'user:ada', relation: 'viewer', object: 'doc:1', revoke: false },
    ]);
    const tenant = `/tenants/${tenantId}`;
    for (const [page, action, fields] of [
      ['/tenants/new', '/tenants', 'name plan'],
      [tenant, `${tenant}/name`, 'shown name'],
      [tenant, `${tenant}/plan`, 'shown plan'],
      [tenant, `${tenant}/readers`, 'shown readers'],
      [`${tenant}/suspend`, `${tenant}/suspend`, ''],
      [`${tenant}/resume`, `${tenant}/resume`, ''],
      [`${tenant}/delete`, `${tenant}/delete`, 'typed'],
      [`${tenant}/keys`, `${tenant}/keys`, 'name scopes expires'],
      [`${tenant}/keys/${record.keyId}/rotate`, `${tenant}/keys/${record.keyId}/rotate`, 'grace'],
      [`${tenant}/keys/${record.keyId}/revoke`, `${tenant}/keys/${record.keyId}/revoke`, ''],
      ['/identify-key', '/identify-key', 'key'],
      [`${tenant}/namespaces`, `${tenant}/namespaces`, 'name'],
      [`${tenant}/grants/new`, `${tenant}/grants`, 'subject relation object expires expires-at'],
      [
        `${tenant}/grants/revoke?subject=user:ada&relation=viewer&object=doc:1`,
        `${tenant}/grants/revoke`,
        'subject relation object',
      ],
      [`${tenant}/grants/revoke-all?subject=user:ada`, `${tenant}/grants/revoke-all`, 'subject total typed'],
      [`${tenant}/grants/lines`, `${tenant}/grants/lines`, 'lines'],
      [`${tenant}/grants?object=doc:1`, `${tenant}/grants/holders`, 'object relation context context_grants'],
      [`${tenant}/objects`, `${tenant}/objects`, 'subject relation namespace context context_grants'],
      [`${tenant}/check`, `${tenant}/check`, 'subject relation object context context_grants'],
      [`${tenant}/check/many`, `${tenant}/check/many`, 'lines context context_grants'],
      [`${tenant}/rules`, `${tenant}/rules`, 'revision rules action'],
      ['/audit-log', '/audit-log', 'tenant action actor subject object request_id since until'],
      [`${tenant}/audit-log`, `${tenant}/audit-log`, 'action actor subject object request_id since until'],
      [`${tenant}/changes`, `${tenant}/changes`, 'from action namespace relation'],
      ['/tenants', '/tenants', 'q plan state sort'],
      [`${tenant}/keys`, '/search', 'tenant q'],
    ] as const) {
      const { text } = await visitor.get(`/console${page}`);
      const form = text.split('<form').find((each) => each.includes(`action="/console${action}"`)) ?? '';
      const names = [...form.slice(0, form.indexOf('</form>')).matchAll(/ name="([^"]+)"/g)].map(([, name]) => name);
      assert.deepEqual([...new Set(names)].filter((name) => name !== 'csrf').join(' '), fields, action);
      if (form.includes('method="post"')) assert.ok(names.includes('csrf'), action);
    }
  });

  it('is refused where another site sent the form', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const visit = await visitor.post('/console/tenants', { name: 'x', plan: 'free' }, { 'Sec-Fetch-Site': site });
      assert.equal(visit.status, 403);
      const logIn = await new ConsoleVisitor(service.url).post(
        '/console/log-in',
        { token: OPERATOR_TOKEN },
        { 'Sec-Fetch-Site': site },
      );
      assert.equal(logIn.status, 403);
    }
  });

  it('is told to the cluster with the name of the token', async () => {
    const visit = await visitor.post('/console/tenants', { name: 'New one', plan: 'standard' });
    assert.equal(visit.status, 303);
    assert.equal(service.operator.calls.findLast(({ name }) => name === 'createTenant')?.operator, OPERATOR_NAME);
    assert.match((await visitor.get(visit.headers.get('location') ?? '')).text, /Tenant created/);
  });

  it('that is refused keeps what was typed, beside what was wrong', async () => {
    const name = 'x'.repeat(257);
    const visit = await visitor.post('/console/tenants', { name, plan: 'scale' });
    assert.equal(visit.status, 422);
    assert.ok(visit.text.includes(`value="${name}"`));
    assert.match(visit.text, /<option value="scale" selected>/);
    assert.match(visit.text, /id="name-error"[^>]*>This must have 1 to 256 characters/);
    service.operator.faults.push(new GrantdError('unavailable', 'Not now.'));
    const away = await visitor.post('/console/tenants', { name: 'Kept', plan: 'scale' });
    assert.equal(away.status, 503);
    assert.match(away.text, /value="Kept"/);
    assert.match(away.text, /role="alert"[^>]*>Not now\./);
  });

  it('does not undo what another operator changed meanwhile', async () => {
    const tenantId = await makeTenant();
    const path = `/console/tenants/${tenantId}`;
    await visitor.get(path);
    await service.operator.call('updateTenant', context, {
      tenantId,
      plan: 'scale',
      name: 'Renamed',
      readers: 3,
      operator: 'bob',
    });
    const plan = await visitor.post(`${path}/plan`, { shown: 'free', plan: 'standard' });
    assert.equal(plan.status, 409);
    assert.match(plan.text, /changed this to “scale” in the meantime/);
    const name = await visitor.post(`${path}/name`, { shown: 'Acme', name: 'Mine' });
    assert.equal(name.status, 409);
    assert.match(name.text, /value="Mine"/);
    const readers = await visitor.post(`${path}/readers`, { shown: 'plan', readers: '5' });
    assert.equal(readers.status, 409);
    assert.match(readers.text, /changed this to 3 in the meantime/);
    assert.match(readers.text, /name="shown" value="3"/);
    assert.equal((await service.operator.call('readTenant', context, { tenantId })).readers, 3);
    assert.equal((await service.operator.call('readTenant', context, { tenantId })).plan, 'scale');
    assert.equal((await visitor.post(`${path}/plan`, { shown: 'scale', plan: 'standard' })).status, 303);
  });

  it('sets the number of readers, and returns to that of the plan', async () => {
    const tenantId = await makeTenant();
    const path = `/console/tenants/${tenantId}`;
    const set = async (shown: string, readers: string) => {
      const visit = await visitor.post(`${path}/readers`, { shown, readers });
      const page = visit.status === 303 ? await visitor.get(visit.headers.get('location') ?? '') : visit;
      const [, fact] = /<dt>Readers<\/dt>\s*<dd>([^<]*)<\/dd>/.exec(page.text) ?? [];
      const [, select = ''] = /<select[^>]*name="readers"[^>]*>(.*?)<\/select>/s.exec(page.text) ?? [];
      const [, selected] = /<option value="(\w+)" selected/.exec(select) ?? [];
      return [visit.status, fact, selected];
    };
    assert.deepEqual(await set('plan', '16'), [303, '16', '16']);
    assert.deepEqual(await set('16', '0'), [303, '0', '0']);
    assert.deepEqual(await set('0', 'plan'), [303, '0', 'plan']);
    for (const readers of ['17', '-1', '01', 'x', '']) {
      assert.equal((await set('plan', readers))[0], 422, readers);
    }
    const { readers } = await service.operator.call('readTenant', context, { tenantId });
    assert.equal(readers, undefined);
    const auditLog = (await visitor.get(`${path}/audit-log`)).text;
    assert.match(auditLog, /, 16 readers/);
    assert.match(auditLog, /, 0 readers/);
  });

  it('revokes a key that another operator revoked meanwhile without a fault', async () => {
    const tenantId = await makeTenant();
    const session = await service.operator.tenant(context, tenantId, 'bob');
    const { record } = await session.createKey(context, { name: 'k', scopes: 1, expiresAtMs: undefined });
    await session.call('revokeKey', context, record.keyId);
    const visit = await visitor.post(`/console/tenants/${tenantId}/keys/${record.keyId}/revoke`, {});
    assert.equal(visit.status, 303);
    assert.match((await visitor.get(visit.headers.get('location') ?? '')).text, /had already been revoked/);
  });

  it('deletes only where the name or the id is typed', async () => {
    const tenantId = await makeTenant('Acme & Sons');
    const path = `/console/tenants/${tenantId}/delete`;
    for (const typed of ['', 'acme & sons', 'Acme']) {
      const visit = await visitor.post(path, { typed });
      assert.equal(visit.status, 422);
      assert.ok(visit.text.includes('typed-error'));
    }
    assert.equal((await service.operator.call('readTenant', context, { tenantId })).state, 'active');
    assert.equal((await visitor.post(path, { typed: 'Acme & Sons' })).status, 303);
    assert.match((await visitor.get(`/console/tenants/${tenantId}`)).text, /id="deletion"/);
    await service.operator.finishDeletions();
    assert.match((await visitor.get(`/console/tenants/${tenantId}/deletion`)).text, /Tenant deleted/);
    // A small tenant is gone before the redirection is followed.
    const gone = await visitor.get(`/console/tenants/${tenantId}`);
    assert.equal(gone.status, 404);
    assert.match(gone.text, /Tenant deleted.*audit-log/s);
    const never = await visitor.get(`/console/tenants/${tenantId.slice(0, -3)}000`);
    assert.equal(never.status, 404);
    assert.doesNotMatch(never.text, /Tenant deleted/);
  });
});

describe('a key', () => {
  it('is shown in the answer to the form that made it, and never again', async () => {
    const tenantId = await makeTenant();
    const path = `/console/tenants/${tenantId}/keys`;
    const made = await visitor.post(path, {
      name: 'first',
      scopes: ['check:read', 'admin'],
      expires: '2999-01-31T12:30',
    });
    assert.equal(made.status, 200);
    const key = /gk1_[0-9A-Za-z]{81}/.exec(made.text)?.[0];
    assert.ok(key !== undefined);
    const again = await visitor.get(path);
    assert.ok(!again.text.includes(key));
    assert.match(again.text, /2999-01-31 12:30 UTC/);
  });

  it('is rotated: the new one is shown once, and the former one tells when it ends', async () => {
    const tenantId = await makeTenant();
    const session = await service.operator.tenant(context, tenantId, 'bob');
    const { record } = await session.createKey(context, { name: '<i>', scopes: 1, expiresAtMs: undefined });
    const keys = `/console/tenants/${tenantId}/keys`;
    const path = `${keys}/${record.keyId}/rotate`;
    assert.match((await visitor.get(keys)).text, new RegExp(`href="${path}"`));
    assert.match((await visitor.get(path)).text, /<option value="86400000" selected>24 hours/);
    const unknown = await visitor.post(path, { grace: '86400001' });
    assert.equal(unknown.status, 422);
    assert.match(unknown.text, /id="grace-error"/);
    const rotated = await visitor.post(path, { grace: '86400000' });
    assert.equal(rotated.status, 200);
    const key = /gk1_[0-9A-Za-z]{81}/.exec(rotated.text)?.[0];
    assert.ok(key !== undefined);
    assert.doesNotMatch(rotated.text, /<i>/);
    const again = await visitor.get(keys);
    assert.ok(!again.text.includes(key));
    // 24 if rotation and page fall into the same millisecond.
    assert.match(again.text, /ends in 2[34] hours/);
    assert.doesNotMatch(again.text, new RegExp(`href="${path}"`), 'it is not rotated twice');
    const second = await visitor.post(path, { grace: '0' });
    assert.equal(second.status, 409);
    assert.match(second.text, /role="alert"/);
  });

  it('is identified by its text, which no page, address or call has afterwards', async () => {
    const tenantId = await makeTenant('Acme <b>');
    const session = await service.operator.tenant(context, tenantId, 'bob');
    const { record, text } = await session.createKey(context, { name: 'ci', scopes: 1, expiresAtMs: undefined });
    const path = '/console/identify-key';
    const form = await visitor.get(path);
    assert.match(form.text, /<form method="post" action="\/console\/identify-key"/);
    const found = await visitor.post(path, { key: `  ${text}\n` });
    assert.equal(found.status, 200);
    assert.match(found.text, /It is this key, and it works/);
    assert.match(found.text, new RegExp(`/console/tenants/${tenantId}/keys/${record.keyId}/revoke`));
    // The same ids, another secret.
    const forged = createApiKey({ tenantId, keyId: record.keyId }, systemRandom);
    const foreign = await visitor.post(path, { key: forged });
    assert.match(foreign.text, /has a key with this ID, but the secret is not its own/);
    assert.doesNotMatch(foreign.text, /\/revoke"/);
    await session.call('revokeKey', context, record.keyId);
    const revoked = await visitor.post(path, { key: text });
    assert.match(revoked.text, /has no such key now/);
    const nobody = new IdFactory(systemClock, systemRandom).create('ten');
    const elsewhere = createApiKey({ tenantId: nobody, keyId: record.keyId }, systemRandom);
    assert.match((await visitor.post(path, { key: elsewhere })).text, /No tenant of this cluster/);
    const cut = await visitor.post(path, { key: text.slice(0, -1) });
    assert.equal(cut.status, 422);
    assert.match(cut.text, /it has 84 characters/);
    for (const visit of [form, found, foreign, revoked, cut]) {
      assert.doesNotMatch(visit.text, /gk1_[0-9A-Za-z]{40}/);
      assert.doesNotMatch(JSON.stringify([...visit.headers]), /gk1_/);
    }
    assert.doesNotMatch(JSON.stringify(service.operator.calls), /gk1_/);
    // In an address, it is not looked at.
    assert.doesNotMatch((await visitor.get(`${path}?key=${text}`)).text, /gk1_[0-9A-Za-z]{40}/);
  });

  it('is not made without a scope, with a wrong one or with an end in the past', async () => {
    const path = `/console/tenants/${await makeTenant()}/keys`;
    const cases: readonly (readonly [Record<string, string | string[]>, string])[] = [
      [{ name: 'k' }, 'scopes-error'],
      [{ name: 'k', scopes: 'root' }, 'scopes-error'],
      [{ name: 'k', scopes: 'admin', expires: '2001-01-31T12:30' }, 'expires-error'],
      [{ name: 'k', scopes: 'admin', expires: 'soon' }, 'expires-error'],
      [{ name: 'k', scopes: 'admin', expires: '2999-13-31T12:30' }, 'expires-error'],
    ];
    for (const [fields, error] of cases) {
      const visit = await visitor.post(path, fields);
      assert.equal(visit.status, 422);
      assert.ok(visit.text.includes(error), JSON.stringify(fields));
      assert.match(visit.text, /value="k"/);
    }
  });
});

describe('the overview of a tenant', () => {
  it('says how many grants it has of how many', async () => {
    const tenantId = await makeTenant();
    const session = await service.operator.tenant(context, tenantId, 'test');
    const tuple = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' } as const;
    await session.call('writeGrants', context, [{ ...tuple, revoke: false }]);
    assert.match((await visitor.get(`/console/tenants/${tenantId}`)).text, /1 of 1,000,000 \(1 KiB\)/);
  });
});

describe('whatever is shown', () => {
  const HOSTILE = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</title><svg onload=alert(1)>',
    '&lt;b&gt;&amp;',
    '</title></textarea><b hx-get="/console/log-out" hx-trigger="load">x</b>',
    '\u202egnirts\u202c \u200f',
    '𐍈'.repeat(256),
  ];

  it('is text, on every page', async () => {
    for (const name of HOSTILE) {
      const tenantId = await makeTenant(name);
      const session = await service.operator.tenant(context, tenantId, `op-${name}`);
      const id = `user:${name.replaceAll(/\s/g, '_').slice(0, 256)}`;
      await session.call('writeGrants', context, [{ subject: id, relation: 'viewer', object: id, revoke: false }]);
      await session.createKey(context, { name, scopes: 1, expiresAtMs: undefined });
      const base = `/console/tenants/${tenantId}`;
      const subject = encodeURIComponent(id);
      const paths = [
        '',
        '/keys',
        '/grants',
        `/grants?subject=${subject}`,
        `/grants?object=${subject}`,
        `/grants/revoke-all?object=${subject}`,
        '/grants/lines',
        '/rules',
        `/grants?object=${subject}&relation=viewer`,
        `/objects?subject=${subject}&relation=viewer`,
        `/check?subject=${subject}&relation=viewer&object=${subject}`,
        '/audit-log',
        '/delete',
        '/suspend',
      ];
      for (const path of [...paths.map((each) => base + each), `/console/tenants?q=${encodeURIComponent(name)}`]) {
        const { status, text } = await visitor.get(path);
        assert.equal(status, 200, path);
        assertNoMarkup(text, path);
      }
    }
  });

  it('is shown where a form gave it back', async () => {
    const tenantId = await makeTenant();
    for (const name of HOSTILE.slice(0, 6)) {
      for (const path of [
        '/grants',
        '/grants/lines',
        '/grants/revoke-all',
        '/namespaces',
        '/name',
        '/delete',
        '/keys',
        '/rules',
        '/rules/validate',
      ]) {
        const fields = {
          rules: name,
          revision: name,
          action: name,
          subject: name,
          relation: name,
          object: name,
          name,
          typed: name,
          shown: name,
          lines: name,
        };
        const { text } = await visitor.post(`/console/tenants/${tenantId}${path}`, fields);
        assertNoMarkup(text, path);
      }
    }
  });

  it('has a strict policy, is not kept, and loads only files with a hash in their name', async () => {
    const visit = await visitor.get('/console/tenants');
    const policy = visit.headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.ok(!/unsafe|\*|http/.test(policy));
    assert.equal(visit.headers.get('cache-control'), 'no-store');
    assert.equal(visit.headers.get('x-content-type-options'), 'nosniff');
    const assets = [...visit.text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
    assert.ok(assets.length >= 5);
    for (const path of assets) {
      assert.match(path, /-[0-9a-f]{16}\.(css|js|svg)$/);
      const asset = await new ConsoleVisitor(service.url).get(path);
      assert.equal(asset.status, 200);
      assert.match(asset.headers.get('cache-control') ?? '', /immutable/);
    }
    assert.equal((await visitor.get('/console/assets/console.js')).status, 404);
    assert.doesNotMatch(visit.text, /<script>|<style|https?:\/\//);
  });
});

describe('the page with the editor of rules', () => {
  it('allows the style sheet of the editor alone, by a nonce of this response', async () => {
    const tenantId = await makeTenant();
    const nonces = new Set<string>();
    for (let visits = 0; visits < 2; visits += 1) {
      const { text, headers } = await visitor.get(`/console/tenants/${tenantId}/rules`);
      const policy = headers.get('content-security-policy') ?? '';
      const [, nonce = ''] = /; style-src 'self' 'nonce-([A-Za-z0-9+/=]{24})';/.exec(policy) ?? [];
      assert.match(policy, /^default-src 'none'; script-src 'self'; /);
      assert.ok(text.includes(`nonce="${nonce}"`));
      nonces.add(nonce);
      const script = /<script type="module" src="([^"]+)"/.exec(text)?.[1] ?? '';
      assert.match(script, /-[0-9a-f]{16}\.js$/);
      assert.equal((await new ConsoleVisitor(service.url).get(script)).status, 200);
    }
    assert.equal(nonces.size, 2);
  });
});

describe('what is not there', () => {
  it('is a page that says what to do next', async () => {
    for (const id of [UNKNOWN_TENANT, 'x', '%2E.%2F', '%3Cscript%3E']) {
      for (const path of [
        '',
        '/keys',
        '/grants',
        '/namespaces',
        '/objects',
        '/check',
        '/rules',
        '/audit-log',
        '/delete',
        '/usage',
      ]) {
        const visit = await visitor.get(`/console/tenants/${id}${path}`);
        assert.equal(visit.status, 404, `${id}${path}`);
        assert.match(visit.headers.get('content-type') ?? '', /^text\/html/);
        assert.ok(!visit.text.includes('<script>'));
      }
      assert.equal((await visitor.post(`/console/tenants/${id}/keys`, { name: 'x', scopes: 'admin' })).status, 404);
    }
    for (const path of ['/console/nothing', '/console/tenants/', '/console/%ff', '/console/Tenants']) {
      assert.equal((await visitor.get(path)).status, 404, path);
    }
    const wrong = await visitor.post('/console/cluster', {});
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get('allow'), 'GET');
  });

  it('is another tenant’s key, too', async () => {
    const [mine, other] = [await makeTenant(), await makeTenant()];
    const session = await service.operator.tenant(context, other, 'bob');
    const { record } = await session.createKey(context, { name: 'k', scopes: 1, expiresAtMs: undefined });
    await visitor.post(`/console/tenants/${mine}/keys/${record.keyId}/revoke`, {});
    assert.equal((await session.call('listKeys', context, { limit: 10, cursor: undefined })).items.length, 1);
  });

  it('says nothing of an inner error', async () => {
    service.operator.faults.push(new Error('a secret of the inside'));
    const visit = await visitor.get('/console/tenants');
    assert.equal(visit.status, 500);
    assert.ok(!visit.text.includes('secret'));
    assert.match(visit.text, /req_[0-9a-z]{26}/);
  });
});

describe('long listings', () => {
  it('that are cut short say that they go on, and not that there is nothing', async () => {
    const tenantId = await makeTenant('Revoked');
    const { operator } = service;
    const tenant = operator.tenant.bind(operator);
    const nextCursor = 'further';
    operator.tenant = async (...asked) =>
      answering(await tenant(...asked), {
        listObjects: async () => ({ items: [], nextCursor }),
        listGrants: async () => ({ items: [], nextCursor, feedCursor: 'now' }),
      });
    try {
      for (const path of [
        '/grants?subject=user:a',
        '/grants?object=doc:a',
        '/objects?subject=user:a&relation=viewer',
      ]) {
        const { text } = await visitor.get(`/console/tenants/${tenantId}${path}`);
        assert.match(text, /continue with the next page/);
        assert.match(text, /rel="next" href="[^"]*cursor=further/);
        assert.doesNotMatch(text, /holds nothing|No object/);
      }
    } finally {
      operator.tenant = tenant;
    }
  });

  it('are pages: those of a subject with 20,000 grants', async () => {
    const tenantId = await makeTenant('Large');
    const session = await service.operator.tenant(context, tenantId, 'bob');
    for (let from = 0; from < 20_000; from += 1000) {
      const grants = Array.from({ length: 1000 }, (_, index) => ({
        subject: 'user:large',
        relation: 'viewer' as const,
        object: `document:${from + index}`,
        revoke: false,
      }));
      await session.call('writeGrants', context, grants);
    }
    // Processor time: the machine may be busy.
    const start = process.threadCpuUsage();
    for (const path of [
      '/grants?subject=user:large',
      '/grants?object=doc:large',
      '/objects?subject=user:large&relation=viewer',
      '/audit-log',
      '/grants',
    ]) {
      const visit = await visitor.get(`/console/tenants/${tenantId}${path}`);
      assert.equal(visit.status, 200);
      assert.ok(visit.text.length < 120_000, `${path}: ${visit.text.length}`);
    }
    const { user, system } = process.threadCpuUsage(start);
    assert.ok((user + system) / 1000 < 5000, `${(user + system) / 1000} ms`);
    const check = await visitor.get(
      `/console/tenants/${tenantId}/check?subject=user:large&relation=viewer&object=document:999`,
    );
    assert.match(check.text, /Authorized/);
  });
});
