// What a role does with an adapter of the store before it works on the store: open it, wait for a schema that serves
// this program, and, as a task of its own, bring the schema there. The version of a schema is the number of the last
// migration applied to it. Only the adapter knows its migrations, so only the adapter reads, compares and prints that
// number.

import type { Meta, Store } from './store.ts';

/**
 * In the operator's words: the database cannot be used by this program, or not with these settings. Waiting does not
 * help.
 */
export class StoreRefusal extends Error {
  constructor(message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.name = 'StoreRefusal';
  }
}

export interface SchemaWaiting {
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Hears at every look why the wait goes on. */
  readonly onWaiting: (reason: string) => void;
}

export interface OpenedStore {
  readonly store: Store;
  /**
   * Resolves once the schema serves this program, to the meta that stands. Rejects with StoreRefusal where the schema
   * is too new, or the cluster was made with other settings.
   */
  awaitMeta(waiting: SchemaWaiting): Promise<Meta>;
}

/** As the conventions of OpenTelemetry name a database (https://opentelemetry.io/docs/specs/semconv/db/). */
export interface DatabaseName {
  /** One of the well-known values of `db.system.name`, where the product has one. */
  readonly system: string;
  /** The part of the database that is this cluster's (a keyspace, a schema); undefined: all of it. */
  readonly namespace?: string | undefined;
}

/** A store as the settings name it. */
export interface StoreAdapter {
  /** The product, as an operator knows it. */
  readonly product: string;
  /** As traces name it. */
  readonly database: DatabaseName;
  /** Rejects as `unavailable` where another try may help, with StoreRefusal where the settings are wrong. */
  open(): Promise<OpenedStore>;
}

/** The schema of a store that many processes share: none of them changes it as it starts. */
export interface SchemaTask {
  readonly product: string;
  /** What is migrated, for the operator: `the keyspace grantd in dc1`. */
  readonly target: string;
  /**
   * Applies the migrations that are missing. Resolves to a sentence about the schema that stands; rejects as `open` and
   * `awaitMeta` do.
   */
  migrate(): Promise<string>;
  /** Changes nothing; resolves to that sentence once another has migrated. */
  wait(waiting: SchemaWaiting): Promise<string>;
}
