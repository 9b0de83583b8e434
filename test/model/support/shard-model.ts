// The shard against a plain Map: random sequences of grants, revocations, checks, bulk checks and listings, mixed with
// restarts, kills, held and failing write-behind, evictions and subjects too large for a whole page. Whatever the
// sequence, every answer is the model's.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type BuiltInTuple,
  columnsOf,
  compareUtf8,
  RELATIONS,
  relationNumber,
  type Tuple,
} from '../../../src/core/tuples.ts';
import { type RunningShard, ShardHarness } from '../../kit/shard-harness.ts';
import { WRITE_BEHIND } from '../../kit/store/faulty-store.ts';
import { readAll } from '../../kit/store/read-all.ts';

const subjects = ['user:a', 'user:b', 'team:z', 'user:\u{1F600}'];
const objects = ['doc:1', 'doc:2', 'doc:\uFFFD', 'doc:\u{1F600}', 'folder:1', 'folder:2', 'd:1', 'doc:3', 'doc:4'];
const relations = RELATIONS.slice(4, 7);

const tuple: fc.Arbitrary<BuiltInTuple> = fc.record({
  subject: fc.constantFrom(...subjects),
  relation: fc.constantFrom(...relations),
  object: fc.constantFrom(...objects),
});

interface Listing {
  readonly kind: 'list';
  readonly tuple: BuiltInTuple;
  readonly namespace: string | undefined;
  readonly limit: number;
}

type Step =
  | { readonly kind: 'write'; readonly writes: readonly (BuiltInTuple & { revoke: boolean })[] }
  | { readonly kind: 'check'; readonly tuple: Tuple }
  | { readonly kind: 'bulk'; readonly tuples: readonly BuiltInTuple[] }
  | Listing
  | { readonly kind: 'export'; readonly limit: number }
  | { readonly kind: 'store'; readonly to: 'hold' | 'fail-before' | 'fail-after' | 'restore' }
  /** Waits until the state tables hold everything, and then makes write-behind go wrong. */
  | { readonly kind: 'settle'; readonly to: 'hold' | 'fail-before' | 'fail-after' | 'restore' }
  /** A listing whose read of the store is in flight while the write commits. */
  | { readonly kind: 'crossing'; readonly list: Listing; readonly write: BuiltInTuple & { revoke: boolean } }
  | { readonly kind: 'stop' }
  | { readonly kind: 'kill' }
  | { readonly kind: 'together'; readonly steps: readonly Step[] };

const listing: fc.Arbitrary<Listing> = fc.record({
  kind: fc.constant('list' as const),
  tuple,
  namespace: fc.constantFrom(undefined, 'doc', 'folder', 'd', 'nothing'),
  limit: fc.integer({ min: 1, max: 4 }),
});

const reading: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('check' as const), tuple }),
  fc.record({ kind: fc.constant('bulk' as const), tuples: fc.array(tuple, { maxLength: 12 }) }),
  listing,
);

const position = fc.constantFrom('hold' as const, 'fail-before' as const, 'fail-after' as const, 'restore' as const);

const writes = fc.array(fc.tuple(tuple, fc.boolean()), { minLength: 1, maxLength: 8 }).map((items) => ({
  kind: 'write' as const,
  writes: items.map(([item, revoke]) => ({ ...item, revoke })),
}));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: writes },
  { weight: 6, arbitrary: reading },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('export' as const), limit: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('store' as const), to: position }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('settle' as const), to: position }) },
  {
    weight: 2,
    arbitrary: fc.tuple(listing, tuple, fc.boolean()).map(([list, { relation, object }, revoke]) => ({
      kind: 'crossing' as const,
      list,
      write: { subject: list.tuple.subject, relation, object, revoke },
    })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'stop' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'kill' as const }) },
  {
    weight: 2,
    arbitrary: fc.array(reading, { minLength: 2, maxLength: 5 }).map((steps) => ({ kind: 'together' as const, steps })),
  },
);

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const keyOf = ({ subject, relation, object }: Tuple): string => `${subject} ${relation} ${object}`;

class Run {
  readonly #harness: ShardHarness;
  readonly #model = new Map<string, Tuple>();
  #shard: RunningShard;
  #handle = 0;
  #tenantId: Awaited<ReturnType<ShardHarness['createTenant']>>;

  private constructor(harness: ShardHarness, shard: RunningShard, tenantId: Run['tenantId'], handle: number) {
    this.#harness = harness;
    this.#shard = shard;
    this.#tenantId = tenantId;
    this.#handle = handle;
  }

  get tenantId() {
    return this.#tenantId;
  }

  static async start(harness: ShardHarness): Promise<Run> {
    const shard = await harness.start();
    const tenantId = await harness.createTenant(shard);
    return new Run(harness, shard, tenantId, await harness.open(shard, tenantId));
  }

