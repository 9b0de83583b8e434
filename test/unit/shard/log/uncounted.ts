// A store that a version without counts filled, and the walk that counts it without its rests.

import type { Clock } from '../../../../src/core/async/clock.ts';
import type { TenantId } from '../../../../src/core/ids.ts';
import { isLeaving } from '../../../../src/core/tenants.ts';
import type { Tuple } from '../../../../src/core/tuples.ts';
import { countGrants } from '../../../../src/shard/log/grant-walk.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { attempt, createMemoryStore, OpenSlot, type SlotOptions } from '../tools.ts';

const log = createLog({ level: 'silent', pretty: false });

export const totalOf = (slot: OpenSlot, tenantId: TenantId) => slot.tenure.tenants.get(tenantId)?.grantCount.total;

/** Without the rests. */
export async function walk({ store, clock, tenure }: OpenSlot): Promise<void> {
  const hurried: Clock = {
    monotonicMs: () => clock.monotonicMs(),
    wallMs: () => clock.wallMs(),
    setTimer: (run) => clock.setTimer(run, 0),
    setImmediate: (run) => clock.setImmediate(run),
  };
  const uncounted = () =>
    [...tenure.tenants.values()].some(
      ({ tenant, grantCount }) => !isLeaving(tenant) && grantCount.position !== undefined,
    );
  do await countGrants({ store, clock: hurried, log }, [tenure]);
  while (tenure.serving && uncounted());
}

const textOf = ({ subject, relation, object }: Tuple): string => `${subject} ${relation} ${object}`;

/** What the tenant holds, as the test knows it. */
export class Model {
  readonly grants = new Map<string, Tuple>();

  get total() {
    const bytes = [...this.grants.values()].reduce(
      (sum, each) => sum + Buffer.byteLength(each.subject + each.relation + each.object),
      0,
    );
    return { grants: this.grants.size, bytes };
  }

  async write(slot: OpenSlot, handle: number, tuples: readonly Tuple[], revoke = false): Promise<void> {
    for (let start = 0; start < tuples.length; start += 500) {
      const part = tuples.slice(start, start + 500);
      const writes = part.map((each) => ({ ...each, revoke }));
      await slot.connection.writeGrants(handle, attempt(), writes);
      for (const each of part) {
        if (revoke) this.grants.delete(textOf(each));
        else this.grants.set(textOf(each), each);
      }
    }
  }
}

/** A tenant whose grants a version without counts has stored. */
export async function filled(tuples: readonly Tuple[], options: SlotOptions = {}) {
  const old = await OpenSlot.open(await createMemoryStore(), { countless: true });
  const tenantId = await old.createTenant();
  const model = new Model();
  await model.write(old, await old.handle(tenantId), tuples);
  await old.tenure.checkpointed();
  const slot = await old.restart(options);
  return { slot, tenantId, model, handle: await slot.handle(tenantId) };
}
