// A scenario measures one promise of the service and returns figures. It starts what it needs, and ends it.

import type { DataSet } from './data-set.ts';
import type { Figure } from './figure.ts';
import type { LoadClient } from './load/load-client.ts';
import type { TenantAccess } from './server/operator.ts';

/** A data directory with the large data set, imported once for all scenarios of a run. */
export interface LargeDirectory extends TenantAccess {
  readonly directory: string;
  readonly data: DataSet;
  readonly importSeconds: number;
}

export interface BenchContext {
  readonly client: LoadClient;
  readonly quick: boolean;
  /** Rounds of measurements in turns; at least 3, unless quick. */
  readonly rounds: number;
  /** Of one measurement. */
  readonly durationMs: number;
  /** The named parts to run, if the scenario has parts; empty: all. */
  readonly only: readonly string[];
  /** PATH for the started processes. */
  readonly searchPath: string;
  /** An empty folder, removed at the end of the run. */
  createDirectory(): string;
  /**
   * A folder with that name, which is kept for the next run if the command line says so; otherwise it is removed too.
   */
  keepDirectory(name: string): string;
  readLargeDirectory(): Promise<LargeDirectory>;
  progress(text: string): void;
}

/** Something that a scenario needs is not available on this machine; the reason has been reported. */
export class MissingEngine extends Error {}

export interface Scenario {
  readonly name: string;
  readonly summary: string;
  /** The names for `--only`, with their meaning. */
  readonly parts?: readonly { readonly name: string; readonly summary: string }[];
  /** Whether a missed target fails the run. */
  readonly failsOnMiss?: boolean;
  run(context: BenchContext): Promise<readonly Figure[]>;
}

/** Connections of every load, as the promise says. */
export const CONNECTIONS = 64;
/** Grants in the measured tenant, as the promise says. */
export const GRANTS = 100_000;
