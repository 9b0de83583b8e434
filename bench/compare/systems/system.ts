// The port of the comparison: a running system, its processes, and how the load reaches it.

import type { Access, LoadJob, ModelShape, Product, Protocol } from '../load-job.ts';

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
  /** Every process involved in a response, including the database; their descendants count too. */
  readonly processes: readonly number[];
  /** Empty until the grants are loaded. */
  readonly channels: readonly Channel[];
  /** The batch sizes to try, including the largest that it allows. Empty: it has no batches. */
  readonly batches: readonly number[];
  /** Whether it can list the objects of a subject and the subjects of an object. */
  readonly lists: boolean;
  /** Whether an acknowledged write survives a loss of power. */
  readonly durable: boolean;
  /** Loading more would take too long. */
  readonly grantsMax?: number;
  /** How to write many grants: the system's own bulk write. Undefined: it has none. */
  readonly bulk?: BulkLoad;
  /**
   * For what a model decides: the same system, with grants and a model of their own for each shape, so that those of
   * the others stay flat. Undefined: it has no models.
   */
  readonly modelled?: Readonly<Record<ModelShape, Place>>;
  /** Called after the bulk writes, so that all later answers are known. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

/** Where a system has some of the grants. */
export interface Place {
  readonly channels: readonly Channel[];
  readonly bulk: BulkLoad;
}

export type BulkLoad = Access & Required<Pick<LoadJob, 'protocol' | 'perCall' | 'workers'>>;

/** What a system needs to start. */
export interface SystemContext {
  /** An empty folder that every user may enter, removed at the end. */
  createDirectory(): string;
  /** PATH for the started processes. */
  readonly searchPath: string;
}
