// A scenario measures one promise of the service and answers with figures. It starts what it needs and ends it.

import type { DataSet } from './data-set.ts';
import type { Figure } from './figure.ts';
import type { LoadClient } from './load/load-client.ts';
import type { TenantAccess } from './server/operator.ts';

/** A data directory that holds the large data set, imported once for all scenarios of a run. */
export interface LargeDirectory extends TenantAccess {
  readonly directory: string;
  readonly data: DataSet;
  readonly importSeconds: number;
}

export interface BenchContext {
  readonly client: LoadClient;
  readonly quick: boolean;
  /** Rounds of what is measured in turns; 3 or more, unless quick. */
  readonly rounds: number;
  /** Of one measurement. */
  readonly durationMs: number;
  /** Which parts of a scenario that has parts by name; empty: all. */
  readonly only: readonly string[];
  /** For the processes started. */
  readonly searchPath: string;
  /** An empty folder, removed at the end of the run. */
  createDirectory(): string;
  /** A folder of that name which stays for the next run where the command line says so; else it is removed, too. */
  keepDirectory(name: string): string;
  readLargeDirectory(): Promise<LargeDirectory>;
  progress(text: string): void;
}

/** What a scenario needs cannot be had on this machine; why has been said. */
export class MissingEngine extends Error {}

export interface Scenario {
  readonly name: string;
  readonly summary: string;
  /** What `--only` may name, with what it is. */
  readonly parts?: readonly { readonly name: string; readonly summary: string }[];
  /** A target that is missed fails the run. */
  readonly failsOnMiss?: boolean;
  run(context: BenchContext): Promise<readonly Figure[]>;
}

/** Connections of every load, by the promise. */
export const CONNECTIONS = 64;
/** Grants in the tenant whose checks and writes are measured, by the promise. */
export const GRANTS = 100_000;
