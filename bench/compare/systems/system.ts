// The port of the comparison: a system that is running, what it is made of, and how the load reaches it.

import type { Access, LoadJob, Product, Protocol } from '../load-job.ts';

export interface Channel extends Access {
  readonly protocol: Protocol;
}

export interface System {
  /** Product and store, as tables show it. */
  readonly name: string;
  readonly product: Product;
  readonly version: string;
  /** Command lines and settings, for the record. */
  readonly settings: readonly string[];
  /** Every process that works for an answer, the database's included; with their descendants. */
  readonly processes: readonly number[];
  /** Empty until the grants are loaded. */
  readonly channels: readonly Channel[];
  /** Sizes of batches that are tried, the largest that it allows among them. Empty: it has no batches. */
  readonly batches: readonly number[];
  /** Whether it can list what a subject holds. */
  readonly lists: boolean;
  /** Whether an acknowledged write survives the loss of power. */
  readonly durable: boolean;
  /** With more it could not be filled in any useful time. */
  readonly grantsMax?: number;
  /** How the grants are written in bulk: the system's own way for many. Undefined: it has none. */
  readonly bulk?: BulkLoad;
  /** After the bulk: whatever lets the answers be known to be right from now on. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

export type BulkLoad = Access & Required<Pick<LoadJob, 'protocol' | 'perCall' | 'workers'>>;

/** What a system needs to start. */
export interface SystemContext {
  /** An empty folder, removed at the end, that every user may enter. */
  createDirectory(): string;
  /** For the processes started. */
  readonly searchPath: string;
}
