// The life of a store before its use: a role opens it and waits for a schema that serves this program; a separate task
// migrates the schema. The version of a schema is the number of the last migration applied to it. Only the adapter
// knows its migrations, so only the adapter reads, compares and prints that number.

import type { Meta, Store } from './store.ts';

/**
 * This program cannot use the database, or not with these settings; waiting does not help. The message is for the
 * operator.
 */
export class StoreRefusal extends Error {
  constructor(message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.name = 'StoreRefusal';
  }
}

/** Why a call of the store failed, in a few words for the operator, as the cause of its GrantdError. */
export class StoreTrouble extends Error {
  readonly reason: string;

  constructor(reason: string, details: string) {
    super(details === '' ? reason : `${reason}: ${details}`);
    this.name = 'StoreTrouble';
    this.reason = reason;
  }
}

/** What a store on this machine knows of its own files. */
export interface StoreDamage {
  /** Undefined: none is known. Once it is known it stays, and nothing more is written. */
  readonly reason: string | undefined;
  /** Shares it with further threads. */
  readonly memory: SharedArrayBuffer;
}

export interface SchemaWait {
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called at every attempt with the reason for waiting. */
  readonly onWaiting: (reason: string) => void;
}

export interface OpenedStore {
  readonly store: Store;
  /**
   * Resolves once the schema serves this program, to the stored meta. Rejects with StoreRefusal if the schema is too
   * new or the cluster was created with other settings.
   */
  awaitMeta(waiting: SchemaWait): Promise<Meta>;
  /** Absent: the store is not on this machine. */
  readonly damage?: StoreDamage;
}

/** The database in the terms of OpenTelemetry (https://opentelemetry.io/docs/specs/semconv/db/). */
export interface DatabaseName {
  /** One of the well-known values of `db.system.name`, if the product has one. */
  readonly system: string;
  /** The part of the database that belongs to this cluster (a keyspace, a schema); undefined: all of it. */
  readonly namespace?: string | undefined;
}

export interface StoreAdapter {
  /** The name of the product for operators. */
  readonly product: string;
  /** The name in traces. */
  readonly database: DatabaseName;
  /** Rejects with `unavailable` if a retry may help, and with StoreRefusal if the settings are wrong. */
  open(): Promise<OpenedStore>;
}

/** The schema of a store that many processes share: none of them changes it at startup. */
export interface SchemaTask {
  readonly product: string;
  /** What is migrated, in words for the operator: `the keyspace grantd in dc1`. */
  readonly target: string;
  /**
   * Applies the missing migrations. Resolves to a sentence about the resulting schema; rejects as `open` and
   * `awaitMeta` do.
   */
  migrate(): Promise<string>;
  /**
   * Gives a restored copy an id of its own, once the schema serves this program, and changes nothing else. Resolves to
   * a sentence about that; rejects as `migrate` does, and with StoreRefusal if a shard works on the store.
   */
  newClusterId(waiting: SchemaWait): Promise<string>;
  /** Changes nothing; resolves to that sentence once another process has migrated. */
  wait(waiting: SchemaWait): Promise<string>;
}
