// A snapshot of a part of the grants, and the change feed over it: whatever is written before, between and during its
// pages, the rows of all pages with the changes from the first cursor applied in order are exactly the grants after an
// entry, for every entry from the greatest seq of the pages on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseFeedContent, wholeSeq } from '../../../../src/core/change-feed.ts';
import { type Grant, namespaceOf, type Relation } from '../../../../src/core/tuples.ts';
import type { AuditRecord, SnapshotPage } from '../../../../src/shard/shard.ts';
import { createMemoryStore, OpenSlot, wholeAuditLog } from '../tools.ts';

const SUBJECTS = ['user:a', 'user:b', 'user:c', 'user:d'];
const RELATIONS: readonly Relation[] = ['viewer', 'owner'];
const OBJECTS = ['doc:1', 'doc:2', 'folder:1'];
const EXPIRES_MS = Date.UTC(2100, 0, 1);

const grant = fc.record({
  subject: fc.constantFrom(...SUBJECTS),
  relation: fc.constantFrom(...RELATIONS),
  object: fc.constantFrom(...OBJECTS),
});
/** The tuples of one entry, each once. */
const write = fc.record({
  tuples: fc.uniqueArray(grant, {
    minLength: 1,
    maxLength: 6,
    selector: ({ subject, relation, object }) => `${subject} ${relation} ${object}`,
  }),
  revokes: fc.nat(3),
  expires: fc.boolean(),
});
type Write = typeof write extends fc.Arbitrary<infer Value> ? Value : never;

async function commit(slot: OpenSlot, handle: number, { tuples, revokes, expires }: Write): Promise<void> {
  const grants = tuples.slice(revokes).map((each) => ({ ...each, ...(expires ? { expiresAtMs: EXPIRES_MS } : {}) }));
  await slot.connection.writeBulk(handle, slot.attempt(), {
    grants,
    revocations: tuples.slice(0, revokes),
    preconditions: [],
  });
}

type Rows = Map<string, string>;

/** What a mirror keeps of a grant. */
const putIn = (rows: Rows, { subject, relation, object, grantId, expiresAtMs }: Grant): unknown =>
  rows.set(`${subject} ${relation} ${object}`, `${grantId} ${expiresAtMs}`);

function apply(rows: Rows, change: string): void {
  const content = parseFeedContent(change);
  if (content === undefined || !('grant' in content)) return;
  const { subject, relation, object } = content.grant;
  if (content.action === 'grant.created' || content.action === 'grant.updated') putIn(rows, content.grant);
  else rows.delete(`${subject} ${relation} ${object}`);
}

/** The grants of the pairs after an entry, by the log. */
function grantsAt(log: readonly AuditRecord[], on: readonly string[], seq: number): Rows {
  const rows: Rows = new Map();
  for (const record of log) {
    const content = parseFeedContent(record.change);
    if (record.seq > seq || content === undefined || !('grant' in content)) continue;
    if (on.includes(`${namespaceOf(content.grant.object)}:${content.grant.relation}`)) apply(rows, record.change);
  }
  return rows;
}

/** Each grant is as an entry up to that one made it. */
function assertNoLater(log: readonly AuditRecord[], items: readonly Grant[], seq: number): void {
  const known = log.filter((record) => record.seq <= seq).map(({ change }) => change);
  for (const each of items) {
    const made: Rows = new Map();
    putIn(made, each);
    const isMade = known.some((change) => {
      const rows: Rows = new Map();
      apply(rows, change);
      return sorted(rows).join() === sorted(made).join();
    });
    assert.ok(isMade, `${sorted(made)} is later than ${seq}`);
  }
}

const sorted = (rows: Rows): readonly string[] => [...rows].map((each) => each.join(' ')).sort();

test('a snapshot, and the feed over it, are the grants after every entry from the last page on', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(write, { minLength: 1, maxLength: 8 }),
      fc.array(write, { minLength: 12, maxLength: 12 }),
      fc.subarray(['doc:viewer', 'doc:owner', 'folder:viewer', 'team:viewer'], { minLength: 1 }),
      fc.integer({ min: 1, max: 4 }),
      async (before, during, on, limit) => {
        const memory = await createMemoryStore();
        const slot = await OpenSlot.open(memory, { pageLimits: { rowsMax: 4 } });
        const tenantId = await slot.createTenant();
        const handle = await slot.handle(tenantId);
        for (const each of before) await commit(slot, handle, each);
        const rows: Rows = new Map();
        const writes = [...during];
        const pages: SnapshotPage[] = [];
        const listSubjects = memory.listSubjects.bind(memory);
        let next: Write | undefined;
        // Committed while a page is read, after its subjects are known.
        memory.listSubjects = async (query, deadline) => {
          const subjects = await listSubjects(query, deadline);
          const each = next;
          next = undefined;
          if (each !== undefined) await commit(slot, handle, each);
          // Perhaps the state tables, which the page is read from, have it before the page is read.
          if (each?.expires === true) await slot.applied();
          return subjects;
        };
        let [exactFrom, start, cursor]: [number, string | undefined, string | undefined] = [0, undefined, undefined];
        do {
          next = writes.shift();
          const page: SnapshotPage = await slot.connection.snapshotGrants(handle, { on, limit, cursor });
          for (const each of page.items) putIn(rows, each);
          pages.push(page);
          exactFrom = Math.max(exactFrom, page.seq);
          start ??= page.feedCursor;
          cursor = page.nextCursor;
        } while (cursor !== undefined);
        for (const each of writes) await commit(slot, handle, each);
        const log = await wholeAuditLog(slot, tenantId);
        for (const { items, seq } of pages) assertNoLater(log, items, seq);
        let pending: AuditRecord[] = [];
        for (let place = start, atEnd = false; !atEnd; ) {
          // One at a time: so each entry with a change that passes begins a page that ends before it is whole.
          const page = await slot.connection.readChanges(handle, { on, cursor: place, limit: 1, waitMs: 0 });
          const seq = wholeSeq(page.next);
          pending.push(...page.items);
          for (const each of pending) if (each.seq <= seq) apply(rows, each.change);
          pending = pending.filter((each) => each.seq > seq);
          if (seq >= exactFrom) {
            assert.deepEqual(sorted(rows), sorted(grantsAt(log, on, seq)), `after ${seq}`);
            compared += 1;
          }
          [place, atEnd] = [page.nextCursor, page.atEnd];
        }
        slot.kill();
      },
    ),
    { numRuns: 60 },
  );
  assert.ok(compared > 60, `${compared} states were compared`);
});
