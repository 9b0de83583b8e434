// Original file: proto/grantd/v1/shard.proto

import type { Failure as _grantd_v1_Failure, Failure__Output as _grantd_v1_Failure__Output } from '../../grantd/v1/Failure.ts';
import type { Handle as _grantd_v1_Handle, Handle__Output as _grantd_v1_Handle__Output } from '../../grantd/v1/Handle.ts';
import type { Done as _grantd_v1_Done, Done__Output as _grantd_v1_Done__Output } from '../../grantd/v1/Done.ts';
import type { BulkResults as _grantd_v1_BulkResults, BulkResults__Output as _grantd_v1_BulkResults__Output } from '../../grantd/v1/BulkResults.ts';
import type { GrantResults as _grantd_v1_GrantResults, GrantResults__Output as _grantd_v1_GrantResults__Output } from '../../grantd/v1/GrantResults.ts';
import type { Objects as _grantd_v1_Objects, Objects__Output as _grantd_v1_Objects__Output } from '../../grantd/v1/Objects.ts';
import type { Namespaces as _grantd_v1_Namespaces, Namespaces__Output as _grantd_v1_Namespaces__Output } from '../../grantd/v1/Namespaces.ts';
import type { NamespaceResult as _grantd_v1_NamespaceResult, NamespaceResult__Output as _grantd_v1_NamespaceResult__Output } from '../../grantd/v1/NamespaceResult.ts';
import type { Key as _grantd_v1_Key, Key__Output as _grantd_v1_Key__Output } from '../../grantd/v1/Key.ts';
import type { Keys as _grantd_v1_Keys, Keys__Output as _grantd_v1_Keys__Output } from '../../grantd/v1/Keys.ts';
import type { Tenant as _grantd_v1_Tenant, Tenant__Output as _grantd_v1_Tenant__Output } from '../../grantd/v1/Tenant.ts';
import type { Tenants as _grantd_v1_Tenants, Tenants__Output as _grantd_v1_Tenants__Output } from '../../grantd/v1/Tenants.ts';
import type { Subjects as _grantd_v1_Subjects, Subjects__Output as _grantd_v1_Subjects__Output } from '../../grantd/v1/Subjects.ts';
import type { AuditLog as _grantd_v1_AuditLog, AuditLog__Output as _grantd_v1_AuditLog__Output } from '../../grantd/v1/AuditLog.ts';
import type { Grants as _grantd_v1_Grants, Grants__Output as _grantd_v1_Grants__Output } from '../../grantd/v1/Grants.ts';
import type { Slots as _grantd_v1_Slots, Slots__Output as _grantd_v1_Slots__Output } from '../../grantd/v1/Slots.ts';
import type { Members as _grantd_v1_Members, Members__Output as _grantd_v1_Members__Output } from '../../grantd/v1/Members.ts';
import type { BulkWritten as _grantd_v1_BulkWritten, BulkWritten__Output as _grantd_v1_BulkWritten__Output } from '../../grantd/v1/BulkWritten.ts';
import type { Revoked as _grantd_v1_Revoked, Revoked__Output as _grantd_v1_Revoked__Output } from '../../grantd/v1/Revoked.ts';
import type { Rules as _grantd_v1_Rules, Rules__Output as _grantd_v1_Rules__Output } from '../../grantd/v1/Rules.ts';
import type { RulesPreview as _grantd_v1_RulesPreview, RulesPreview__Output as _grantd_v1_RulesPreview__Output } from '../../grantd/v1/RulesPreview.ts';
import type { NamedResults as _grantd_v1_NamedResults, NamedResults__Output as _grantd_v1_NamedResults__Output } from '../../grantd/v1/NamedResults.ts';
import type { Changes as _grantd_v1_Changes, Changes__Output as _grantd_v1_Changes__Output } from '../../grantd/v1/Changes.ts';
import type { Names as _grantd_v1_Names, Names__Output as _grantd_v1_Names__Output } from '../../grantd/v1/Names.ts';

