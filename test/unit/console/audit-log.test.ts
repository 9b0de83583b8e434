// The page of the audit log, and how the console names keys: what a filter shows, what it refuses, what is left of a
// tenant that was deleted.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import type { TenantId } from '../../../src/core/ids.ts';
import type { AuditRecord } from '../../../src/shard/shard.ts';
import { answerBy, type CallHandlers } from '../../kit/call-handlers.ts';
import { OPERATOR_NAME, OPERATOR_TOKEN, UNKNOWN_TENANT, useConsole } from '../../kit/console-service.ts';
import { ConsoleVisitor } from './console-visitor.ts';

const service = await useConsole();
let visitor: ConsoleVisitor;
const context = { requestId: 'req_00000000000000000000000000', deadlineMs: Number.MAX_VALUE };

beforeEach(async () => {
  visitor = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
});

async function createTenant(objects: readonly string[] = []): Promise<TenantId> {
  const { tenantId } = await service.operator.createTenant(context, { name: 'Acme', plan: 'free', operator: 'test' });
  const session = await service.operator.tenant(context, tenantId, OPERATOR_NAME);
  for (const object of objects) {
    await session.call('writeGrants', context, [{ subject: 'user:ann', relation: 'viewer', object, revoke: false }]);
  }
  return tenantId;
}

const read = (tenantId: TenantId, query = '') => visitor.get(`/console/tenants/${tenantId}/audit-log${query}`);

/** The objects in the table, from the top on. */
const objectsOf = (text: string): readonly string[] =>
  [...text.matchAll(/<strong>viewer<\/strong>\s*<a [^>]*><bdi class="foreign">([^<]*)/g)].map(
    ([, object]) => object ?? '',
  );

const hrefsOf = (text: string): readonly string[] =>
  [...text.matchAll(/href="([^"]*)"/g)].map(([, href]) => (href ?? '').replaceAll('&amp;', '&'));

const auditLogCalls = (): number => service.operator.calls.filter(({ name }) => name === 'listAuditLog').length;

/** The log has these rows, whatever is asked. */
async function withRows(rows: readonly Partial<AuditRecord>[], run: () => Promise<void>): Promise<void> {
  const { operator } = service;
  const call = operator.call.bind(operator);
  const row = { seq: 1, index: 0, atMs: 0, actor: 'system', requestId: 'req_x', change: '{}' };
  const handlers: CallHandlers<'listAuditLog'> = {
    listAuditLog: async () => ({
      items: rows.map((each) => ({ ...row, ...each })),
      nextCursor: undefined,
      resumeCursor: undefined,
      scannedToMs: undefined,
    }),
  };
  operator.call = (name, context, request) =>
    name in handlers ? answerBy(handlers, name, context, request) : call(name, context, request);
  try {
    await run();
  } finally {
    operator.call = call;
  }
}

