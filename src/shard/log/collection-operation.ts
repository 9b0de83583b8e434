// The operation of the log that collects expired grants, as a change of the system. Its decision looks at the grants
// themselves, so those that have ended or have another expiry by then stay as they are.

import type { Tuple } from '../../core/tuples.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { Operation } from './append-batch.ts';
import { type CollectedTuple, decideCollection } from './write-decisions.ts';

/** UTF-8 bytes of an operation, and of each change, without strings; a character takes at most 6 (an escape). */
const OPERATION_BYTES = 1024;
const CHANGE_BYTES = 400;
const BYTES_PER_CHARACTER = 6;
/** A hundred of the longest grants would be more. */
const OPERATION_BYTES_MAX = 256 * 1024;

const bytesOf = (tuples: readonly Tuple[]): number =>
  tuples.reduce(
    (sum, { subject, object }) => sum + CHANGE_BYTES + BYTES_PER_CHARACTER * (subject.length + object.length),
    0,
  );

/** The first tuples, as many as one operation may collect. */
export function withinOperation<Each extends Tuple>(tuples: readonly Each[]): readonly Each[] {
  let count = tuples.length;
  while (count > 1 && bytesOf(tuples.slice(0, count)) > OPERATION_BYTES_MAX) count = Math.ceil(count / 2);
  return tuples.slice(0, count);
}

/** Collects those of the tuples, each named once, whose grants have expired. */
export function collectionOperation(
  memory: TenantMemory,
  tuples: readonly CollectedTuple[],
  { requestId, expiresAtMs }: Pick<Operation, 'requestId' | 'expiresAtMs'>,
): Operation {
  return {
    tenantId: memory.tenantId,
    actor: 'system',
    requestId,
    index: 0,
    expiresAtMs,
    bytesMax: OPERATION_BYTES + bytesOf(tuples.map(({ request }) => request)),
    changesMax: tuples.length,
    decide: decideCollection(memory, tuples),
  };
}
