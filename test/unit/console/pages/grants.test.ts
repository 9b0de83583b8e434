// The pages of grants: the listings, the expiry of a grant, pasted lines, and how all grants of a subject or on an
// object are revoked.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { Grant } from '../../../../src/core/tuples.ts';
import type { OperatorTenantSession } from '../../../../src/front/front.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { answering } from '../../../kit/call-handlers.ts';
import { useConsole } from '../../../kit/console-service.ts';
import { grantOf, relationOf } from '../../shard/evaluation/ruled-slot.ts';
import { type ConsoleVisitor, context, visitTenant } from '../console-visitor.ts';

const DAY_MS = 24 * 3_600_000;
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'doc:1' };

const service = await useConsole();
let visitor: ConsoleVisitor;
let session: OperatorTenantSession;
let base: string;

beforeEach(async () => {
  const { operator } = service;
  operator.faults.length = 0;
  operator.revokedPerCall = 1000;
  const { tenantId, ...visit } = await visitTenant(service);
  ({ visitor, session } = visit);
  base = `/console/tenants/${tenantId}/grants`;
});

async function grantsNow(): Promise<readonly Grant[]> {
  return (await session.call('exportGrants', context, { limit: 10_000, cursor: undefined })).items;
}
const held = async (): Promise<readonly string[]> =>
  (await grantsNow()).map(({ subject, relation, object }) => `${subject} ${relation} ${object}`);
const expiries = async (): Promise<readonly (number | undefined)[]> =>
  (await grantsNow()).map(({ expiresAtMs }) => expiresAtMs);

/** By column, the texts of each row of the page's table. */
const rowsIn = (text: string): readonly (readonly string[])[] =>
  [...text.matchAll(/<tr role="row"><td.*?<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<div class="cell">(.*?)<\/div><\/td>/gs)].map(([, cell = '']) =>
      cell.replaceAll(/<[^>]*>/g, '').trim(),
    ),
  );
const write = (...texts: readonly string[]) =>
  session.call(
    'writeGrants',
    context,
    texts.map((text) => {
      const { subject, relation, object } = grantOf(text);
      return { subject, relation: relationOf(relation), object, revoke: false };
    }),
  );

it('grants a state without a subject or to *, says so of another subject, and shows what * is', async () => {
  const rules = RulesText.of(parseRuleSet({ states: ['archived'], rules: [] }));
  await session.call('writeRules', context, { rules, ifMatch: undefined });
  const grant = (subject: string, object: string, relation = 'archived') =>
    visitor.post(base, { subject, relation, object, expires: '', 'expires-at': '', condition: '' });
  for (const [subject, object] of [
    ['', 'doc:1'],
    ['*', 'doc:2'],
  ] as const) {
    assert.equal((await grant(subject, object)).status, 303);
  }
  for (const [subject, relation, message] of [
    ['user:ada', 'archived', /&quot;archived&quot; is a state, which is granted to its object alone/],
    ['*', 'viewer', /only the states are granted of the tenant: archived/],
  ] as const) {
    const refused = await grant(subject, 'doc:3', relation);
    assert.equal(refused.status, 422);
    assert.match(refused.text, message);
  }
  assert.deepEqual(await held(), ['* archived doc:1', '* archived doc:2']);
  for (const page of [base, `${base}?object=doc:1`]) {
    assert.match((await visitor.get(page)).text, />\*<.*every subject, by a state/s, page);
  }
});

it('counts the grants of each subject, and says that there are none only if it is known', async (test) => {
  const { operator } = service;
  await write('user:holds viewer doc:1', 'user:holds viewer doc:2', 'user:holds viewer doc:3');
  const own = operator.tenant.bind(operator);
  test.after(() => {
    operator.tenant = own;
  });
  const subjects = ['user:fails', 'user:former', 'user:holds', 'user:many-revoked'];
  operator.tenant = async (...claim) => {
    const real = await own(...claim);
    const none: readonly Grant[] = [];
    return answering(real, {
      listSubjects: async () => ({ items: subjects, nextCursor: undefined }),
      listGrants: async (call, query) => {
        const subject = 'subject' in query.of ? query.of.subject : '';
        if (subject === 'user:fails') throw new GrantdError('unavailable', 'Not now.');
        const page = await real.call('listGrants', call, query);
        return subject === 'user:many-revoked' ? { ...page, items: none, nextCursor: 'further' } : page;
      },
    });
  };
  const { status, text } = await visitor.get(base);
  assert.equal(status, 200);
  assert.deepEqual(rowsIn(text), [
    ['user:fails', '', 'could not be read'],
    ['user:former', '0', 'none left'],
    ['user:holds', '3', 'viewer doc:1, viewer doc:2, …'],
    ['user:many-revoked', '0+', ', …'],
  ]);
});

