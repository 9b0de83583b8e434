// The search of the console, and the audit log of all tenants: each ID leads where it belongs, and what is not found is
// said, with how far the search got.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import { OPERATOR_NAME, OPERATOR_TOKEN, UNKNOWN_TENANT, useConsole } from '../../../kit/console-service.ts';
import { ConsoleVisitor } from '../console-visitor.ts';

const service = await useConsole();
const context = { requestId: 'req_00000000000000000000000000', deadlineMs: Number.MAX_VALUE };
let visitor: ConsoleVisitor;
let acme: TenantId;
let globex: TenantId;

const createTenant = async (name: string): Promise<TenantId> =>
  (await service.operator.createTenant(context, { name, plan: 'free', operator: 'test' })).tenantId;

async function grant(tenantId: TenantId, subject: string, object: string): Promise<void> {
  const session = await service.operator.tenant(context, tenantId, OPERATOR_NAME);
  await session.call('writeGrants', context, [{ subject, relation: 'viewer', object, revoke: false }]);
}

before(async () => {
  visitor = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
  acme = await createTenant('Acme');
  globex = await createTenant('Globex');
  await grant(acme, 'user:ann', 'doc:1');
  await grant(globex, 'user:bob', 'doc:1');
  await grant(globex, 'doc:1', 'folder:1');
});

const search = (q: string, tenant?: string) =>
  visitor.post('/console/search', { q, ...(tenant === undefined ? {} : { tenant }) });
/** Where the search leads, without the prefix. */
async function leads(q: string, tenant?: string): Promise<string> {
  const { status, headers } = await search(q, tenant);
  assert.equal(status, 303, q);
  return decodeURIComponent((headers.get('location') ?? '').replace('/console', ''));
}

async function entriesOf(tenantId: TenantId) {
  const query = { tenantId, limit: 100, cursor: undefined };
  return (await service.operator.call('listAuditLog', context, query)).items;
}

describe('the search', () => {
  it('leads to a tenant, and to the list for a part of its name', async () => {
    assert.equal(await leads(acme), `/tenants/${acme}`);
    assert.equal(await leads(` ${acme} `), `/tenants/${acme}`);
    assert.equal(await leads('glob'), '/tenants?q=glob');
    const { status, text } = await search(UNKNOWN_TENANT);
    assert.equal(status, 404);
    assert.match(text, /No tenant has this ID/);
  });

  it('leads to a key, whichever tenant has it, and says what an API key is without showing it', async () => {
    const session = await service.operator.tenant(context, globex, OPERATOR_NAME);
    const { record, text: key } = await session.createKey(context, { name: 'ci', scopes: 1, expiresAtMs: undefined });
    assert.equal(await leads(record.keyId), `/tenants/${globex}/keys/${record.keyId}`);
    assert.equal(await leads(record.keyId, acme), `/tenants/${globex}/keys/${record.keyId}`);
    const keyPage = await visitor.get(`/console/tenants/${globex}/keys/${record.keyId}`);
    assert.match(keyPage.text, /“<bdi class="foreign">ci<\/bdi>”/);
    const { status, text } = await search(key);
    assert.equal(status, 200);
    assert.match(text, /It is this key, and it works/);
    assert.ok(!text.includes(key));
    // Nor does a part of a key become part of an address.
    const part = await search(key.slice(0, 40));
    assert.deepEqual(
      [part.status, part.headers.get('location'), part.text.includes(key.slice(0, 40))],
      [404, null, false],
    );
    await session.call('revokeKey', context, record.keyId);
    assert.match(await leads(record.keyId), new RegExp(`^/tenants/${globex}/audit-log\\?request_id=req_`));
    const gone = await search(`key_${'0'.repeat(26)}`);
    assert.deepEqual([gone.status, /All tenants were looked at: \d+\./.test(gone.text)], [404, true]);
  });

  it('leads from a request and from a grant to what changed, in whichever tenant', async () => {
    const entry = (await entriesOf(globex)).find(({ change }) => change.includes('user:bob'));
    const { requestId = '', change = '{}' } = entry ?? {};
    const { grant_id: grantId } = JSON.parse(change);
    assert.equal(await leads(requestId, globex), `/tenants/${globex}/audit-log?request_id=${requestId}`);
    assert.equal(await leads(grantId), `/tenants/${globex}/audit-log?subject=user:bob&request_id=${requestId}`);
    const nothing = await search('req_01m8f6d6ksfr4af4h8rxjny81c');
    assert.equal(nothing.status, 404);
    assert.match(nothing.text, /No change with this request found/);
    assert.match(nothing.text, /Search in one tenant/);
    assert.equal((await search(`req_${'u'.repeat(26)}`)).status, 404);
  });

  it('leads to the side on which a subject or an object has grants, or offers both', async () => {
    assert.equal(await leads('user:ann'), `/tenants/${acme}/grants?subject=user:ann`);
    assert.equal(await leads('folder:1'), `/tenants/${globex}/grants?object=folder:1`);
    assert.equal(await leads('doc:1', acme), `/tenants/${acme}/grants?object=doc:1`);
    const both = await search('doc:1', globex);
    assert.match(both.text, /is both/);
    const all = await search('doc:1');
    for (const tenantId of [acme, globex]) assert.ok(all.text.includes(`/tenants/${tenantId}/grants?object=doc%3A1`));
    const nothing = await search('user:nobody');
    assert.equal(nothing.status, 404);
    assert.match(nothing.text, /All tenants were looked at: \d+\./);
    assert.match((await search('user:nobody', acme)).text, /No grants found/);
  });

  it('explains itself', async () => {
    assert.match((await visitor.get('/console/search')).text, /The field at the top of every page finds/);
    assert.equal((await search('')).status, 200);
  });
});

