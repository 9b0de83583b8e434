// A process of its own that opens a store and writes until it is killed: appends to several slots at once, state and a
// checkpoint behind every entry. It prints `open`, then one line `<slot> <seq>` per append that was acknowledged.
// Arguments: the data directory, the first slot, the number of slots (0: only hold the directory).

import type { TenantId } from '../../../src/core/ids.ts';
import { openStore } from '../../kit/store/store-directory.ts';
import { createGrantWrite, createRecord, META, soon } from '../../kit/store/store-fixtures.ts';

const [directory = '', firstSlot = '', count = '0', tenant = ''] = process.argv.slice(2);
const store = await openStore(directory);
await store.initializeMeta(META, soon());
process.stdout.write('open\n');

async function writeForever(slot: number): Promise<void> {
  for (let seq = 1; ; seq += 1) {
    const outcome = await store.append(createRecord(slot, seq, { body: 'x'.repeat(500 * (seq % 20)) }), soon());
    if (outcome.kind !== 'appended') throw new Error('A fresh seq is free.');
    process.stdout.write(`${slot} ${seq}\n`);
    const write = createGrantWrite(tenant as TenantId, { subject: `slot:${slot}`, object: `seq:${seq}`, stamp: seq });
    await store.writeState([write], soon());
    await store.writeCheckpoint(slot, { seq, stamp: seq, windowFrom: 1 }, soon());
  }
}

for (let index = 0; index < Number(count); index += 1) void writeForever(Number(firstSlot) + index);
