// A store whose calls are spans if they belong to a traced request; a shard's own background calls are not traced. The
// conventions are those of OpenTelemetry (https://opentelemetry.io/docs/specs/semconv/db/database-spans/). A span
// contains neither statement text nor values: it names the operation and the table.

import { runTraced } from '../telemetry/spans.ts';
import type { Store } from './store.ts';
import type { DatabaseName } from './store-adapter.ts';

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