describe('the grants of a relation or a namespace', () => {
  const nextIn = (text: string): string | undefined =>
    /rel="next" href="([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');

  it('are all found, each once, however the pages fall', async () => {
    const viewers = Array.from({ length: 120 }, (_, index) => `user:${1000 + index} viewer doc:${index}`);
    const others = viewers.map((text) => text.replace('viewer doc', 'editor folder'));
    const all = [...viewers, ...others, 'team:1 viewer doc:1', 'user:9 viewer folder:9'];
    for (let at = 0; at < all.length; at += 50) await write(...all.slice(at, at + 50));
    const walk = async (query: string): Promise<readonly (readonly string[])[]> => {
      const rows: (readonly string[])[] = [];
      for (let path: string | undefined = `${base}?${query}`; path !== undefined; ) {
        const { text } = await visitor.get(path);
        const shown = rowsIn(text);
        assert.ok(shown.length <= 50, `${shown.length} rows`);
        rows.push(...shown.map((cells) => cells.slice(0, 3)));
        path = nextIn(text);
      }
      return rows;
    };
    const texts = async (query: string) => (await walk(query)).map((cells) => cells.join(' '));
    assert.deepEqual(await texts('relation=viewer&subjects=user&objects=doc'), viewers);
    assert.deepEqual(await texts('subjects=team:'), ['team:1 viewer doc:1']);
    assert.equal((await walk('relation=viewer')).length, 122);
    const { text } = await visitor.get(`${base}?objects=nothing`);
    assert.match(text, /No such grant/);
    assert.match(text, /0 of all 242 grants/);
  });

  it('are looked for in a bounded number of grants, and the page says in how many', async (test) => {
    const { operator } = service;
    const own = operator.tenant.bind(operator);
    test.after(() => {
      operator.tenant = own;
    });
    let reads = 0;
    const items = Array.from({ length: 1000 }, (_, index) => ({
      ...{ subject: 'user:ada', relation: 'viewer' as const, object: `doc:${index}` },
      ...{ grantId: 'grt_x', createdAtMs: 0 },
    }));
    operator.tenant = async (...claim) =>
      answering(await own(...claim), {
        exportGrants: async () => {
          reads += 1;
          return { items, nextCursor: 'further', feedCursor: '' };
        },
      });
    const { text } = await visitor.get(`${base}?relation=owner`);
    assert.ok(reads <= 10, `${reads} reads`);
    assert.match(text, /0 of the next [\d,]+ grants.*Further pages may have some/s);
    assert.equal(nextIn(text), `${base}?relation=owner&cursor=further`);
  });
});

describe('the search', () => {
  it('leads to the side on which the entity has grants, and refuses what is none', async () => {
    await write('user:ada viewer doc:1', 'doc:1 parent doc:2');
    const find = async (entity: string): Promise<string | null> => {
      const { status, headers } = await visitor.get(`${base}?entity=${encodeURIComponent(entity)}`);
      assert.equal(status, 303);
      return headers.get('location');
    };
    assert.equal(await find(' user:ada '), `${base}?subject=user%3Aada`);
    assert.equal(await find('doc:2'), `${base}?object=doc%3A2`);
    // It is both, or neither.
    assert.equal(await find('doc:1'), `${base}?subject=doc%3A1`);
    assert.equal(await find('doc:3'), `${base}?subject=doc%3A3`);
    const refused = await visitor.get(`${base}?entity=ada%3C`);
    assert.equal(refused.status, 422);
    assert.match(refused.text, /name="entity"[^>]* value="ada&lt;"|value="ada&lt;"[^>]* name="entity"/);
    assert.match(refused.text, /Enter a subject or an object as namespace:id/);
  });

  it('counts both sides and each relation, of which one can be chosen', async () => {
    await write('user:ada viewer doc:1', 'user:ada viewer doc:2', 'user:ada owner doc:2', 'user:bob member user:ada');
    const { text } = await visitor.get(`${base}?subject=user:ada`);
    const counts = [...text.matchAll(/>([^<>]+) <span class="count">([^<]*)</g)].map(
      ([, name, count]) => `${name} ${count}`,
    );
    assert.deepEqual(counts, ['As a subject 3', 'As an object 1', 'All 3', 'owner 1', 'viewer 2']);
    const only = await visitor.get(`${base}?subject=user:ada&only=owner`);
    assert.deepEqual(
      rowsIn(only.text).map(([relation, object]) => [relation, object]),
      [['owner', 'doc:2']],
    );
    assert.match(only.text, /aria-current="page">owner/);
  });
});

