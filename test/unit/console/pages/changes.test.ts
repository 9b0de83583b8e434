// The changes of a tenant as they come: newest on top, each exactly once from answer to answer, and never a gap without
// a word.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import type { Relation } from '../../../../src/core/tuples.ts';
import type { OperatorTenantSession } from '../../../../src/front/front.ts';
import { useConsole } from '../../../kit/console-service.ts';
import { type ConsoleVisitor, context, visitTenant } from '../console-visitor.ts';

const service = await useConsole();
let visitor: ConsoleVisitor;
let tenantId: TenantId;
let session: OperatorTenantSession;
let path: string;

beforeEach(async () => {
  service.operator.earliestCursor = undefined;
  ({ visitor, tenantId, session } = await visitTenant(service));
  path = `/console/tenants/${tenantId}/changes`;
});

async function grant(object: string, relation: Relation = 'viewer', revoke = false): Promise<void> {
  await session.call('writeGrants', context, [{ subject: 'user:ada', relation, object, revoke }]);
}

/** The objects on a page or in a part, from top to bottom, and where it goes on. */
async function look(from: string) {
  const { status, text } = await visitor.get(from);
  assert.equal(status, 200, text);
  return {
    text,
    objects: [...text.matchAll(/<strong>\w+<\/strong> <a [^>]*><bdi[^>]*>([^<]*)<\/bdi>/g)].map(([, name]) => name),
    next: (/hx-get="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&'),
    trigger: /hx-trigger="([^"]+)"/.exec(text)?.[1] ?? '',
  };
}

describe('the changes of a tenant', () => {
  it('begin now, and come newest first, each once', async () => {
    await grant('doc:before');
    const page = await look(path);
    assert.deepEqual(page.objects, []);
    assert.match(page.text, /Nothing newer at/);
    assert.match(page.trigger, /^every 2s/);
    await grant('doc:1');
    await grant('doc:<b>');
    await grant('doc:1', 'viewer', true);
    const part = await look(page.next);
    assert.deepEqual(part.objects, ['doc:1', 'doc:&lt;b>', 'doc:1']);
    assert.match(part.text, /badge removed">− grant\.revoked<.*badge added">\+ grant\.created</s);
    assert.match(part.text, /operator <bdi[^>]*>test/);
    assert.doesNotMatch(part.text, /<html|<b>/);
    assert.deepEqual((await look(part.next)).objects, []);
    // Whoever pauses asks with the same cursor later, and a page without a script opens it.
    await grant('doc:2');
    assert.deepEqual((await look(part.next)).objects, ['doc:2']);
    const [link = ''] = /href="([^"]+)">Show what came since/.exec(page.text)?.slice(1) ?? [];
    assert.deepEqual((await look(link.replaceAll('&amp;', '&'))).objects, ['doc:2', 'doc:1', 'doc:&lt;b>', 'doc:1']);
  });

  it('are read in bounded steps, one right after the other until all are there', async () => {
    for (let index = 0; index < 250; index += 1) await grant(`doc:${index}`);
    const seen: (string | undefined)[] = [];
    let steps = 0;
    let step = await look(`${path}?from=day`);
    for (; ; step = await look(step.next)) {
      seen.push(...step.objects.toReversed());
      steps += 1;
      if (!step.trigger.startsWith('load')) break;
    }
    assert.equal(steps, 3);
    assert.deepEqual(
      seen,
      Array.from({ length: 250 }, (_, index) => `doc:${index}`),
    );
  });

  it('are filtered, from answer to answer', async () => {
    const { next } = await look(`${path}?namespace=doc&relation=editor&action=grant.created`);
    await grant('doc:1');
    await grant('doc:2', 'editor');
    await grant('folder:3', 'editor');
    await grant('doc:2', 'editor', true);
    const part = await look(next);
    assert.deepEqual(part.objects, ['doc:2']);
    assert.match(part.next, /namespace=doc&relation=editor&action=grant\.created&cursor=/);
    const refused = await visitor.get(`${path}?namespace=a%20b`);
    assert.deepEqual([refused.status, /This is not a valid namespace name/.test(refused.text)], [422, true]);
  });

  it('say where some are missing, and go on with the earliest that are kept', async () => {
    const { next } = await look(path);
    for (let index = 0; index < 5; index += 1) await grant(`doc:${index}`);
    const { changes } = await session.readChanges(context, { filter: {}, limit: 100, waitMs: 0 });
    service.operator.earliestCursor = changes.at(-3)?.cursor ?? assert.fail();
    for (const from of [next, `${path}?cursor=${changes[0]?.cursor}`, `${path}?from=hour`]) {
      const { text, objects } = await look(from);
      assert.deepEqual(objects, ['doc:4', 'doc:3'], from);
      assert.match(
        text,
        /doc:3.*Changes are missing here\.<\/strong> Changes before today are no longer kept\..*audit log/s,
      );
    }
    service.operator.earliestCursor = undefined;
    assert.equal((await visitor.get(`${path}?cursor=junk`)).status, 400);
  });
});
