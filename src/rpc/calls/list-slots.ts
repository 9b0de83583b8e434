// What one shard knows about the slots of the cluster.

import type { SlotStatus, SlotsReport } from '../../shard/shard.ts';
import type { Slot__Output } from '../gen/grantd/v1/Slot.ts';
import { defineCall } from './define-call.ts';
import { stateReader } from './parts/answer-fields.ts';

/** The report of one shard, under the name that it gives itself. */
export interface NamedSlotsReport extends Pick<SlotsReport, 'incarnation' | 'leaseLeftMs' | 'owned'> {
  readonly shardName: string;
  readonly owners: readonly SlotOwnership[];
}

/** The owner of a slot, as a row of the store names it. */
export interface SlotOwnership {
  readonly slot: number;
  readonly epoch: number;
  /** Undefined: released. */
  readonly incarnation: string | undefined;
}

const stateFrom = stateReader<SlotStatus['state']>(['opening', 'serving', 'releasing'], 'slot');

const slotFrom = ({ state, ...rest }: Slot__Output): SlotStatus => ({ ...rest, state: stateFrom(state) });

export const listSlots = defineCall({
  request: 'listSlots',
  reply: 'slots',
  access: 'console',
  write: 'no',
  requestToWire: (_: undefined) => ({ listSlots: {} }),
  requestFromWire: () => undefined,
  async serve({ connection, shard }): Promise<NamedSlotsReport> {
    const { shardName } = shard.welcome();
    const { rows, ...report } = await connection.listSlots();
    return {
      ...report,
      shardName,
      owners: rows.map(({ slot, epoch, owner }) => ({ slot, epoch, incarnation: owner })),
    };
  },
  replyToWire: ({ owned, owners, incarnation, shardName, leaseLeftMs }) => ({
    slots: {
      slots: [...owned],
      incarnation,
      shardName,
      leased: leaseLeftMs !== undefined,
      leaseLeftMs: leaseLeftMs ?? 0,
      owners: owners.map(({ slot, epoch, incarnation: owner }) => ({ slot, epoch, incarnation: owner ?? '' })),
    },
  }),
  replyFromWire: ({ slots, owners, incarnation, shardName, leased, leaseLeftMs }): NamedSlotsReport => ({
    incarnation,
    shardName,
    leaseLeftMs: leased ? leaseLeftMs : undefined,
    owned: slots.map(slotFrom),
    owners: owners.map(({ slot, epoch, incarnation: owner }) => ({
      slot,
      epoch,
      incarnation: owner === '' ? undefined : owner,
    })),
  }),
});