const create = (fields: Readonly<Record<string, string>> = {}) => visitor.post(base, { ...TUPLE, ...fields });
const shown = async (): Promise<string> => (await visitor.get(`${base}?subject=user:ada`)).text;

describe('the expiry of a grant', () => {
  it('is a preset or a date', async () => {
    for (const [fields, days] of [
      [{ expires: '1h' }, 1 / 24],
      [{ expires: '7d' }, 7],
      [{ expires: '30d' }, 30],
      [{ expires: '90d' }, 90],
      [{ expires: '1y' }, 365],
    ] as const) {
      const earliestMs = Date.now() + days * DAY_MS;
      assert.equal((await create(fields)).status, 303);
      const [expiresAtMs = 0] = await expiries();
      assert.ok(expiresAtMs >= earliestMs && expiresAtMs <= Date.now() + days * DAY_MS);
    }
    for (const text of ['2090-01-31T12:30', '2090-01-31 12:30', '2090-01-31 12:30 UTC', '2090-01-31T12:30:00Z']) {
      assert.equal((await create({ expires: 'date', 'expires-at': text })).status, 303, text);
      assert.deepEqual(await expiries(), [Date.UTC(2090, 0, 31, 12, 30)]);
    }
    assert.match(await shown(), /already existed, and is as it was/);
    await create({ expires: '1y' });
    assert.match(await shown(), /existed, and has the new terms now/);
  });

  it('stays with “No expiry”, and goes with “Remove the expiry”', async () => {
    await create({ expires: '30d' });
    const before = await expiries();
    await create();
    assert.deepEqual(await expiries(), before);
    await create({ expires: 'never' });
    assert.deepEqual(await expiries(), [undefined]);
  });

  it('is refused next to its field, and the form keeps what was typed', async () => {
    for (const [fields, message] of [
      [{ expires: 'date' }, /This is not a date and time\./],
      [{ expires: 'date', 'expires-at': '2001-01-01T00:00' }, /This must be in the future\./],
      [{ expires: '30d', 'expires-at': '2090-01-01T00:00' }, /Choose “At a date”, or leave this empty\./],
      [{ expires: 'soon' }, /This must be one of the choices\./],
    ] as const) {
      const visit = await create(fields);
      assert.equal(visit.status, 422);
      assert.match(visit.text, message);
      assert.ok(visit.text.includes('value="doc:1"'));
    }
    assert.deepEqual(await expiries(), []);
  });

  it('is shown in the list', async () => {
    await create({ expires: '90d' });
    assert.match(await shown(), /<time [^>]*>in (?:89|90) days<\/time>/);
    await create({ expires: 'never' });
    assert.match(await shown(), /<div class="cell">never<\/div>/);
  });

  it('is taken from a fourth part of pasted lines, and nothing is created if one has passed', async () => {
    const paste = (lines: string) => visitor.post(`${base}/lines`, { lines });
    const past = await paste('user:ada viewer doc:1\nuser:ada viewer doc:2 2020-01-31T12:00:00Z');
    assert.equal(past.status, 422);
    assert.match(past.text, /Line 2: &quot;expires_at&quot; must be a moment in the future/);
    assert.deepEqual(await expiries(), []);
    const pasted = await paste('user:ada viewer doc:1\nuser:ada viewer doc:2 2090-01-31T12:00:00Z');
    assert.equal(pasted.status, 303, pasted.text);
    assert.deepEqual(await expiries(), [undefined, Date.UTC(2090, 0, 31, 12)]);
  });

  it('is the same again once a revocation is undone', async () => {
    await create({ expires: 'date', 'expires-at': '2090-01-31T12:30:15.250' });
    const [link = ''] = /\/console\/[^"]*\/revoke\?[^"]*/.exec(await shown()) ?? [];
    const asked = await visitor.get(link.replaceAll('&amp;', '&'));
    const hidden = [...asked.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]));
    assert.equal((await visitor.post(`${base}/revoke`, fields)).status, 303);
    assert.deepEqual(await expiries(), []);
    const undo = await shown();
    assert.match(undo, /name="expires" value="date"/);
    assert.match(undo, /name="expires-at" value="2090-01-31T12:30:15.250"/);
    // One whose expiry has passed cannot be created again.
    await create({ expires: '30d' });
    await visitor.post(`${base}/revoke`, { ...TUPLE, expires: 'date', 'expires-at': '2001-01-01T00:00' });
    assert.doesNotMatch(await shown(), /Undo/);
  });
});

