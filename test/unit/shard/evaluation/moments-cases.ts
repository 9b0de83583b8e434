// An answer is that of one moment, whatever is committed while the call waits for the store: grants, and rules. Every
// read that a call makes is held once, before and after the store answers it, and the change happens meanwhile.
// `test/unit` holds some of the reads, `test/property/slow` every one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoreOperation } from '../../../kit/store/store-gate.ts';
import { type SlotOptions, turns } from '../tools.ts';
import { grantOf, RuledSlot } from './ruled-slot.ts';

export const RULES = {
  rules: [
    { namespace: 'document', name: 'viewer', any_of: ['viewer from parent'] },
    { namespace: 'document', name: 'can_read', any_of: ['viewer'] },
  ],
  groups: true,
};
const READS: readonly StoreOperation[] = ['listGrants', 'listObjectGrants', 'readGrant', 'readRules'];
interface State {
  readonly name: string;
  readonly options: SlotOptions;
  /** Holds one in this many reads, where some suffice. The smaller the parts, the more reads a call makes. */
  readonly stride: number;
}

const STATES: readonly State[] = [
  { name: 'whole pages', options: {}, stride: 1 },
  { name: 'pages in parts', options: { pageLimits: { rowsPerRead: 1 } }, stride: 3 },
  {
    name: 'entities too large for a page',
    options: { pageLimits: { rowsMax: 2, rowsPerRead: 1, rowsPerListing: 2 } },
    stride: 8,
  },
];
/** A change waits for a page that is held itself; it goes on once the read does. */
const TURNS = 40;

export const CHAIN = ['user:a member team:1', 'team:1#member member team:2', 'team:2#member viewer folder:1'];
export const LAST = 'folder:1 parent document:1';

/** Of the entities of the chain, so that some are too large for a small page. */
const OTHERS = [...CHAIN, LAST].flatMap((text) => {
  const { subject, relation, object } = grantOf(text);
  const numbered = [1, 2];
  return [
    ...numbered.map((each) => ({ subject, relation, object: `${object}.${each}` })),
    ...numbered.map((each) => ({ subject: `user:other${each}`, relation, object })),
  ];
});

interface Trial<Result> {
  readonly rules?: object;
  readonly grants: readonly string[];
  readonly change: (ruled: RuledSlot) => Promise<void>;
  readonly call: (ruled: RuledSlot) => Promise<Result>;
  readonly verify: (result: Result, what: string) => void;
}

/** Makes the call once for each of its reads, or for one in `stride`. Returns how many reads it made. */
async function atEveryRead<Result>(
  { options, stride }: Pick<State, 'options' | 'stride'>,
  trial: Trial<Result>,
  warm: readonly string[] = [],
) {
  let reads = 0;
  for (let held = 1; ; held += stride) {
    let changed = false;
    for (const kind of ['delay', 'delay-reply'] as const) {
      let counting = false;
      let calls = 0;
      let change = Promise.resolve();
      const until = async (): Promise<void> => {
        counting = false;
        changed = true;
        // The store is called in the middle of a step.
        await turns(1);
        change = trial.change(ruled);
        await Promise.race([change, turns(TURNS)]);
      };
      const fault = (operation: StoreOperation) => {
        if (!counting || !READS.includes(operation)) return undefined;
        calls += 1;
        return calls === held ? { kind, until } : undefined;
      };
      const grants = [...OTHERS, ...trial.grants.map(grantOf)];
      const ruled = await RuledSlot.open(trial.rules ?? RULES, grants, { ...options, hooks: { fault } });
      await ruled.goCold();
      for (const text of warm) await ruled.check(text);
      counting = true;
      const result = await trial.call(ruled).catch((error: unknown) => {
        throw new Error(`read ${held}, ${kind}`, { cause: error });
      });
      counting = false;
      await change;
      trial.verify(result, `read ${held}, ${kind}`);
      reads = Math.max(reads, calls);
      ruled.slot.kill();
    }
    if (!changed) return reads;
  }
}

/** The membership ends, then the last grant comes: the chain was never whole. */
const never = {
  grants: CHAIN,
  change: async (ruled: RuledSlot) => {
    await ruled.write([grantOf('user:a member team:1')], true);
    await ruled.write([grantOf(LAST)]);
  },
};

/** `every`: each read is held, and not only some. */
export function testMoments(every: boolean): void {
  for (const { name, options, stride } of STATES) {
    const state = { options, stride: every ? 1 : stride };
    test(`a chain that was never complete is never seen complete: ${name}`, async () => {
      for (const warm of [[], ['user:a member team:1']]) {
        const reads = await atEveryRead(
          state,
          {
            ...never,
            call: (ruled) => ruled.check('user:a can_read document:1'),
            verify: (authorized, what) => assert.equal(authorized, false, what),
          },
          warm,
        );
        assert.ok(reads > 1, `${reads} reads`);
      }
    });

    test(`nor do reasons and listings show it: ${name}`, async () => {
      await atEveryRead(state, {
        ...never,
        call: (ruled) => ruled.named([grantOf('user:a can_read document:1')], true),
        verify: ({ authorized, because }, what) => assert.deepEqual([authorized, because], [[false], [[]]], what),
      });
      await atEveryRead(state, {
        ...never,
        call: (ruled) => ruled.objects('user:a', 'can_read'),
        verify: (objects, what) => assert.ok(!objects.includes('document:1'), what),
      });
    });

    test(`the checks of a call are answered at one moment: ${name}`, async () => {
      const asked = ['user:a member team:1', 'team:2#member can_read document:1', 'user:a can_read document:1'];
      const seen = new Set<string>();
      await atEveryRead(state, {
        ...never,
        call: (ruled) => ruled.named(asked.map(grantOf)),
        verify: ({ authorized }, what) => {
          seen.add(authorized.join());
          assert.ok(['true,false,false', 'false,false,false', 'false,true,false'].includes(authorized.join()), what);
        },
      });
      assert.ok(seen.size > 1, 'changes were seen');
    });

    test(`a revocation before the answer counts: ${name}`, async () => {
      for (const revoked of ['user:a member team:1', LAST]) {
        let changed = false;
        await atEveryRead(state, {
          grants: [...CHAIN, LAST],
          change: async (ruled) => {
            await ruled.write([grantOf(revoked)], true);
            changed = true;
          },
          call: async (ruled) => {
            changed = false;
            const authorized = await ruled.check('user:a can_read document:1');
            // A check that starts once the revocation was acknowledged.
            if (changed) assert.equal(await ruled.check('user:a can_read document:1'), false);
            return { authorized, acknowledged: changed };
          },
          verify: ({ authorized, acknowledged }, what) => {
            if (!acknowledged) assert.equal(authorized, true, what);
          },
        });
      }
    });

    test(`a check that waits follows the rules of the moment of its answer: ${name}`, async () => {
      const acknowledged: boolean[] = [];
      await atEveryRead(state, {
        grants: [...CHAIN, LAST],
        change: async (ruled) => {
          await ruled.setRules({ ...RULES, groups: false });
          acknowledged.push(true);
        },
        call: async (ruled) => {
          acknowledged.length = 0;
          const answers = [await ruled.check('user:a can_read document:1'), acknowledged.length === 0];
          return answers;
        },
        verify: ([authorized, before], what) => assert.equal(authorized, before, what),
      });
    });
  }
}