  async #restart(): Promise<void> {
    this.#shard = await this.#harness.start();
    this.#handle = await this.#harness.open(this.#shard, this.#tenantId);
  }

  #sorted(matching: (tuple: Tuple) => boolean): Tuple[] {
    return [...this.#model.values()]
      .filter(matching)
      .sort(
        (left, right) =>
          compareUtf8(left.subject, right.subject) ||
          compareUtf8(left.relation, right.relation) ||
          compareUtf8(left.object, right.object),
      );
  }

  async run(step: Step): Promise<void> {
    const { connection, operator, faults } = this.#shard;
    switch (step.kind) {
      case 'write': {
        const results = await connection.writeGrants(this.#handle, this.#harness.attempt(), step.writes);
        for (const [index, { revoke, subject, relation, object }] of step.writes.entries()) {
          const key = keyOf({ subject, relation, object });
          const present = this.#model.has(key);
          const expected = revoke ? (present ? 'revoked' : 'not-found') : present ? 'exists' : 'created';
          assert.equal(results[index]?.kind, expected);
          if (revoke) this.#model.delete(key);
          else this.#model.set(key, { subject, relation, object });
        }
        return;
      }
      case 'check': {
        const { subject, relation, object } = step.tuple;
        const authorized = await connection.check(this.#handle, subject, relationNumber(relation) ?? 0, object);
        assert.equal(authorized, this.#model.has(keyOf(step.tuple)));
        return;
      }
      case 'bulk': {
        const { authorized } = await connection.checkBulk(this.#handle, columnsOf(step.tuples));
        assert.deepEqual(
          authorized,
          step.tuples.map((each) => this.#model.has(keyOf(each))),
        );
        return;
      }
      case 'list': {
        const { subject, relation } = step.tuple;
        const expected = () =>
          this.#sorted(
            (each) =>
              each.subject === subject &&
              each.relation === relation &&
              (step.namespace === undefined || each.object.startsWith(`${step.namespace}:`)),
          ).map(({ object }) => object);
        const query = { subject, relation, namespace: step.namespace, limit: step.limit };
        const listed = await readAll((cursor) => connection.listObjects(this.#handle, { ...query, cursor }));
        // As of now: what was committed meanwhile is in it.
        assert.deepEqual(listed, expected());
        return;
      }
      case 'export': {
        // It waits for write-behind, which may be held.
        faults.restore(WRITE_BEHIND);
        const { limit } = step;
        const exported = await readAll((cursor) => operator.exportGrants(this.#handle, { limit, cursor }));
        assert.deepEqual(
          exported.map(({ subject, relation, object }) => ({ subject, relation, object })),
          this.#sorted(() => true),
        );
        return;
      }
      case 'store':
        faults.restore(WRITE_BEHIND);
        if (step.to !== 'restore') faults.turn(step.to, WRITE_BEHIND);
        return;
      case 'settle':
        faults.restore(WRITE_BEHIND);
        await operator.exportGrants(this.#handle, { limit: 1, cursor: undefined });
        return this.run({ kind: 'store', to: step.to });
      case 'crossing':
        return this.#cross(step);
      case 'stop':
        faults.restore(WRITE_BEHIND);
        await this.#harness.stop(this.#shard);
        return this.#restart();
      case 'kill':
        this.#harness.kill(this.#shard);
        return this.#restart();
      case 'together':
        await Promise.all(step.steps.map((each) => this.run(each)));
        return;
    }
  }

  /** A listing and a write of which neither waits for the other. */
  async #cross(step: Extract<Step, { kind: 'crossing' }>): Promise<void> {
    const { faults } = this.#shard;
    const { connection: reader } = this.#shard;
    const { subject, relation } = step.list.tuple;
    const objects = () =>
      this.#sorted((each) => each.subject === subject && each.relation === relation).map(({ object }) => object);
    await this.run({ kind: 'bulk', tuples: [step.write, step.list.tuple] });
    const before = objects();
    faults.turn('hold', ['listGrants']);
    const listing = reader.listObjects(this.#handle, {
      subject,
      relation,
      namespace: undefined,
      limit: 100,
      cursor: undefined,
    });
    let answered = false;
    listing.then(
      () => {
        answered = true;
      },
      () => {},
    );
    await turns(3);
    const held = !answered;
    const writing = this.run({ kind: 'write', writes: [step.write] });
    // A listing from memory precedes the write. Where the write, too, has to read the page first, it commits after
    // the listing, or before it is evaluated.
    const committedFirst = await Promise.race([writing.then(() => true), turns(50).then(() => false)]);
    faults.restore(['listGrants']);
    const { items } = await listing;
    await writing;
    const after = objects();
    if ((held && committedFirst) || JSON.stringify(items) !== JSON.stringify(before)) assert.deepEqual(items, after);
  }
}

const CONFIGURATIONS = [
  { name: 'whole pages, all in memory', options: {} },
  { name: 'whole pages, hardly any memory', options: { pageCacheBytesMax: 700 } },
  { name: 'sparse pages', options: { pageLimits: { rowsMax: 2 } } },
  {
    name: 'pages read in slices, and to their end once they are asked about',
    options: { pageLimits: { rowsPerRead: 2, readsBeforeWhole: 2 } },
  },
  { name: 'sparse pages, hardly any memory', options: { pageLimits: { rowsMax: 2 }, pageCacheBytesMax: 700 } },
];

/** So many random sequences for each configuration of a shard's memory. */
export function compareWithMap(sequences: number): void {
  for (const { name, options } of CONFIGURATIONS) {
    test(`a shard answers as a plain map does: ${name}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
          const harness = new ShardHarness(options);
          try {
            const run = await Run.start(harness);
            for (const each of steps) await run.run(each);
          } finally {
            harness.killAll();
          }
        }),
        { numRuns: sequences, endOnFailure: true },
      );
    });
  }
}