describe('the audit log', () => {
  it('tells a change of rules in a few words, however long they are', async () => {
    const tenantId = await createTenant();
    const rules = { rules: Array.from({ length: 200 }, () => ({ name: 'a_name' })), groups: true, public: ['user'] };
    const former = { rules: [{ name: 'a_name' }], groups: false, public: [] };
    const change = JSON.stringify({ action: 'rules.updated', rules, former });
    await withRows([{ change }, { change: '{"action":"rules.updated","rules":7}' }], async () => {
      const { text } = await read(tenantId);
      assert.match(text, /rules\.updated<\/span> 200 rules, groups, 1 public \(before: 1 rule\)/);
      assert.doesNotMatch(text, /a_name/);
    });
  });

  it('shows the many entries of one request as one row, which opens, unless it is asked for that request', async () => {
    const tenantId = await createTenant();
    const entry = (request: string, index: number, actor = 'system'): Partial<AuditRecord> => ({
      ...{ requestId: `req_${request.repeat(26)}`, actor },
      change: JSON.stringify({
        action: 'grant.created',
        subject: `user:${index}`,
        relation: 'viewer',
        object: 'doc:1',
      }),
    });
    const many = (request: string, length: number, actor?: string) =>
      Array.from({ length }, (_, index) => entry(request, index, actor));
    const rows = [...many('0', 3), ...many('1', 40), ...many('1', 4, 'operator:bob'), ...many('2', 1)];
    await withRows(rows, async () => {
      const { text } = await read(tenantId);
      assert.equal(text.match(/<tr role="row">/g)?.length, 1 + 3 + 1 + 1 + 1);
      assert.deepEqual(
        [...text.matchAll(/<summary><span [^>]*>\+ grant\.created<\/span> (\d+)/g)].map(([, counted]) => counted),
        ['40', '4'],
      );
      assert.equal(objectsOf(text).length, rows.length, 'nothing is left out');
      const { text: asked } = await read(tenantId, `?request_id=req_${'1'.repeat(26)}`);
      assert.doesNotMatch(asked, /<details class="grouped"/);
    });
  });

  it('shows what fits every field, and nothing else', async () => {
    const tenantId = await createTenant(['doc:1', 'doc:2', 'doc:3']);
    assert.deepEqual(objectsOf((await read(tenantId)).text), ['doc:3', 'doc:2', 'doc:1']);
    const empty = '&action=&actor=&subject=&request_id=&since=&until=';
    assert.deepEqual(objectsOf((await read(tenantId, `?object=doc:2${empty}`)).text), ['doc:2']);
    assert.deepEqual(objectsOf((await read(tenantId, '?action=grant.created&subject=%20user:ann%20')).text).length, 3);
    assert.equal(
      objectsOf((await read(tenantId, `?actor=operator:${OPERATOR_NAME}&since=2001-01-31T12:00`)).text).length,
      3,
    );
    for (const query of ['?actor=system', '?until=2001-01-31T12:00', '?object=doc:2&subject=user:bob']) {
      const { status, text } = await read(tenantId, query);
      assert.equal(status, 200);
      assert.match(text, /No entry matches/);
    }
  });

  it('keeps the filter over its pages, and leads from a row to what has the same in it', async () => {
    const tenantId = await createTenant(Array.from({ length: 60 }, (_, index) => `doc:${index}`));
    const { text } = await read(tenantId, '?subject=user:ann');
    const hrefs = hrefsOf(text);
    const next = hrefs.find((href) => href.includes('cursor='));
    assert.match(next ?? '', /subject=user%3Aann/);
    assert.equal(objectsOf((await visitor.get(next ?? '')).text).length, 10);
    const further = hrefs.find((href) => href.includes('object=doc%3A59'));
    assert.match(further ?? '', /subject=user%3Aann/);
    assert.doesNotMatch(further ?? '', /cursor/);
    assert.deepEqual(objectsOf((await visitor.get(further ?? '')).text), ['doc:59']);
    for (const field of ['actor=operator', 'request_id=req_']) {
      assert.ok(
        hrefs.some((href) => href.includes(field)),
        field,
      );
    }
    const strange = await read(tenantId, `?object=doc:1&cursor=${/cursor=([^&]+)/.exec(next ?? '')?.[1]}`);
    assert.equal(strange.status, 400, 'a cursor belongs to its filter');
  });

  it('refuses beside the field what nothing could fit, and asks nothing of the cluster', async () => {
    const tenantId = await createTenant(['doc:1']);
    const before_ = auditLogCalls();
    for (const [name, value] of [
      ['action', 'grant'],
      ['actor', 'alice'],
      ['subject', 'ann'],
      ['object', '"><img src=x onerror=alert(1)>'],
      ['request_id', '7'],
      ['since', 'yesterday'],
      ['until', '1960-01-01T00:00'],
    ] as const) {
      const { status, text } = await read(tenantId, `?${name}=${encodeURIComponent(value)}`);
      assert.equal(status, 422, name);
      assert.match(text, new RegExp(`id="${name}-error"`));
      assert.doesNotMatch(text.replaceAll(/"[^"]*"/g, '""'), /<img src=x/);
      assert.match(text, /<details open/);
    }
    const reversed = await read(tenantId, '?since=2026-01-02T00:00&until=2026-01-01T00:00');
    assert.match(reversed.text, /id="until-error"/);
    assert.equal(auditLogCalls(), before_);
  });

  it('says how far it looked where a page ended before it was full', async () => {
    const tenantId = await createTenant(['doc:1', 'doc:2', 'doc:3']);
    service.operator.rowsPerAuditLogPage = 2;
    try {
      const { text } = await read(tenantId, '?subject=user:ann');
      assert.match(text, /Searched back to <time [^>]*>[^<]*<\/time> so far/);
      const last = await visitor.get(hrefsOf(text).find((href) => href.includes('cursor=')) ?? '');
      assert.doesNotMatch(last.text, /Looked back/);
    } finally {
      service.operator.rowsPerAuditLogPage = Number.POSITIVE_INFINITY;
    }
  });

  it('outlives its tenant: it is found by id, with the name the tenant had', async () => {
    const tenantId = await createTenant(['doc:1']);
    await service.operator.call('updateTenant', context, {
      tenantId,
      name: 'Acme & Sons',
      state: 'deleting',
      operator: 'bob',
    });
    await service.operator.finishDeletions();
    const { status, text } = await read(tenantId);
    assert.equal(status, 200);
    assert.match(text, /<bdi class="foreign">Acme &amp; Sons<\/bdi> <span class="badge state-deleted">deleted<\/span>/);
    assert.match(text, /tenant\.updated/);
    assert.doesNotMatch(text, new RegExp(`/tenants/${tenantId}/(keys|grants)`), 'nothing else is left of it');
    assert.deepEqual(objectsOf((await read(tenantId, '?subject=user:ann')).text), ['doc:1']);
    assert.equal((await read(tenantId, '?subject=user:bob')).status, 200);
    const found = await visitor.get(`/console/tenants?q=${tenantId}`);
    assert.ok(hrefsOf(found.text).includes(`/console/tenants/${tenantId}/audit-log`));
    assert.equal((await visitor.get(`/console/tenants/${tenantId}/keys`)).status, 404);
    assert.equal((await visitor.get(`/console/tenants/${UNKNOWN_TENANT}/audit-log`)).status, 404);
  });
});

describe('a key', () => {
  const create = async (name: string) => {
    const tenantId = await createTenant();
    const session = await service.operator.tenant(context, tenantId, 'bob');
    const { record, text } = await session.createKey(context, { name, scopes: 3, expiresAtMs: undefined });
    return { tenantId, session, keyId: record.keyId, text, end: record.keyId.slice(-4) };
  };

  it('is named by name, scopes and the end of its id where it is revoked', async () => {
    for (const [name, named] of [
      ['ci & cd', '“ci & cd”'],
      ['', 'unnamed'],
    ] as const) {
      const { tenantId, keyId, end, text } = await create(name);
      const path = `/console/tenants/${tenantId}/keys/${keyId}/revoke`;
      const question = (await visitor.get(path)).text;
      const plain = question.replaceAll(/<[^>]*>/g, '').replaceAll('&amp;', '&');
      assert.ok(plain.includes(`${named} (check:read, grant:write; id …${end})`), plain);
      assert.ok(plain.includes('never'), 'when it was last used');
      const done = await visitor.post(path, {});
      const notice = (await visitor.get(done.headers.get('location') ?? '')).text.replaceAll('&amp;', '&');
      assert.ok(notice.includes(`The key ${named} (check:read, grant:write; id …${end}) is revoked.`));
      // Nothing of the secret is shown: the end of the key is not the end of its id.
      for (const page of [question, notice]) assert.ok(!page.includes(`…${text.slice(-4)}`));
    }
  });

  it('is named in the audit log as far as it is known, and by its id beyond', async () => {
    const { tenantId, keyId, end } = await create('live');
    const revoked = 'key_0000000000000000000000aaaa';
    const unknown = 'key_0000000000000000000000bbbb';
    const change = { action: 'key.revoked', key_id: revoked, name: '<b>old</b>', scopes: ['admin'] };
    const rows = [
      { actor: keyId },
      { actor: revoked, change: JSON.stringify(change) },
      { actor: unknown },
      { actor: 'system' },
    ];
    await withRows(rows, async () => {
      const { text } = await read(tenantId);
      assert.ok(text.includes('&lt;b>old&lt;/b>'), text);
      const plain = text.replaceAll(/<[^>]*>/g, '');
      // The name alone; what is behind it opens.
      const names = [...text.matchAll(/<summary>(.*?)<\/summary>/g)].map(([, name = '']) =>
        name.replaceAll(/<[^>]*>/g, ''),
      );
      assert.deepEqual(names.slice(1), ['“live”', '“&lt;b>old&lt;/b>”', 'key …bbbb', 'system']);
      assert.match(plain, new RegExp(`ID${keyId}.*Scopescheck:read, grant:write`, 's'));
      assert.match(plain, new RegExp(unknown));
      assert.ok(keyId.endsWith(end));
      const { operator } = service;
      operator.faults.push(undefined, new GrantdError('unavailable', 'Not now.'));
      const away = await read(tenantId);
      assert.equal(away.status, 200, 'names are for convenience');
      assert.ok(away.text.replaceAll('<wbr/>', '').includes(`>${keyId}<`));
    });
  });
});

describe('revoking a grant', () => {
  const tuple = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' };
  it('offers no way back where somebody else was faster, and no question for what is no grant', async () => {
    const tenantId = await createTenant();
    const base = `/console/tenants/${tenantId}/grants`;
    const done = await visitor.post(`${base}/revoke`, tuple);
    const { text } = await visitor.get(done.headers.get('location') ?? '');
    assert.match(text, /had already been revoked/);
    assert.doesNotMatch(text, /with-undo/);
    const wrong = await visitor.get(`${base}/revoke?subject=ann&relation=viewer&object=doc:1`);
    assert.equal(wrong.status, 400);
    assert.doesNotMatch(wrong.text, /Revoke this grant/);
  });
});