const paste = (lines: string) => visitor.post(`${base}/lines`, { lines });
const many = (count: number): string =>
  Array.from({ length: count }, (_, index) => `user:ada viewer doc:${String(index).padStart(3, '0')}\n`).join('');

describe('pasted lines', () => {
  it('are created all at once, and counted on the page that follows', async () => {
    const form = await visitor.get(`${base}/lines`);
    assert.match(form.text, /<textarea[^>]* name="lines"[^>]*>/);
    const visit = await paste('user:ada viewer doc:1\nuser:bob,editor,doc:1\r\n\r\n');
    assert.equal(visit.status, 303, visit.text);
    assert.equal(visit.headers.get('location'), base);
    assert.match((await visitor.get(base)).text, /2 grants created/);
    assert.deepEqual(await held(), ['user:ada viewer doc:1', 'user:bob editor doc:1']);
    const again = await paste('user:ada viewer doc:1\nuser:ada viewer doc:2');
    assert.equal(again.headers.get('location'), `${base}?subject=user%3Aada`);
    assert.match((await visitor.get(base)).text, /1 grant created; 1 existed already, unchanged/);
  });

  it('leave a grant that exists as it is, also if their line would let it end later', async () => {
    await paste('user:ada viewer doc:1 2090-01-01T00:00:00Z');
    await paste('user:ada viewer doc:1 2099-01-01T00:00:00Z\nuser:ada viewer doc:2');
    const page = (await visitor.get(`${base}?subject=user%3Aada`)).text;
    assert.match(page, /1 grant created; 1 existed already, unchanged/);
    assert.match(page, /2090-01-01/);
    assert.doesNotMatch(page, /2099/);
  });

  it('may have conditions, which are refused with their line where they are wrong', async () => {
    const wrong = await paste('user:ada viewer doc:1\nuser:ada viewer doc:2 with office {"a"');
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /Line 2: The context of the condition is not valid JSON/);
    assert.deepEqual(await held(), []);
  });

  it('stay in the box where any of them is wrong, each with its number, and none is created', async () => {
    const lines = 'user:ada viewer doc:1\nuser:ada re#ads <b>doc:2</b>\n\nuser:ada viewer\nuser:ada viewer doc:1';
    const visit = await paste(lines);
    assert.equal(visit.status, 422);
    assert.match(visit.text, /3 lines are wrong, see below\. Nothing was created\./);
    assert.match(visit.text, /Line 2: &quot;relation&quot; must be one of/);
    assert.match(visit.text, /Line 4: The line has 2 parts instead of 3 or 4/);
    assert.match(visit.text, /Line 5: The same grant is in line 1\./);
    const box = /<textarea[^>]*>([^<]*)<\/textarea>/.exec(visit.text)?.[1] ?? '';
    assert.equal(box.replaceAll('&lt;', '<').replaceAll('&gt;', '>'), lines);
    assert.deepEqual(await held(), []);
  });

  it('stay in the box where they are too many, none, or refused by the service', async () => {
    for (const [lines, message] of [
      [many(101), /These are 101 grants; at most 100 can be created at once\. Nothing was created\./],
      [' \n', /Enter at least one grant\./],
    ] as const) {
      const visit = await paste(lines);
      assert.equal(visit.status, 422);
      assert.match(visit.text, message);
      assert.ok(visit.text.includes(lines));
    }
    service.operator.namespacesMax = 1;
    const limited = await paste(many(2));
    service.operator.namespacesMax = 1000;
    assert.equal(limited.status, 403);
    assert.match(limited.text, /allows 1 namespaces\. Nothing was created\./);
    assert.ok(limited.text.includes(many(2)));
    // The owner is away: for the write, and then for the name of the tenant too.
    const fault = new GrantdError('unavailable', 'Not now.');
    service.operator.faults.push(undefined, fault, fault);
    const away = await paste(many(2));
    assert.deepEqual([away.status, away.text.includes('Not now.'), away.text.includes(many(2))], [503, true, true]);
    assert.deepEqual(await held(), []);
  });

  it('that are wrong are all told at once, and a long text is read in bounded time', async () => {
    const wrong = Array.from({ length: 50 }, (_, index) => `wrong${index}`).join('\n');
    assert.match((await paste(wrong)).text, /50 lines are wrong.*Line 1: .*Line 50: /s);
    // What only the tenant's rules tell, beside what the text itself does.
    const mixed = 'user:ada veiwer doc:1\nuser:ada\nuser:ada viewer doc:2 with office';
    const { text } = await paste(mixed);
    assert.match(
      text,
      /Line 1: [^<]*&quot;veiwer&quot;[^<]*did you mean &quot;viewer&quot;\?<.*Line 2: The line has 1 part/s,
    );
    assert.match(text, /Line 3: &quot;condition\.name&quot; is &quot;office&quot;, which the rules do not declare/);
    const visit = await paste('a\n'.repeat(100_000));
    assert.match(visit.text, /These are 100,000 grants/);
  });
});

