// What a store is wrapped in. A traced store is one whose calls are spans if they belong to a traced request; a shard's
// own background calls are not traced. The conventions are those of OpenTelemetry
// (https://opentelemetry.io/docs/specs/semconv/db/database-spans/). A span contains neither statement text nor values:
// it names the operation and the table.

import { GrantdError } from '../core/errors.ts';
import { runTraced } from '../telemetry/spans.ts';
import type { Store } from './store.ts';
import { type DatabaseName, StoreTrouble } from './store-adapter.ts';

export function traceStore(store: Store, database: DatabaseName): Store {
  const common = {
    'db.system.name': database.system,
    ...(database.namespace === undefined ? {} : { 'db.namespace': database.namespace }),
  };

  function trace<Parameters extends unknown[], Result>(
    operation: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE' | 'BATCH',
    table: string,
    call: (...parameters: Parameters) => Promise<Result>,
  ): (...parameters: Parameters) => Promise<Result> {
    const name = `${operation} ${table}`;
    const attributes = { ...common, 'db.operation.name': operation, 'db.collection.name': table };
    return (...parameters) => runTraced(name, 'client', attributes, () => call.apply(store, parameters));
  }

  return {
    readMeta: trace('SELECT', 'meta', store.readMeta),
    initializeMeta: trace('INSERT', 'meta', store.initializeMeta),
    replaceClusterId: trace('UPDATE', 'meta', store.replaceClusterId),
    append: trace('INSERT', 'log', store.append),
    readRecord: trace('SELECT', 'log', store.readRecord),
    readRecords: trace('SELECT', 'log', store.readRecords),
    readTail: trace('SELECT', 'log', store.readTail),
    removeSegment: trace('DELETE', 'log', store.removeSegment),
    readSlot: trace('SELECT', 'slots', store.readSlot),
    listSlots: trace('SELECT', 'slots', store.listSlots),
    listSomeSlots: trace('SELECT', 'slots', store.listSomeSlots),
    claimSlot: trace('UPDATE', 'slots', store.claimSlot),
    recordOpened: trace('UPDATE', 'slots', store.recordOpened),
    recordFirst: trace('UPDATE', 'slots', store.recordFirst),
    releaseSlot: trace('UPDATE', 'slots', store.releaseSlot),
    insertMember: trace('INSERT', 'members', store.insertMember),
    writeHeartbeat: trace('UPDATE', 'members', store.writeHeartbeat),
    declareDead: trace('UPDATE', 'members', store.declareDead),
    readMember: trace('SELECT', 'members', store.readMember),
    listMembers: trace('SELECT', 'members', store.listMembers),
    removeMember: trace('DELETE', 'members', store.removeMember),
    readClock: store.readClock,
    writeState: trace('BATCH', 'state', store.writeState),
    writeCheckpoint: trace('INSERT', 'checkpoints', store.writeCheckpoint),
    readCheckpoint: trace('SELECT', 'checkpoints', store.readCheckpoint),
    readHotPages: trace('SELECT', 'hot_pages', store.readHotPages),
    writeHotPages: trace('INSERT', 'hot_pages', store.writeHotPages),
    readGrant: trace('SELECT', 'grants', store.readGrant),
    listGrants: trace('SELECT', 'grants', store.listGrants),
    listObjectGrants: trace('SELECT', 'grants_by_object', store.listObjectGrants),
    listGrantsOfEach: trace('SELECT', 'grants', store.listGrantsOfEach),
    listObjectGrantsOfEach: trace('SELECT', 'grants_by_object', store.listObjectGrantsOfEach),
    listSubjects: trace('SELECT', 'subjects', store.listSubjects),
    listExpiries: trace('SELECT', 'grants_by_expiry', store.listExpiries),
    listNamespaces: trace('SELECT', 'namespaces', store.listNamespaces),
    readKey: trace('SELECT', 'keys', store.readKey),
    listKeys: trace('SELECT', 'keys', store.listKeys),
    listTenants: trace('SELECT', 'tenants', store.listTenants),
    readRules: trace('SELECT', 'tenant_rules', store.readRules),
    listRulesVersions: trace('SELECT', 'tenant_rules', store.listRulesVersions),
    listGrantCounts: trace('SELECT', 'grant_counts', store.listGrantCounts),
    listAuditLog: trace('SELECT', 'changes', store.listAuditLog),
    readAuditLogKeptMs: trace('SELECT', 'tables', store.readAuditLogKeptMs),
    listKeyUses: trace('SELECT', 'key_uses', store.listKeyUses),
    writeKeyUse: trace('INSERT', 'key_uses', store.writeKeyUse),
    readUsage: trace('SELECT', 'usage', store.readUsage),
    writeUsage: trace('INSERT', 'usage', store.writeUsage),
    removeTombstones: trace('DELETE', 'grants', store.removeTombstones),
    removeExpiries: trace('DELETE', 'grants_by_expiry', store.removeExpiries),
    purgeTenant: trace('DELETE', 'state', store.purgeTenant),
    close: () => store.close(),
  };
}

// ---- watched writes ----
//
// Watches the writes of a store: whether the last one that ended has succeeded. While none succeeds, checks are still
// answered from memory, so a process stays ready, and says why writes fail.

export interface WatchedWrites {
  readonly store: Store;
  /** Why the last write failed; undefined: it has succeeded, or there was none. */
  failing(): string | undefined;
}

const reasonOf = (error: unknown): string => {
  const { cause, message } = GrantdError.from(error);
  return cause instanceof StoreTrouble ? cause.reason : message;
};

/** Too much work at once does not mean that the store fails. */
const isTrouble = (error: unknown): boolean => GrantdError.from(error).code === 'unavailable';

export function watchWrites(store: Store): WatchedWrites {
  let reason: string | undefined;

  /** Call it like the method of the store. */
  function watch<Args extends unknown[], Result>(
    call: (...args: Args) => Promise<Result>,
  ): (...args: Args) => Promise<Result> {
    return async (...args) => {
      try {
        const result = await call.apply(store, args);
        reason = undefined;
        return result;
      } catch (error) {
        if (isTrouble(error)) reason = reasonOf(error);
        throw error;
      }
    };
  }

  // What the log of a slot, its owner and its state are written with, and the heartbeats of a cluster.
  const watched: Store = {
    ...store,
    append: watch(store.append),
    claimSlot: watch(store.claimSlot),
    releaseSlot: watch(store.releaseSlot),
    writeHeartbeat: watch(store.writeHeartbeat),
    writeState: watch(store.writeState),
    writeCheckpoint: watch(store.writeCheckpoint),
  };
  return { store: watched, failing: () => reason };
}
