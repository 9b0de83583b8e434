// What the cluster page sees: one look for all who ask, and the moves between looks.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ClusterWatch } from '../../../src/console/cluster-watch.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import type { SlotView } from '../../../src/front/front.ts';
import { systemRandom } from '../../../src/roles/system.ts';
import { FakeOperator } from '../../support/fake-operator.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const context = { requestId: 'req_x', deadlineMs: 10_000 };

function slotView(slot: number, shardName: string | undefined): SlotView {
  const unknown = { leaseLeftMs: undefined, logEnd: undefined, checkpoint: undefined, tenants: undefined };
  const state = shardName === undefined ? 'unowned' : 'serving';
  return { slot, state, epoch: 1, incarnation: undefined, shardName, address: undefined, ...unknown };
}

describe('the watch', () => {
  let clock: VirtualClock;
  let operator: FakeOperator;
  let watch: ClusterWatch;
  beforeEach(() => {
    clock = new VirtualClock();
    operator = new FakeOperator(clock, systemRandom);
    watch = new ClusterWatch({ operator, clock });
  });
  const own = (...owners: readonly (string | undefined)[]): void => {
    operator.slots = owners.map((name, slot) => slotView(slot, name));
  };
  async function lookLater() {
    clock.stall(1000);
    return watch.look(context);
  }

  it('asks once for all who look within a second', async () => {
    own('a');
    await Promise.all([watch.look(context), watch.look(context)]);
    clock.stall(999);
    await watch.look(context);
    assert.equal(operator.calls.filter(({ name }) => name === 'listSlots').length, 1);
    clock.stall(1);
    await watch.look(context);
    assert.equal(operator.calls.filter(({ name }) => name === 'listSlots').length, 2);
  });

  it('tells moves newest first, slots of one move together', async () => {
    own('a', 'a', 'b', undefined);
    assert.deepEqual((await watch.look(context)).moves, []);
    own('b', 'b', 'b', 'b');
    const { moves } = await lookLater();
    assert.deepEqual(
      moves.map(({ slots, from, to }) => ({ slots, from, to })),
      [
        { slots: [0, 1], from: 'a', to: 'b' },
        { slots: [3], from: undefined, to: 'b' },
      ],
    );
    own('b', 'b', 'a', 'b');
    assert.deepEqual((await lookLater()).moves[0]?.slots, [2]);
  });

  it('keeps twenty moves', async () => {
    for (let round = 0; round < 30; round += 1) {
      own(round % 2 === 0 ? 'a' : 'b');
      await lookLater();
    }
    assert.equal((await watch.look(context)).moves.length, 20);
  });

  it('lets every shard keep its colour, whoever comes and goes', async () => {
    own('b', 'c');
    const before = (await watch.look(context)).colours;
    own('a', 'c');
    const { colours } = await lookLater();
    assert.equal(colours.get('c'), before.get('c'));
    assert.equal(new Set(colours.values()).size, 3);
  });

  it('does without members and loads where they cannot be had', async () => {
    own('a');
    operator.faults.push(undefined, new GrantdError('unavailable', 'x'), new GrantdError('unavailable', 'x'));
    const look = await watch.look(context);
    assert.equal(look.members, undefined);
    assert.equal(look.loads, undefined);
    assert.equal(look.slots.length, 1);
  });

  it('asks again at once where no shard answered', async () => {
    operator.faults.push(new GrantdError('unavailable', 'x'));
    await assert.rejects(watch.look(context), { code: 'unavailable' });
    own('a');
    assert.equal((await watch.look(context)).slots.length, 1);
  });
});
