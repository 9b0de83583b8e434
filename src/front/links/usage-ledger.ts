// What the tenants have requested from this front since its last report, kept with the session of each key. Every
// request passes here: a session enters the ledger once per report, and after that only its counters change. Invariant:
// however many keys are in use, a report names a bounded number of sessions; the others keep their counts for a later
// one.

import type { TenantId } from '../../core/ids.ts';

/** Sessions in one report: about 400 KiB on the wire at most, shared by all shards. */
export const SESSIONS_PER_REPORT_MAX = 10_000;

/** Counts of one session. */
export interface UsageTally {
  requests: number;
  refused: number;
  checks: number;
  /** The ledger knows that there is something to report. */
  listed: boolean;
}

export interface UsageSource {
  readonly tenantId: TenantId;
  /** Slot of the tenant; negative: not known yet. */
  readonly slot: number;
  readonly usage: UsageTally;
}

export const createUsageTally = (): UsageTally => ({ requests: 0, refused: 0, checks: 0, listed: false });

export class UsageLedger {
  readonly #sourcesMax: number;
  #sources: UsageSource[] = [];

  constructor(sourcesMax = SESSIONS_PER_REPORT_MAX) {
    this.#sourcesMax = sourcesMax;
  }

  /** To be called at a request while the source is not listed. If the ledger is full, the next request tries again. */
  list(source: UsageSource): void {
    if (this.#sources.length >= this.#sourcesMax) return;
    source.usage.listed = true;
    this.#sources.push(source);
  }

  /** What is to be reported. Each source stays listed until `reported` or `keep`. */
  take(): readonly UsageSource[] {
    const sources = this.#sources;
    this.#sources = [];
    return sources;
  }

  /** Its counts were sent: it starts over. */
  reported({ usage }: UsageSource): void {
    usage.requests = 0;
    usage.refused = 0;
    usage.checks = 0;
    usage.listed = false;
  }

  /** Its counts could not be sent: they go with the next report. */
  keep(source: UsageSource): void {
    this.#sources.push(source);
  }
}
