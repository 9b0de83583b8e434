// What each call of a connection asks of whoever makes it. The owner judges it, whatever the front has judged before: a
// front that is out of date, faulty or not one at all gets no further than the key it holds. A call of the port that has
// no row here does not compile.

import { ALL_SCOPES, type ScopeMask, scopeMask } from '../../core/scopes.ts';
import type { ShardConnection } from '../shard.ts';

/** A bit that no key has: only a console's connection gets handles with it. */
const OPERATOR: ScopeMask = ALL_SCOPES + 1;
/** Of the operator's handles. */
export const OPERATOR_SCOPES: ScopeMask = ALL_SCOPES | OPERATOR;

/** Any peer, or any handle where the call is made under one. */
const ANY: ScopeMask = 0;
const CHECK_READ = scopeMask(['check:read']);
const GRANT_WRITE = scopeMask(['grant:write']);
const ADMIN = scopeMask(['admin']);

/** By call: the bits that the handle has to have; the operator's calls without a handle need a console's connection. */
export const ACCESS = Object.freeze({
  authenticate: ANY,
  authenticateOperator: OPERATOR,
  tenantOf: ANY,
  confirm: ANY,
  check: CHECK_READ,
  checkBulk: CHECK_READ,
  writeGrants: GRANT_WRITE,
  listObjects: CHECK_READ,
  listNamespaces: CHECK_READ,
  createNamespace: GRANT_WRITE,
  createKey: ADMIN,
  listKeys: ADMIN,
  revokeKey: ADMIN,
  createTenant: OPERATOR,
  updateTenant: OPERATOR,
  readTenant: OPERATOR,
  readUsage: OPERATOR,
  listTenants: OPERATOR,
  findTenants: OPERATOR,
  listSubjects: OPERATOR,
  listSubjectGrants: OPERATOR,
  listTrail: OPERATOR,
  exportGrants: OPERATOR,
  listSlots: OPERATOR,
  listMembers: OPERATOR,
  readLoad: OPERATOR,
  report: ANY,
  close: ANY,
} satisfies Record<keyof ShardConnection, ScopeMask>);

/** Whether only a console may ask this. */
export const isOperatorCall = (call: keyof ShardConnection): boolean => ACCESS[call] === OPERATOR;
