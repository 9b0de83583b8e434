// Sets the time of a slot's log back to the wall clock, where it is ahead: slot-time.ts says what that means. First,
// everything that has ended by the time of the log is recorded as ended: expired grants by the collection, which runs
// anyway, expired keys by a revocation. A call does a bounded part of that, and says if it has to be repeated. It may
// be interrupted anywhere: until the last entry the log has its old time, and what was recorded as ended stays so.
//
// Invariant: the entry that sets time back is created in a step in which no tenant has an uncollected grant, or a live
// key, that has ended by the time of the log. A tenant that was never looked at counts as one that has.

import { type Clock, delay } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { isLeaving } from '../../core/tenants.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { RepairedTime } from '../shard.ts';
import { BASE_MS_MAX } from './entries.ts';
import { decideKeyRevocation } from './key-decisions.ts';
import { timeOfStamp } from './slot-time.ts';
import type { Tenure } from './tenure.ts';

/** The part of one call, which its caller waits for. */
const PART_MS = 1500;
const POLL_MS = 50;
const REQUEST_MS = 10_000;
/** UTF-8 bytes of an operation on a key. Its longest part is the name: 256 code points, each escaped. */
const KEY_OPERATION_BYTES = 8 * 1024;
/** What must be left until stamps end, after which time would stand still for good. */
const LEFT_MS_MIN = 10 * 365 * 24 * 3_600_000;

export interface TimeRepairPorts {
  readonly clock: Clock;
  readonly createRequestId: () => string;
}

/** Whether something of a tenant has ended by the time of the log, and is not recorded as ended. */
const isOpen = ({ slotTime }: Tenure, memory: TenantMemory): boolean =>
  !isLeaving(memory.tenant) && Math.min(memory.uncollectedMs, memory.keysEndMs ?? 0) <= slotTime.loggedMs;

const someOpen = (tenure: Tenure): boolean => tenure.tenants.values().some((memory) => isOpen(tenure, memory));

export async function repairTime(
  ports: TimeRepairPorts,
  tenure: Tenure,
  { dryRun }: { readonly dryRun: boolean },
): Promise<RepairedTime> {
  const { clock } = ports;
  const { slot, slotTime, behindMs } = tenure;
  const aheadMs = (): number => {
    tenure.assertServing();
    return slotTime.aheadMs;
  };
  const answer = (state: RepairedTime['state'], keys = 0): RepairedTime => {
    return { slot, state, aheadMs: ahead, wallMs: clock.wallMs(), keys };
  };
  const ahead = aheadMs();
  if (ahead === 0) return answer('right');
  if (BASE_MS_MAX - timeOfStamp(tenure.nextBase) < LEFT_MS_MIN) {
    throw new GrantdError(
      'unavailable',
      `The log of slot ${slot} has been set back by ${behindMs} ms before; its stamps cannot go on from here.`,
    );
  }
  if (dryRun) return answer('ahead');
  const untilMs = clock.monotonicMs() + PART_MS;
  let keys = 0;
  while (true) {
    for (const memory of [...tenure.tenants.values()]) {
      if (clock.monotonicMs() >= untilMs) return answer('ending', keys);
      tenure.assertServing();
      if (!isLeaving(memory.tenant) && (memory.keysEndMs ?? 0) <= slotTime.loggedMs) {
        keys += await revokeEnded(ports, tenure, memory);
      }
    }
    if (!someOpen(tenure) && (await tenure.setBack(() => (someOpen(tenure) ? 0 : aheadMs())))) {
      return answer('repaired', keys);
    }
    // A clock that was set forward again, or has caught up.
    if (aheadMs() === 0) return answer('right', keys);
    if (clock.monotonicMs() + POLL_MS >= untilMs) return answer('ending', keys);
    await delay(clock, POLL_MS);
  }
}

/** Revokes the keys of a tenant that have ended by the time of the log. Resolves with their number. */
async function revokeEnded(ports: TimeRepairPorts, tenure: Tenure, memory: TenantMemory): Promise<number> {
  const { clock } = ports;
  const { loggedMs } = tenure.slotTime;
  using _keys = await memory.keys.pin();
  const keys = [...memory.keys.rows.values()];
  let revoked = 0;
  for (const { keyId, expiresAtMs = Number.POSITIVE_INFINITY } of keys) {
    if (expiresAtMs > loggedMs) continue;
    const request = { tenantId: memory.tenantId, actor: 'system', requestId: ports.createRequestId(), index: 0 };
    const expiresMs = clock.monotonicMs() + REQUEST_MS;
    const decide = decideKeyRevocation(memory, keyId);
    try {
      await tenure.submit({ ...request, expiresAtMs: expiresMs, bytesMax: KEY_OPERATION_BYTES, decide });
      revoked += 1;
    } catch (error) {
      // Another call has revoked it.
      if (!(error instanceof GrantdError && error.code === 'key-not-found')) throw error;
    }
  }
  tenure.assertServing();
  // From here on, commits keep it.
  memory.keysEndMs = firstEnd(memory);
  return revoked;
}

/** The end of the live key that ends first. Its keys must be pinned. */
const firstEnd = ({ keys }: TenantMemory): number =>
  keys.rows.values().reduce((first, { expiresAtMs = first }) => Math.min(first, expiresAtMs), Number.POSITIVE_INFINITY);
