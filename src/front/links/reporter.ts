// Reports to every shard, every two seconds, what this front has requested from it and what its tenants have requested
// from this front. Minutes are those of this front's clock, and each ends together with an interval. Invariant: nothing
// is reported twice; a report that is lost with its connection is lost.

import type { Clock, Timer } from '../../core/async/clock.ts';
import type { TenantId } from '../../core/ids.ts';
import { MS_PER_MINUTE } from '../../core/text/timestamps.ts';
import type { Report } from '../../rpc/messages.ts';
import { PROBLEMS_PER_REPORT_MAX, USAGE_PER_REPORT_MAX } from '../../rpc/protocol.ts';
import type { NotedProblem } from '../front.ts';
import { AskedNames } from './asked-names.ts';
import type { RoutingTable } from './routing-table.ts';
import type { ShardLink } from './shard-link.ts';

/** A minute is a whole number of intervals. */
const INTERVAL_MS = 2000;

export interface ReporterDependencies {
  readonly clock: Clock;
  readonly routing: RoutingTable;
  readonly ledger: UsageLedger;
  readonly readyLinks: () => readonly ShardLink[];
}

export class Reporter {
  readonly #dependencies: ReporterDependencies;
  #sinceMs: number;
  #sinceWallMs: number;
  #minute = 0;
  #timer: Timer | undefined;

  constructor(dependencies: ReporterDependencies) {
    const { clock } = dependencies;
    this.#dependencies = dependencies;
    this.#sinceMs = clock.monotonicMs();
    this.#sinceWallMs = clock.wallMs();
    this.#schedule();
  }

  close(): void {
    this.#timer?.cancel();
  }

  #schedule(): void {
    const { clock } = this.#dependencies;
    this.#timer = clock.setTimer(
      () => {
        this.#report();
        this.#schedule();
      },
      INTERVAL_MS - (clock.wallMs() % INTERVAL_MS),
    );
  }

  #report(): void {
    const { clock, ledger, routing, readyLinks } = this.#dependencies;
    const elapsedMs = clock.monotonicMs() - this.#sinceMs;
    this.#sinceMs += elapsedMs;
    const wallMs = clock.wallMs();
    // The minute of the interval's middle, so that a timer that is slightly early or late does not hit another minute.
    const minute = Math.floor((this.#sinceWallMs + wallMs) / 2 / MS_PER_MINUTE);
    this.#sinceWallMs = wallMs;
    ledger.asked.tell(
      (slot) => routing.route(slot)?.link,
      (link, asked) => link.report({ asked }),
    );
    if (minute !== this.#minute) ledger.asked.startOver();
    this.#minute = minute;
    for (const link of readyLinks()) link.report({ load: link.load.take(elapsedMs) });
    for (const [link, sources] of this.#byLink(ledger.take())) {
      for (let start = 0; start < sources.length; start += USAGE_PER_REPORT_MAX) {
        const part = sources.slice(start, start + USAGE_PER_REPORT_MAX);
        const sent = link.report(usageReport(minute, part));
        for (const source of part) {
          if (sent) ledger.reported(source);
          else ledger.keep(source);
        }
      }
    }
  }

  #byLink(sources: readonly UsageSource[]): ReadonlyMap<ShardLink, readonly UsageSource[]> {
    const { routing, ledger } = this.#dependencies;
    const byLink = new Map<ShardLink, UsageSource[]>();
    for (const source of sources) {
      const link = routing.route(source.slot)?.link;
      const known = link === undefined ? undefined : byLink.get(link);
      if (link === undefined) ledger.keep(source);
      else if (known === undefined) byLink.set(link, [source]);
      else known.push(source);
    }
    return byLink;
  }
}

const problemsOf = ({ slot, tenantId, keyId, usage }: UsageSource) =>
  Array.from(usage.problems ?? [], ([code, problem]) => ({ slot, tenantId, keyId, code, ...problem }));

function usageReport(minute: number, sources: readonly UsageSource[]): Report {
  return {
    usage: {
      minute,
      slots: sources.map(({ slot }) => slot),
      tenantIds: sources.map(({ tenantId }) => tenantId),
      requests: sources.map(({ usage }) => usage.requests),
      refused: sources.map(({ usage }) => usage.refused),
      checks: sources.map(({ usage }) => usage.checks),
    },
    problems: sources.flatMap(problemsOf).slice(0, PROBLEMS_PER_REPORT_MAX),
  };
}

// ---- usage of tenants ----
//
// What the tenants have requested from this front since its last report, kept with the session of each key. Every
// request passes here: a session enters the ledger once per report, and after that only its counters change. Invariant:
// however many keys are in use, a report names a bounded number of sessions; the others keep their counts for a later
// one.

/** Sessions in one report: about 400 KiB on the wire at most without their problems, shared by all shards. */
export const SESSIONS_PER_REPORT_MAX = 10_000;

/** Kinds of problems that one session remembers until its next report. */
export const PROBLEMS_PER_SESSION_MAX = 8;

/** Counts of one session. */
export interface UsageTally {
  requests: number;
  refused: number;
  checks: number;
  /** By code: how often, and the last one. Undefined: none. */
  problems: Map<string, Omit<NotedProblem, 'code'> & { readonly count: number }> | undefined;
  /** The last name that was asked about; empty: none since the last report. */
  lastName: string;
  /** The ledger knows that there is something to report. */
  listed: boolean;
}

export interface UsageSource {
  readonly tenantId: TenantId;
  readonly keyId: string;
  /** Slot of the tenant; negative: not known yet. */
  readonly slot: number;
  readonly usage: UsageTally;
}

export const createUsageTally = (): UsageTally => ({
  ...{ requests: 0, refused: 0, checks: 0 },
  problems: undefined,
  lastName: '',
  listed: false,
});

export class UsageLedger {
  readonly asked = new AskedNames();
  readonly #sourcesMax: number;
  #sources: UsageSource[] = [];

  constructor(sourcesMax = SESSIONS_PER_REPORT_MAX) {
    this.#sourcesMax = sourcesMax;
  }

  /** To be called at a request while the source is not listed. If the ledger is full, the next request tries again. */
  list(source: UsageSource): void {
    source.usage.lastName = '';
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
    usage.problems = undefined;
    usage.listed = false;
  }

  /** Its counts could not be sent: they go with the next report. */
  keep(source: UsageSource): void {
    this.#sources.push(source);
  }
}
