// One call of a peer, to the method of the shard that answers it. Everything is validated before the first await, so
// that a WireViolation is thrown and never a rejection.

import { assertNever } from '../../core/assert.ts';
import { GrantdError } from '../../core/errors.ts';
import { isOperatorCall } from '../../shard/peers/call-access.ts';
import type { Shard, ShardConnection } from '../../shard/shard.ts';
import type { Call__Output } from '../gen/grantd/v1/Call.ts';
import { demand, WireViolation } from '../wire-violation.ts';
import * as replies from './replies.ts';
import {
  attemptOf,
  bulkChecksOf,
  handleOf,
  hashText,
  keyText,
  limitOf,
  NAME_MAX,
  namespaceFrom,
  pageOf,
  present,
  relationFrom,
  scopesFrom,
  shortText,
  trailQueryOf,
  writesOf,
} from './requests.ts';

function stateOf(state: string): 'active' | 'suspended' | 'deleting' | undefined {
  if (state === '') return undefined;
  if (state === 'active' || state === 'suspended' || state === 'deleting') return state;
  throw new WireViolation('A state of a tenant is none that can be set.');
}

const orUndefined = (text: string): string | undefined => (text === '' ? undefined : text);

/** The answer to a call. Throws WireViolation; every other failure is the call's own. */
export function dispatch(
  shard: Shard,
  connection: ShardConnection,
  peer: 'front' | 'console',
  call: Call__Output,
): Promise<replies.ReplyBody> {
  const name = call.request;
  demand(name !== undefined, 'A call lacks its request.');
  if (peer !== 'console' && isOperatorCall(name)) {
    throw new GrantdError('insufficient-scope', 'Only the operator’s console may ask this.');
  }
  switch (name) {
    case 'authenticate': {
      const { tenantId, keyId, key } = present(call.authenticate);
      return connection
        .authenticate({
          tenantId: shortText(tenantId, 'A tenant id'),
          keyId: shortText(keyId, 'A key id'),
          key: keyText(key),
        })
        .then(replies.handleReply);
    }
    case 'authenticateOperator': {
      const { tenantId, operator } = present(call.authenticateOperator);
      return connection
        .authenticateOperator({
          tenantId: shortText(tenantId, 'A tenant id'),
          operator: shortText(operator, 'An operator'),
        })
        .then(replies.handleReply);
    }
    case 'confirm':
      return connection.confirm(handleOf(call)).then(() => replies.DONE);
    case 'checkBulk':
      return connection
        .checkBulk(handleOf(call), bulkChecksOf(present(call.checkBulk)))
        .then(({ authorized, checkedAtMs }) => ({ bulkResults: { authorized: [...authorized], checkedAtMs } }));
    case 'writeGrants':
      return connection
        .writeGrants(handleOf(call), attemptOf(call), writesOf(present(call.writeGrants)))
        .then(replies.grantResultsReply);
    case 'listObjects': {
      const query = present(call.listObjects);
      return connection
        .listObjects(handleOf(call), {
          ...pageOf(query),
          subject: query.subject,
          relation: relationFrom(query.relation),
          namespace: orUndefined(query.namespace),
        })
        .then(replies.objectsReply);
    }
    case 'listNamespaces':
      return connection
        .listNamespaces(handleOf(call))
        .then((namespaces) => ({ namespaces: { namespaces: [...namespaces] } }));
    case 'createNamespace':
      return connection
        .createNamespace(handleOf(call), attemptOf(call), namespaceFrom(present(call.createNamespace).name))
        .then((namespaceResult) => ({ namespaceResult }));
    case 'createKey': {
      const { keyId, name: keyName, scopes, expiresAtMs, hash } = present(call.createKey);
      return connection
        .createKey(handleOf(call), attemptOf(call), {
          keyId: shortText(keyId, 'A key id'),
          name: shortText(keyName, 'The name of a key', NAME_MAX),
          scopes: scopesFrom(scopes),
          expiresAtMs: expiresAtMs === 0 ? undefined : expiresAtMs,
          hash: hashText(hash),
        })
        .then(replies.keyReply);
    }
    case 'listKeys':
      return connection.listKeys(handleOf(call), pageOf(present(call.listKeys))).then(replies.keysReply);
    case 'revokeKey': {
      const { keyId } = present(call.revokeKey);
      return connection
        .revokeKey(handleOf(call), attemptOf(call), shortText(keyId, 'A key id'))
        .then(() => replies.DONE);
    }
    case 'createTenant': {
      const tenant = present(call.createTenant);
      return connection
        .createTenant(attemptOf(call), {
          tenantId: shortText(tenant.tenantId, 'A tenant id'),
          name: shortText(tenant.name, 'The name of a tenant', NAME_MAX),
          plan: shortText(tenant.plan, 'A plan'),
          operator: shortText(tenant.operator, 'An operator'),
        })
        .then(replies.tenantReply);
    }
    case 'updateTenant': {
      const change = present(call.updateTenant);
      return connection
        .updateTenant(attemptOf(call), {
          tenantId: shortText(change.tenantId, 'A tenant id'),
          name: orUndefined(shortText(change.name, 'The name of a tenant', NAME_MAX)),
          plan: orUndefined(shortText(change.plan, 'A plan')),
          state: stateOf(change.state),
          operator: shortText(change.operator, 'An operator'),
        })
        .then(replies.tenantReply);
    }
    case 'readTenant': {
      const { tenantId, usage } = present(call.readTenant);
      const id = shortText(tenantId, 'A tenant id');
      return usage
        ? connection.readUsage(id).then(replies.usageReply)
        : connection.readTenant(id).then(replies.tenantReply);
    }
    case 'listTenants': {
      const { after, limit, name: text } = present(call.listTenants);
      const query = { after: orUndefined(shortText(after, 'A tenant id')), limit: limitOf(limit) };
      return text === ''
        ? connection.listTenants(query).then((tenants) => replies.tenantsReply({ tenants, scannedTo: undefined }))
        : connection
            .findTenants({ ...query, name: shortText(text, 'The name of a tenant', NAME_MAX) })
            .then(replies.tenantsReply);
    }
    case 'listSubjects':
      return connection.listSubjects(handleOf(call), pageOf(present(call.listSubjects))).then(replies.subjectsReply);
    case 'listSubjectGrants': {
      const query = present(call.listSubjectGrants);
      return connection
        .listSubjectGrants(handleOf(call), { ...pageOf(query), subject: query.subject })
        .then(replies.grantsReply);
    }
    case 'listTrail':
      return connection.listTrail(trailQueryOf(present(call.listTrail))).then(replies.trailReply);
    case 'exportGrants':
      return connection.exportGrants(handleOf(call), pageOf(present(call.exportGrants))).then(replies.grantsReply);
    case 'listSlots': {
      const { shardName, incarnation } = shard.welcome();
      return present(call.listSlots).loadOnly
        ? connection.readLoad().then((load) => replies.loadReply(load, { shardName, incarnation }))
        : connection.listSlots().then((report) => replies.slotsReply(report, shardName));
    }
    case 'listMembers':
      return connection.listMembers().then(replies.membersReply);
    default:
      return assertNever(name);
  }
}