export interface Reply {
  'id'?: (number);
  'failure'?: (_grantd_v1_Failure | null);
  'handle'?: (_grantd_v1_Handle | null);
  'done'?: (_grantd_v1_Done | null);
  'bulkResults'?: (_grantd_v1_BulkResults | null);
  'grantResults'?: (_grantd_v1_GrantResults | null);
  'objects'?: (_grantd_v1_Objects | null);
  'namespaces'?: (_grantd_v1_Namespaces | null);
  'namespaceResult'?: (_grantd_v1_NamespaceResult | null);
  'key'?: (_grantd_v1_Key | null);
  'keys'?: (_grantd_v1_Keys | null);
  'tenant'?: (_grantd_v1_Tenant | null);
  'tenants'?: (_grantd_v1_Tenants | null);
  'subjects'?: (_grantd_v1_Subjects | null);
  'auditLog'?: (_grantd_v1_AuditLog | null);
  'grants'?: (_grantd_v1_Grants | null);
  'slots'?: (_grantd_v1_Slots | null);
  'members'?: (_grantd_v1_Members | null);
  'bulkWritten'?: (_grantd_v1_BulkWritten | null);
  'revoked'?: (_grantd_v1_Revoked | null);
  'rules'?: (_grantd_v1_Rules | null);
  'rulesPreview'?: (_grantd_v1_RulesPreview | null);
  'namedResults'?: (_grantd_v1_NamedResults | null);
  'changes'?: (_grantd_v1_Changes | null);
  'names'?: (_grantd_v1_Names | null);
  'result'?: "failure"|"handle"|"done"|"bulkResults"|"grantResults"|"objects"|"namespaces"|"namespaceResult"|"key"|"keys"|"tenant"|"tenants"|"subjects"|"auditLog"|"grants"|"slots"|"members"|"bulkWritten"|"revoked"|"rules"|"rulesPreview"|"namedResults"|"names"|"changes";
}

export interface Reply__Output {
  'id': (number);
  'failure'?: (_grantd_v1_Failure__Output | null);
  'handle'?: (_grantd_v1_Handle__Output | null);
  'done'?: (_grantd_v1_Done__Output | null);
  'bulkResults'?: (_grantd_v1_BulkResults__Output | null);
  'grantResults'?: (_grantd_v1_GrantResults__Output | null);
  'objects'?: (_grantd_v1_Objects__Output | null);
  'namespaces'?: (_grantd_v1_Namespaces__Output | null);
  'namespaceResult'?: (_grantd_v1_NamespaceResult__Output | null);
  'key'?: (_grantd_v1_Key__Output | null);
  'keys'?: (_grantd_v1_Keys__Output | null);
  'tenant'?: (_grantd_v1_Tenant__Output | null);
  'tenants'?: (_grantd_v1_Tenants__Output | null);
  'subjects'?: (_grantd_v1_Subjects__Output | null);
  'auditLog'?: (_grantd_v1_AuditLog__Output | null);
  'grants'?: (_grantd_v1_Grants__Output | null);
  'slots'?: (_grantd_v1_Slots__Output | null);
  'members'?: (_grantd_v1_Members__Output | null);
  'bulkWritten'?: (_grantd_v1_BulkWritten__Output | null);
  'revoked'?: (_grantd_v1_Revoked__Output | null);
  'rules'?: (_grantd_v1_Rules__Output | null);
  'rulesPreview'?: (_grantd_v1_RulesPreview__Output | null);
  'namedResults'?: (_grantd_v1_NamedResults__Output | null);
  'changes'?: (_grantd_v1_Changes__Output | null);
  'names'?: (_grantd_v1_Names__Output | null);
  'result'?: "failure"|"handle"|"done"|"bulkResults"|"grantResults"|"objects"|"namespaces"|"namespaceResult"|"key"|"keys"|"tenant"|"tenants"|"subjects"|"auditLog"|"grants"|"slots"|"members"|"bulkWritten"|"revoked"|"rules"|"rulesPreview"|"namedResults"|"names"|"changes";
}