describe('the revocation of a grant', () => {
  const ask = async (text: string): Promise<string> => {
    const { subject, relation, object } = grantOf(text);
    const query = new URLSearchParams({ subject, relation, object });
    return (await visitor.get(`${base}/revoke?${query}`)).text;
  };

  it('says who loses what, by the rules too', async () => {
    const ruleSet = parseRuleSet({
      rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer', 'viewer from parent'] }],
      groups: true,
      public: ['user'],
    });
    await session.call('writeRules', context, { rules: RulesText.of(ruleSet), ifMatch: undefined });
    const team = ['user:ada member team:eng', 'user:bob member team:eng', 'team:eng#member viewer folder:1'];
    await write(...team, 'folder:1 parent doc:1', 'user:bob viewer folder:1', 'user:bob viewer doc:1');
    const text = await ask('team:eng#member viewer folder:1');
    assert.match(text, /1 subject loses access to 2 objects/);
    assert.deepEqual(rowsIn(text), [
      ['user:ada', 'viewer', 'folder:1'],
      ['user:ada', 'can_read', 'doc:1'],
      ['members of team:eng#member (2 now)', 'viewer', 'folder:1'],
      ['members of team:eng#member (2 now)', 'can_read', 'doc:1'],
    ]);
    assert.match(await ask('user:cyd viewer doc:1'), /Nobody loses access</);
    await write('user:* viewer doc:1');
    assert.match(await ask('user:* viewer doc:1'), /It is not known how many lose access.*who cannot be listed/s);
    const all = (await visitor.get(`${base}/revoke-all?object=doc:1`)).text;
    assert.match(all, /It is not known how many lose access/);
    assert.match(all, /who cannot be listed/);
  });

  it('shows the form again with the reason where it is refused', async () => {
    await write('user:ada viewer doc:1');
    service.operator.faults.push(new GrantdError('unavailable', 'Not now.'));
    const refused = await visitor.post(`${base}/revoke`, TUPLE);
    assert.deepEqual([refused.status, /Not now\./.test(refused.text)], [503, true]);
    assert.match(refused.text, /name="subject" value="user:ada"/);
    assert.equal((await visitor.get(`${base}/revoke?subject=ada`)).status, 400);
    assert.deepEqual(await held(), ['user:ada viewer doc:1']);
  });
});

