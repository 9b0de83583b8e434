// The change feed under any interleaving: readers with filters and page limits of their own go on from cursor to
// cursor, with and without waiting, while changes are committed, recent changes are evicted and owners change. In the
// end each of them has exactly the part of the audit log that fits, in its order; and at each page it had everything
// that fits of the entries up to the page's seq, of which none was half there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  FEED_ACTIONS,
  type FeedFilter,
  feedMatcher,
  parseFeedContent,
  wholeSeq,
} from '../../../../src/core/change-feed.ts';
import type { TenantId } from '../../../../src/core/ids.ts';
import type { FeedRecord } from '../../../../src/shard/shard.ts';
import { type OpenSlot, openSlot, RELEASE, tuple, wholeAuditLog } from '../tools.ts';

type Step =
  | { readonly kind: 'grants' | 'revoke' | 'key' | 'namespace'; readonly number: number }
  | { readonly kind: 'read' | 'follow'; readonly reader: number }
  | { readonly kind: 'evict' | 'handover' | 'kill' | 'month' };

const number = fc.nat(5);
const reader = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('grants', 'revoke', 'key', 'namespace'), number }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom('read', 'follow'), reader }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('evict', 'handover', 'kill', 'month') }) },
);
const plan = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  filter: fc.record({
    namespaces: fc.constantFrom(undefined, undefined, ['doc'], ['n1', 'team']),
    relations: fc.constantFrom(undefined, undefined, ['viewer'], ['owner', 'viewer']),
    on: fc.constantFrom(undefined, undefined, ['doc:viewer'], ['doc:viewer', 'team:owner']),
    actions: fc.option(fc.subarray([...FEED_ACTIONS]), { nil: undefined }),
  }),
});

interface Reader {
  readonly limit: number;
  readonly filter: FeedFilter;
  readonly got: FeedRecord[];
  /** After each page: how many changes it had, and up to which seq it knew them all. */
  readonly marks: { readonly count: number; readonly seq: number }[];
  cursor: string | undefined;
  /** A call that waits. */
  following: Promise<void> | undefined;
}

class World {
  slot: OpenSlot;
  handle: number;
  wall = Date.UTC(2026, 10, 30);
  readonly tenantId: TenantId;
  readonly #readers: readonly Reader[];

  constructor(opened: { slot: OpenSlot; handle: number; tenantId: TenantId }, readers: readonly Reader[]) {
    this.slot = opened.slot;
    this.handle = opened.handle;
    this.tenantId = opened.tenantId;
    this.#readers = readers;
  }

  async run(each: Step): Promise<void> {
    const { slot, handle } = this;
    switch (each.kind) {
      case 'grants': {
        const grants = Array.from({ length: each.number }, (_, index) => tuple(`user:${index}`, `doc:${each.number}`));
        const owner = { ...tuple('user:a', 'team:1'), relation: 'owner' as const };
        const write = { grants: [...grants, owner], revocations: [], preconditions: [] };
        await slot.connection.writeBulk(handle, slot.attempt(), write);
        return;
      }
      case 'revoke':
        await slot.connection.revokeGrants(handle, slot.attempt(), {
          of: { object: `doc:${each.number}` },
          relation: undefined,
        });
        return;
      case 'key':
        await slot.createKey(handle, this.tenantId);
        return;
      case 'namespace':
        await slot.connection.createNamespace(handle, slot.attempt(), `n${each.number}`);
        return;
      case 'read':
      case 'follow':
        return this.read(this.#readers[each.reader], each.kind === 'follow');
      case 'evict':
        this.#evict();
        return;
      case 'month':
        this.wall += 20 * 24 * 3_600_000;
        return;
      default:
        await this.#nextOwner(each.kind);
    }
  }

  /** As the budget does. */
  #evict(): void {
    const { tenure, budget } = this.slot;
    const recent = tenure.tenants.get(this.tenantId)?.followChanges(tenure.lastSeq);
    if (recent === undefined) return;
    budget.remove(recent);
    recent.evict();
  }

  async #nextOwner(kind: 'handover' | 'kill'): Promise<void> {
    if (kind === 'handover') {
      await this.slot.tenure.release(RELEASE);
      for (const { following } of this.#readers) await following;
    } else for (const reader of this.#readers) reader.following = undefined;
    this.slot = await this.slot.restart({ wallMs: () => this.wall });
    this.handle = await this.slot.handle(this.tenantId);
  }

  async read(reader: Reader | undefined, wait: boolean): Promise<void> {
    if (reader === undefined) return;
    await reader.following;
    const { limit, filter, cursor } = reader;
    const { slot } = this;
    const call = slot.connection.readChanges(this.handle, { ...filter, cursor, limit, waitMs: wait ? 5 : 0 });
    const take = call.then(
      (page) => {
        // The answer of an owner that was killed reaches nobody.
        if (slot !== this.slot || cursor !== reader.cursor) return;
        reader.got.push(...page.items);
        reader.marks.push({ count: reader.got.length, seq: wholeSeq(page.next) });
        reader.cursor = page.nextCursor;
      },
      (error) => assert.equal(error.kind, 'not-serving'),
    );
    if (wait) reader.following = take;
    else await take;
  }
}

test('the pages of a feed are the log, whatever happens in between', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }),
      fc.array(plan, { minLength: 3, maxLength: 3 }),
      async (steps, plans) => {
        const readers = plans.map(
          (each): Reader => ({
            ...each,
            got: [],
            marks: [],
            cursor: undefined,
            following: undefined,
          }),
        );
        const wall = { ms: Date.UTC(2026, 10, 30) };
        const world: World = new World(await openSlot({ wallMs: () => wall.ms }), readers);
        for (const each of steps) {
          await world.run(each);
          wall.ms = world.wall;
        }
        const log = await wholeAuditLog(world.slot, world.tenantId);
        for (const each of readers) {
          for (let before = -1; before < each.got.length; ) {
            before = each.got.length;
            await world.read(each, false);
            const { cursor } = each;
            await world.read(each, true);
            await each.following;
            if (cursor !== each.cursor) before = -1;
          }
          const fits = feedMatcher(each.filter) ?? (() => true);
          const expected = log.filter(({ change }) => {
            const content = parseFeedContent(change);
            return content !== undefined && fits({ change: content });
          });
          assert.deepEqual(
            each.got.map(({ cursor: _, ...row }) => row),
            expected,
          );
          for (const { count, seq } of each.marks) {
            const missing = expected.slice(count).find((change) => change.seq <= seq);
            assert.equal(missing, undefined, `a page with seq ${seq}`);
          }
          assert.equal(each.marks.at(-1)?.seq, world.slot.tenure.lastSeq, 'the end of the feed is that of the log');
        }
        world.slot.kill();
      },
    ),
    { numRuns: 40 },
  );
});
