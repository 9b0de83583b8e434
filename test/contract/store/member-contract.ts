// The life of a member: inserted once, kept alive heartbeat by heartbeat, declared dead for good.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMember, newIncarnation, soon } from '../../kit/store/store-fixtures.ts';
import type { StoreContext } from './store-contract.ts';

/** Of members in these tests. */
const WALL_MS = 1_700_000_000_000;

export function defineMemberContract(context: StoreContext): void {
  describe('members', () => {
    it('inserts an incarnation once', async () => {
      const member = createMember();
      assert.equal(await context.store().readMember(member.incarnation, soon()), undefined);
      assert.deepEqual(await context.store().insertMember(member, soon()), { applied: true, row: member });
      const again = createMember({ incarnation: member.incarnation, address: '127.0.0.1:9', heartbeat: 5 });
      assert.deepEqual(await context.store().insertMember(again, soon()), { applied: false, row: member });
      assert.deepEqual(await context.store().readMember(member.incarnation, soon()), member);
    });

    it('tells the time of one of its nodes, or that it has the clock of this process', async () => {
      const read = await context.store().readClock(soon());
      if (read === undefined) return;
      assert.ok(read.node !== '');
      assert.ok(Math.abs(read.wallMs - Date.now()) < 60_000, `${read.wallMs}`);
    });

    it('keeps the place of a member through every change of its row', async () => {
      const member = createMember({ place: 'a boot net:[1] 10.0.0.1:8082' });
      const { incarnation, heartbeat } = member;
      assert.deepEqual(await context.store().insertMember(member, soon()), { applied: true, row: member });
      const next = {
        incarnation,
        expectedHeartbeat: heartbeat,
        heartbeat: heartbeat + 1,
        healthyHeartbeat: 0,
        wallMs: member.wallMs + 500,
        state: 'draining',
      } as const;
      const draining = { ...member, heartbeat: heartbeat + 1, wallMs: member.wallMs + 500, state: 'draining' };
      assert.deepEqual(await context.store().writeHeartbeat(next, soon()), { applied: true, row: draining });
      const dead = { ...draining, state: 'dead' };
      assert.deepEqual(await context.store().declareDead({ incarnation, heartbeat: heartbeat + 1 }, soon()), {
        applied: true,
        row: dead,
      });
      const listed = await context.store().listMembers(soon());
      assert.deepEqual(
        listed.find((row) => row.incarnation === incarnation),
        dead,
      );
    });

    it('heartbeats from the expected number to the next, alive or draining', async () => {
      const member = createMember();
      await context.store().insertMember(member, soon());
      const { incarnation } = member;
      const heartbeat = (
        expectedHeartbeat: number,
        next: number,
        state: 'alive' | 'draining',
        healthyHeartbeat: number,
      ) =>
        context
          .store()
          .writeHeartbeat(
            { incarnation, expectedHeartbeat, heartbeat: next, healthyHeartbeat, wallMs: member.wallMs, state },
            soon(),
          );
      assert.deepEqual(await heartbeat(2, 3, 'alive', 3), { applied: false, row: member });
      const second = { ...member, heartbeat: 2, healthyHeartbeat: 2 };
      assert.deepEqual(await heartbeat(1, 2, 'alive', 2), { applied: true, row: second });
      assert.deepEqual(await heartbeat(1, 3, 'alive', 3), { applied: false, row: second });
      const draining = { ...second, heartbeat: 3, state: 'draining' };
      assert.deepEqual(await heartbeat(2, 3, 'draining', 2), { applied: true, row: draining });
      assert.deepEqual(await heartbeat(3, 4, 'draining', 2), { applied: true, row: { ...draining, heartbeat: 4 } });
      const back = { ...member, heartbeat: 5, healthyHeartbeat: 5 };
      assert.deepEqual(await heartbeat(4, 5, 'alive', 5), { applied: true, row: back });
      assert.deepEqual(
        (await context.store().listMembers(soon())).find((row) => row.incarnation === incarnation),
        back,
      );
    });

    it('answers a heartbeat or a declaration without a row with no row', async () => {
      const incarnation = newIncarnation();
      const none = { applied: false, row: undefined };
      const heartbeat = {
        incarnation,
        expectedHeartbeat: 1,
        heartbeat: 2,
        healthyHeartbeat: 0,
        wallMs: WALL_MS,
        state: 'alive',
      } as const;
      assert.deepEqual(await context.store().writeHeartbeat(heartbeat, soon()), none);
      assert.deepEqual(await context.store().declareDead({ incarnation, heartbeat: 1 }, soon()), none);
      assert.equal(await context.store().readMember(incarnation, soon()), undefined);
    });

    it('declares a member dead only at the heartbeat that was seen', async () => {
      for (const state of ['alive', 'draining'] as const) {
        const member = createMember({ heartbeat: 7, state });
        const { incarnation } = member;
        await context.store().insertMember(member, soon());
        const early = await context.store().declareDead({ incarnation, heartbeat: 6 }, soon());
        assert.deepEqual(early, { applied: false, row: member });
        const dead = { ...member, state: 'dead' };
        const declared = await context.store().declareDead({ incarnation, heartbeat: 7 }, soon());
        assert.deepEqual(declared, { applied: true, row: dead });
      }
    });

    it('makes death final: no beat, no second declaration, no insertion brings it back', async () => {
      const member = createMember();
      const { incarnation } = member;
      await context.store().insertMember(member, soon());
      await context.store().declareDead({ incarnation, heartbeat: 1 }, soon());
      const dead = { applied: false, row: { ...member, state: 'dead' } };
      for (const state of ['alive', 'draining'] as const) {
        const heartbeat = {
          incarnation,
          expectedHeartbeat: 1,
          heartbeat: 2,
          healthyHeartbeat: 2,
          wallMs: WALL_MS,
          state,
        };
        assert.deepEqual(await context.store().writeHeartbeat(heartbeat, soon()), dead);
      }
      assert.deepEqual(await context.store().declareDead({ incarnation, heartbeat: 1 }, soon()), dead);
      assert.deepEqual(await context.store().insertMember(member, soon()), dead);
    });

    it('lets either a heartbeat or a declaration at the same number win, never both', async () => {
      for (let round = 0; round < 20; round += 1) {
        const member = createMember();
        const { incarnation } = member;
        await context.store().insertMember(member, soon());
        const next = {
          incarnation,
          expectedHeartbeat: 1,
          heartbeat: 2,
          healthyHeartbeat: 2,
          wallMs: WALL_MS,
          state: 'alive',
        } as const;
        const heartbeat = () => context.store().writeHeartbeat(next, soon());
        const declare = () => context.store().declareDead({ incarnation, heartbeat: 1 }, soon());
        const outcomes = await Promise.all(round % 2 === 0 ? [heartbeat(), declare()] : [declare(), heartbeat()]);
        assert.equal(outcomes.filter((outcome) => outcome.applied).length, 1);
      }
    });

    it('removes the dead only, as often as it is told', async () => {
      const member = createMember();
      const { incarnation } = member;
      await context.store().insertMember(member, soon());
      await context.store().removeMember(incarnation, soon());
      assert.deepEqual(await context.store().readMember(incarnation, soon()), member);
      await context.store().declareDead({ incarnation, heartbeat: 1 }, soon());
      await context.store().removeMember(incarnation, soon());
      await context.store().removeMember(incarnation, soon());
      assert.equal(await context.store().readMember(incarnation, soon()), undefined);
    });

    it('lists every member', async () => {
      const shardName = `shard-${newIncarnation()}`;
      const members = [createMember({ shardName }), createMember({ shardName, state: 'draining' })];
      for (const member of members) await context.store().insertMember(member, soon());
      const listed = (await context.store().listMembers(soon())).filter((row) => row.shardName === shardName);
      const byId = (left: { incarnation: string }, right: { incarnation: string }) =>
        left.incarnation < right.incarnation ? -1 : 1;
      assert.deepEqual([...listed].sort(byId), [...members].sort(byId));
    });
  });
}
