// The names of rules that tenants have asked this front about in the present minute, so that their owners know which
// names applications still need. Invariant: however many different names keys ask about, their number is bounded, for a
// tenant and in all, and each minute starts anew.

import type { TenantId } from '../../core/ids.ts';
import { isRelation } from '../../core/tuples.ts';
import type { AskedReport } from '../../rpc/messages.ts';
import { ASKED_PER_REPORT_MAX } from '../../rpc/protocol.ts';
import { isRuleName, NAMES_MAX } from '../../rules/rule-set.ts';

/** With texts and sets about 10 MiB. The reports of a minute tell more. */
export const ASKED_NAMES_MAX = 50_000;

/** A session that asks. */
interface Asker {
  readonly tenantId: TenantId;
  /** Slot of the tenant; negative: not known yet. */
  readonly slot: number;
}

interface AskedName {
  readonly by: Asker;
  readonly name: string;
}

export class AskedNames {
  readonly #countMax: number;
  readonly #byTenant = new Map<TenantId, Set<string>>();
  #count = 0;
  #untold: AskedName[] = [];

  constructor(countMax = ASKED_NAMES_MAX) {
    this.#countMax = countMax;
  }

  note(by: Asker, name: string): void {
    let names = this.#byTenant.get(by.tenantId);
    if (names?.has(name) || isRelation(name) || !isRuleName(name)) return;
    if (this.#count >= this.#countMax || (names?.size ?? 0) >= NAMES_MAX) return;
    if (names === undefined) {
      names = new Set();
      this.#byTenant.set(by.tenantId, names);
    }
    // A part of a larger text would keep all of that in memory.
    const copy = Buffer.from(name, 'latin1').toString('latin1');
    names.add(copy);
    this.#count += 1;
    this.#untold.push({ by, name: copy });
  }

  /** Sends what is not told yet, as much as a report takes. `send`: false if it cannot be sent now. */
  tell<Link>(linkOf: (slot: number) => Link | undefined, send: (link: Link, asked: AskedReport[]) => boolean): void {
    const told = this.#untold.splice(0, ASKED_PER_REPORT_MAX);
    for (const [link, asked] of Map.groupBy(told, ({ by }) => linkOf(by.slot))) {
      if (link === undefined || !send(link, reportsOf(asked))) this.#untold.push(...asked);
    }
  }

  /** A minute has ended. What could not be told of it is forgotten. */
  startOver(): void {
    this.#byTenant.clear();
    this.#count = 0;
    this.#untold = [];
  }
}

const reportsOf = (asked: readonly AskedName[]): AskedReport[] =>
  Array.from(
    Map.groupBy(asked, ({ by }) => by.tenantId),
    ([tenantId, each]) => ({
      slot: each[0]?.by.slot ?? 0,
      tenantId,
      names: each.map(({ name }) => name),
    }),
  );
