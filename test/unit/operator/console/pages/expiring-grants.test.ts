// Grants that expire on the pages of grants: chosen when a grant is created, shown in lists, kept by an undo.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { systemClock, systemRandom } from '../../../../../src/roles/process/system.ts';
import { CALLS } from '../../../../../src/rpc/calls/table.ts';
import { type ConsoleService, OPERATOR_TOKEN, startConsole } from '../../../../kit/console-service.ts';
import { ConsoleVisitor } from '../../console-visitor.ts';

const context = { requestId: 'req_x', deadlineMs: Number.MAX_VALUE };
const DAY_MS = 24 * 3_600_000;
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'doc:1' };

let service: ConsoleService;
let visitor: ConsoleVisitor;
let base: string;
let expiries: () => Promise<readonly (number | undefined)[]>;

before(async () => {
  service = await startConsole({ clock: systemClock, random: systemRandom });
});
after(() => service.close());
beforeEach(async () => {
  visitor = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
  const { operator } = service;
  const { tenantId } = await operator.createTenant(context, { name: 'Acme', plan: 'free', operator: 'test' });
  base = `/console/tenants/${tenantId}/grants`;
  expiries = async () => {
    const session = await operator.tenant(context, tenantId, 'test');
    const { items } = await session.call(CALLS.exportGrants, context, { limit: 100, cursor: undefined });
    return items.map(({ expiresAtMs }) => expiresAtMs);
  };
});

const create = (fields: Readonly<Record<string, string>> = {}) => visitor.post(base, { ...TUPLE, ...fields });
const shown = async (): Promise<string> => (await visitor.get(`${base}?subject=user:ada`)).text;

describe('the expiry of a grant', () => {
  it('is a preset or a date', async () => {
    for (const [fields, days] of [
      [{ expires: '30d' }, 30],
      [{ expires: '90d' }, 90],
      [{ expires: '1y' }, 365],
    ] as const) {
      const earliestMs = Date.now() + days * DAY_MS;
      assert.equal((await create(fields)).status, 303);
      const [expiresAtMs = 0] = await expiries();
      assert.ok(expiresAtMs >= earliestMs && expiresAtMs <= Date.now() + days * DAY_MS);
    }
    assert.equal((await create({ expires: 'date', 'expires-at': '2090-01-31T12:30' })).status, 303);
    assert.deepEqual(await expiries(), [Date.UTC(2090, 0, 31, 12, 30)]);
    assert.match(await shown(), /has the new expiry now/);
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
    assert.match(await shown(), /<time datetime="[^"]+" title="[^"]+">in (?:89|90) days<\/time>/);
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