describe('the audit log of all tenants', () => {
  const read = (query = '') => visitor.get(`/console/audit-log${query}`);
  const rowsIn = (text: string): number => (text.match(/<tr role="row">/g)?.length ?? 1) - 1;

  it('shows the changes of every tenant, newest first, with its name, and narrows them', async () => {
    const all = await read();
    assert.equal(all.status, 200);
    assert.ok(all.text.indexOf('folder:1') < all.text.indexOf('user:bob'));
    for (const name of ['Acme', 'Globex']) assert.ok(all.text.includes(`<bdi class="foreign">${name}</bdi>`));
    assert.equal(rowsIn((await read('?action=grant.created')).text), 3);
    assert.equal(rowsIn((await read('?subject=user%3Aann')).text), 1);
    assert.equal(rowsIn((await read('?range=hour&action=tenant.created')).text), 2);
    assert.match((await read('?subject=user%3Anobody')).text, /No entry found/);
    assert.match((await read('?until=2020-01-01T00%3A00')).text, /No entry found/);
    const wrong = await read('?subject=ann&tenant=acme');
    assert.equal(wrong.status, 422);
    const { headers } = await read(`?tenant=${acme}&action=grant.created`);
    assert.equal(headers.get('location'), `/console/tenants/${acme}/audit-log?action=grant.created`);
  });

  it('continues with the older ones of a page, and leaves none out', async () => {
    for (let index = 0; index < 60; index += 1) await grant(acme, `user:n${index}`, 'doc:many');
    const seen = new Set<string>();
    let path: string | undefined = '?object=doc%3Amany';
    for (let pages = 0; path !== undefined && pages < 10; pages += 1) {
      const { text } = await read(path);
      for (const [, subject = ''] of text.matchAll(/<bdi class="foreign">(user:n\d+)</g)) seen.add(subject);
      path = /rel="next" href="\/console\/audit-log([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    assert.equal(seen.size, 60);
  });

  it('is a file in two forms, of all tenants and of one, in which no text is a formula', async () => {
    const rita = await createTenant('=HYPERLINK("x")');
    const file = (path: string) => visitor.get(`/console/${path}`);
    const lines = await file('audit-log/file?format=ndjson&action=grant.created');
    assert.match(lines.headers.get('content-disposition') ?? '', /^attachment; filename="audit-log\.ndjson"$/);
    const entries = lines.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(entries.length, 63);
    assert.ok(entries.every(({ change }) => change.action === 'grant.created'));
    const csv = await file('audit-log/file?format=csv');
    assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/);
    assert.match(csv.text, /^at,tenant_id,action,actor,subject,relation,object,request_id,seq,index,change\r\n/);
    assert.match(csv.text, /,grant\.created,operator:alice,user:ann,viewer,doc:1,req_/);
    assert.doesNotMatch(csv.text, /(?:^|,)"?=/m);
    const own = await file(`tenants/${rita}/audit-log/file?format=ndjson`);
    assert.deepEqual(
      own.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).change.action),
      ['tenant.created'],
    );
    assert.equal((await file('audit-log/file?subject=ann')).status, 422);
    assert.equal(
      (await file(`audit-log/file?tenant=${acme}&format=csv`)).headers.get('location'),
      `/console/tenants/${acme}/audit-log/file?format=csv`,
    );
  });
});