describe('revoking all', () => {
  beforeEach(async () => {
    await paste(`${many(12)}user:bob viewer doc:001`);
  });

  it('is offered on the page of a subject and of an object, and says how many', async () => {
    for (const [query, title] of [
      ['subject=user%3Aada', /Revoke 12 grants of <bdi[^>]*>user:ada/],
      ['object=doc%3A001', /Revoke 2 grants on <bdi[^>]*>doc:001/],
    ] as const) {
      const page = await visitor.get(`${base}?${query}`);
      assert.ok(page.text.includes(`href="${base}/revoke-all?${query}"`), page.text);
      const question = await visitor.get(`${base}/revoke-all?${query}`);
      assert.match(question.text, title);
    }
    const nobody = await visitor.get(`${base}?subject=user%3Anobody`);
    assert.doesNotMatch(nobody.text, /revoke-all/);
    assert.match((await visitor.get(`${base}/revoke-all?subject=user%3Anobody`)).text, /There is nothing to revoke/);
  });

  it('needs the name to be typed', async () => {
    for (const typed of ['', 'user:bob', 'yes']) {
      const visit = await visitor.post(`${base}/revoke-all`, { subject: 'user:ada', typed });
      assert.equal(visit.status, 422);
      assert.match(visit.text, /This is not the same text\. Nothing was revoked\./);
    }
    assert.equal((await held()).length, 13);
    const visit = await visitor.post(`${base}/revoke-all`, { subject: 'user:ada', typed: ' user:ada ' });
    assert.deepEqual([visit.status, visit.headers.get('location')], [303, `${base}?subject=user%3Aada`]);
    assert.match((await visitor.get(base)).text, /12 grants revoked/);
    assert.deepEqual(await held(), ['user:bob viewer doc:001']);
  });

  it('never means all subjects', async () => {
    for (const fields of [{}, { subject: '' }, { subject: 'user:ada', object: 'doc:001' }, { typed: '' }]) {
      assert.equal((await visitor.post(`${base}/revoke-all`, { typed: '', ...fields })).status, 400);
    }
    assert.equal((await visitor.post(`${base}/revoke-all`, { subject: 'ada', typed: 'ada' })).status, 400);
    assert.equal((await visitor.get(`${base}/revoke-all`)).status, 400);
    assert.equal((await held()).length, 13);
  });

  it('goes on by itself while grants are left, and shows how far it is', async () => {
    service.operator.revokedPerCall = 5;
    const fields = { subject: 'user:ada', typed: 'user:ada', total: '12' };
    const first = await visitor.post(`${base}/revoke-all`, fields);
    assert.equal(first.status, 200);
    assert.match(first.text, /5 of 12 grants revoked\./);
    assert.match(first.text, /<form[^>]* hx-trigger="load"/);
    const second = await visitor.post(`${base}/revoke-all`, { ...fields, revoked: '5' });
    assert.match(second.text, /10 of 12 grants revoked\./);
    const third = await visitor.post(`${base}/revoke-all`, { ...fields, revoked: '10' });
    assert.match(third.text, /All grants of .*user:ada.* are revoked.*12 grants revoked\./s);
    assert.doesNotMatch(third.text, /hx-trigger="load"/);
  });

  it('stops where the service fails, and goes on when it is asked to', async () => {
    service.operator.faults.push(undefined, new GrantdError('unavailable', 'Not now.'));
    const fields = { subject: 'user:ada', typed: 'user:ada', total: '12', revoked: '5' };
    const visit = await visitor.post(`${base}/revoke-all`, fields);
    assert.equal(visit.status, 503);
    assert.match(visit.text, /Not now\./);
    assert.match(visit.text, /5 of 12 grants revoked\./);
    assert.match(visit.text, /Continue/);
    assert.doesNotMatch(visit.text, /hx-trigger="load"/);
    assert.equal((await held()).length, 13);
  });

  it('says so where there are more than are counted', async () => {
    for (let call = 0; call < 11; call += 1) {
      const writes = Array.from({ length: 1000 }, (_, index) => ({
        subject: 'user:big',
        relation: 'viewer' as const,
        object: `doc:${call}-${index}`,
        revoke: false,
      }));
      await session.call('writeGrants', context, writes);
    }
    assert.match(
      (await visitor.get(`${base}/revoke-all?subject=user%3Abig`)).text,
      /Revoke more than 10,000 grants of/,
    );
  });
});
