// A store around another in which every call passes one gate. Written out method by method, so that the compiler says
// when the port grows.

import type { DeadlineMs, MetaStore, Store } from '../../../src/store/store.ts';

export type StoreOperation = Exclude<keyof Store, 'close'>;

/** Runs the call (once, never, or late) and gives its answer. */
export type Gate = <Result>(
  operation: StoreOperation,
  deadline: DeadlineMs,
  run: () => Promise<Result>,
) => Promise<Result>;

const createGatedMeta = (store: MetaStore, gate: Gate): MetaStore => ({
  readMeta: (deadline) => gate('readMeta', deadline, () => store.readMeta(deadline)),
  initializeMeta: (meta, deadline) => gate('initializeMeta', deadline, () => store.initializeMeta(meta, deadline)),
  replaceClusterId: (from, to, deadline) =>
    gate('replaceClusterId', deadline, () => store.replaceClusterId(from, to, deadline)),
});

export function createGatedStore(store: Store, gate: Gate): Store {
  return {
    ...createGatedMeta(store, gate),
    append: (record, deadline) => gate('append', deadline, () => store.append(record, deadline)),
    readRecord: (slot, seq, deadline) => gate('readRecord', deadline, () => store.readRecord(slot, seq, deadline)),
    readRecords: (slot, fromSeq, limit, deadline) =>
      gate('readRecords', deadline, () => store.readRecords(slot, fromSeq, limit, deadline)),
    removeSegment: (slot, segment, deadline) =>
      gate('removeSegment', deadline, () => store.removeSegment(slot, segment, deadline)),
    readSlot: (slot, deadline) => gate('readSlot', deadline, () => store.readSlot(slot, deadline)),
    listSlots: (deadline) => gate('listSlots', deadline, () => store.listSlots(deadline)),
    listSomeSlots: (slots, deadline) => gate('listSlots', deadline, () => store.listSomeSlots(slots, deadline)),
    claimSlot: (claim, deadline) => gate('claimSlot', deadline, () => store.claimSlot(claim, deadline)),
    recordOpened: (opened, deadline) => gate('recordOpened', deadline, () => store.recordOpened(opened, deadline)),
    recordFirst: (first, deadline) => gate('recordFirst', deadline, () => store.recordFirst(first, deadline)),
    releaseSlot: (release, deadline) => gate('releaseSlot', deadline, () => store.releaseSlot(release, deadline)),
    insertMember: (member, deadline) => gate('insertMember', deadline, () => store.insertMember(member, deadline)),
    writeHeartbeat: (heartbeat, deadline) =>
      gate('writeHeartbeat', deadline, () => store.writeHeartbeat(heartbeat, deadline)),
    declareDead: (dead, deadline) => gate('declareDead', deadline, () => store.declareDead(dead, deadline)),
    readMember: (incarnation, deadline) => gate('readMember', deadline, () => store.readMember(incarnation, deadline)),
    readClock: (deadline) => gate('readClock', deadline, () => store.readClock(deadline)),
    listMembers: (deadline) => gate('listMembers', deadline, () => store.listMembers(deadline)),
    removeMember: (incarnation, deadline) =>
      gate('removeMember', deadline, () => store.removeMember(incarnation, deadline)),
    writeState: (writes, deadline) => gate('writeState', deadline, () => store.writeState(writes, deadline)),
    writeCheckpoint: (slot, checkpoint, deadline) =>
      gate('writeCheckpoint', deadline, () => store.writeCheckpoint(slot, checkpoint, deadline)),
    readCheckpoint: (slot, deadline) => gate('readCheckpoint', deadline, () => store.readCheckpoint(slot, deadline)),
    readHotPages: (slot, deadline) => gate('readHotPages', deadline, () => store.readHotPages(slot, deadline)),
    writeHotPages: (slot, list, atMs, deadline) =>
      gate('writeHotPages', deadline, () => store.writeHotPages(slot, list, atMs, deadline)),
    readGrant: (tenantId, subject, relation, object, deadline) =>
      gate('readGrant', deadline, () => store.readGrant(tenantId, subject, relation, object, deadline)),
    listGrants: (query, deadline) => gate('listGrants', deadline, () => store.listGrants(query, deadline)),
    // A read of grants, too, to whoever holds or fails those.
    listGrantsOfEach: (query, deadline) => gate('listGrants', deadline, () => store.listGrantsOfEach(query, deadline)),
    listObjectGrants: (query, deadline) =>
      gate('listObjectGrants', deadline, () => store.listObjectGrants(query, deadline)),
    listSubjects: (query, deadline) => gate('listSubjects', deadline, () => store.listSubjects(query, deadline)),
    listExpiries: (query, deadline) => gate('listExpiries', deadline, () => store.listExpiries(query, deadline)),
    removeExpiries: (range, stamp, deadline) =>
      gate('removeExpiries', deadline, () => store.removeExpiries(range, stamp, deadline)),
    listNamespaces: (tenantId, deadline) =>
      gate('listNamespaces', deadline, () => store.listNamespaces(tenantId, deadline)),
    readKey: (tenantId, keyId, deadline) => gate('readKey', deadline, () => store.readKey(tenantId, keyId, deadline)),
    listKeys: (query, deadline) => gate('listKeys', deadline, () => store.listKeys(query, deadline)),
    listTenants: (query, deadline) => gate('listTenants', deadline, () => store.listTenants(query, deadline)),
    readRules: (tenantId, version, deadline) =>
      gate('readRules', deadline, () => store.readRules(tenantId, version, deadline)),
    listRulesVersions: (tenantId, deadline) =>
      gate('listRulesVersions', deadline, () => store.listRulesVersions(tenantId, deadline)),
    listGrantCounts: (query, deadline) =>
      gate('listGrantCounts', deadline, () => store.listGrantCounts(query, deadline)),
    listAuditLog: (query, deadline) => gate('listAuditLog', deadline, () => store.listAuditLog(query, deadline)),
    readAuditLogKeptMs: (deadline) => gate('readAuditLogKeptMs', deadline, () => store.readAuditLogKeptMs(deadline)),
    listKeyUses: (tenantId, keyIds, deadline) =>
      gate('listKeyUses', deadline, () => store.listKeyUses(tenantId, keyIds, deadline)),
    writeKeyUse: (tenantId, keyId, usedAtMs, deadline) =>
      gate('writeKeyUse', deadline, () => store.writeKeyUse(tenantId, keyId, usedAtMs, deadline)),
    readUsage: (query, deadline) => gate('readUsage', deadline, () => store.readUsage(query, deadline)),
    writeUsage: (tenantId, rows, atMs, deadline) =>
      gate('writeUsage', deadline, () => store.writeUsage(tenantId, rows, atMs, deadline)),
    removeTombstones: (rows, deadline) =>
      gate('removeTombstones', deadline, () => store.removeTombstones(rows, deadline)),
    purgeTenant: (tenant, stamp, deadline) =>
      gate('purgeTenant', deadline, () => store.purgeTenant(tenant, stamp, deadline)),
    close: () => store.close(),
  };
}
