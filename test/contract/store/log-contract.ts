// The log: one record per seq, whoever appends, and segments that are read and removed as a whole.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRecord, newSlot, soon } from '../../kit/store/store-fixtures.ts';
import type { StoreContext } from './store-contract.ts';

export function defineLogContract(context: StoreContext): void {
  describe('log', () => {
    it('appends a record and reads it back', async () => {
      const record = createRecord(newSlot(), 1, { epoch: 7, body: '{"text":"😀 \ufffd \u2028 é"}' });
      assert.deepEqual(await context.store().append(record, soon()), { kind: 'appended' });
      assert.deepEqual(await context.store().readRecord(record.slot, 1, soon()), record);
      assert.equal(await context.store().readRecord(record.slot, 2, soon()), undefined);
      assert.equal(await context.store().readRecord(newSlot(), 1, soon()), undefined);
    });

    it('answers an append to a taken seq with the record that stands there, and changes nothing', async () => {
      const first = createRecord(newSlot(), 1);
      await context.store().append(first, soon());
      const second = createRecord(first.slot, 1, { epoch: 2, body: 'other' });
      assert.deepEqual(await context.store().append(second, soon()), { kind: 'occupied', record: first });
      assert.deepEqual(await context.store().readRecord(first.slot, 1, soon()), first);
    });

    it('answers the repetition of an append with its own record', async () => {
      const record = createRecord(newSlot(), 1);
      await context.store().append(record, soon());
      assert.deepEqual(await context.store().append({ ...record }, soon()), { kind: 'occupied', record });
    });

    it('lets exactly one of many concurrent appends to a seq win', async () => {
      const slot = newSlot();
      const records = Array.from({ length: 8 }, (_, index) => createRecord(slot, 1, { epoch: index + 1 }));
      const outcomes = await Promise.all(records.map((record) => context.store().append(record, soon())));
      const winners = records.filter((_, index) => outcomes[index]?.kind === 'appended');
      assert.equal(winners.length, 1);
      for (const outcome of outcomes) {
        if (outcome.kind === 'occupied') assert.deepEqual(outcome.record, winners[0]);
      }
      assert.deepEqual(await context.store().readRecord(slot, 1, soon()), winners[0]);
    });

    it('keeps the logs of slots apart, also when their appends run together', async () => {
      const records = Array.from({ length: 64 }, () => createRecord(newSlot(), 1));
      const outcomes = await Promise.all(records.map((record) => context.store().append(record, soon())));
      assert.ok(outcomes.every((outcome) => outcome.kind === 'appended'));
      for (const record of records) {
        assert.deepEqual(await context.store().readRecords(record.slot, 1, 10, soon()), [record]);
      }
    });

    it('takes a body of 1 MiB', async () => {
      const record = createRecord(newSlot(), 1, { body: 'é'.repeat(512 * 1024) });
      await context.store().append(record, soon());
      assert.deepEqual(await context.store().readRecord(record.slot, 1, soon()), record);
    });

    it('reads records ascending, up to the end of their segment and to the limit', async () => {
      const { segmentSize } = context.meta();
      const slot = newSlot();
      const records = Array.from({ length: segmentSize + 2 }, (_, index) => createRecord(slot, index + 1));
      for (const record of records) await context.store().append(record, soon());
      const read = async (fromSeq: number, limit: number) =>
        (await context.store().readRecords(slot, fromSeq, limit, soon())).map((record) => record.seq);
      // The first segment holds the seqs 1 to K − 1: segment = seq div K.
      const firstSegment = Array.from({ length: segmentSize - 1 }, (_, index) => index + 1);
      assert.deepEqual(await read(1, 10_000), firstSegment);
      assert.deepEqual(await read(3, 2), [3, 4]);
      assert.deepEqual(await read(segmentSize - 1, 10), [segmentSize - 1]);
      assert.deepEqual(await read(segmentSize, 10), [segmentSize, segmentSize + 1, segmentSize + 2]);
      assert.deepEqual(await read(segmentSize + 3, 10), []);
      assert.deepEqual(await read(5 * segmentSize, 10), []);
      assert.deepEqual(await context.store().readRecords(slot, 1, 1, soon()), records.slice(0, 1));
    });

    it('reads ahead into the next segment, and to the limit', async () => {
      const { segmentSize } = context.meta();
      const slot = newSlot();
      const records = Array.from({ length: segmentSize + 2 }, (_, index) => createRecord(slot, index + 1));
      for (const record of records) await context.store().append(record, soon());
      const read = async (fromSeq: number, limit: number) =>
        (await context.store().readTail(slot, fromSeq, limit, soon())).map((record) => record.seq);
      // Nothing is in flight: what was acknowledged is there.
      const from = segmentSize - 2;
      assert.deepEqual(await read(from, 100), [from, from + 1, from + 2, from + 3, from + 4]);
      assert.deepEqual(await read(1, 2), [1, 2]);
      assert.deepEqual(await read(segmentSize + 1, 100), [segmentSize + 1, segmentSize + 2]);
      assert.deepEqual(await read(segmentSize + 3, 100), []);
      assert.deepEqual(await context.store().readTail(slot, 1, 1, soon()), records.slice(0, 1));
    });

    it('removes a whole segment and nothing else, as often as it is told', async () => {
      const { segmentSize } = context.meta();
      const slot = newSlot();
      for (let seq = 1; seq <= segmentSize; seq += 1) await context.store().append(createRecord(slot, seq), soon());
      await context.store().removeSegment(slot, 0, soon());
      await context.store().removeSegment(slot, 0, soon());
      await context.store().removeSegment(slot, 9, soon());
      assert.deepEqual(await context.store().readRecords(slot, 1, 1000, soon()), []);
      assert.equal(await context.store().readRecord(slot, 1, soon()), undefined);
      const rest = await context.store().readRecords(slot, segmentSize, 1000, soon());
      assert.deepEqual(
        rest.map((record) => record.seq),
        [segmentSize],
      );
    });

    it('shows a record to every read that starts after its append was answered', async () => {
      const slot = newSlot();
      for (let seq = 1; seq <= 50; seq += 1) {
        const record = createRecord(slot, seq);
        await context.store().append(record, soon());
        assert.deepEqual(await context.store().readRecord(slot, seq, soon()), record);
      }
    });
  });
}
