import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { Attempt as _grantd_v1_Attempt, Attempt__Output as _grantd_v1_Attempt__Output } from './grantd/v1/Attempt.ts';
import type { AuditLog as _grantd_v1_AuditLog, AuditLog__Output as _grantd_v1_AuditLog__Output } from './grantd/v1/AuditLog.ts';
import type { AuditLogEntry as _grantd_v1_AuditLogEntry, AuditLogEntry__Output as _grantd_v1_AuditLogEntry__Output } from './grantd/v1/AuditLogEntry.ts';
import type { Authenticate as _grantd_v1_Authenticate, Authenticate__Output as _grantd_v1_Authenticate__Output } from './grantd/v1/Authenticate.ts';
import type { AuthenticateOperator as _grantd_v1_AuthenticateOperator, AuthenticateOperator__Output as _grantd_v1_AuthenticateOperator__Output } from './grantd/v1/AuthenticateOperator.ts';
import type { BulkResults as _grantd_v1_BulkResults, BulkResults__Output as _grantd_v1_BulkResults__Output } from './grantd/v1/BulkResults.ts';
import type { BulkWritten as _grantd_v1_BulkWritten, BulkWritten__Output as _grantd_v1_BulkWritten__Output } from './grantd/v1/BulkWritten.ts';
import type { BusiestTenant as _grantd_v1_BusiestTenant, BusiestTenant__Output as _grantd_v1_BusiestTenant__Output } from './grantd/v1/BusiestTenant.ts';
import type { Call as _grantd_v1_Call, Call__Output as _grantd_v1_Call__Output } from './grantd/v1/Call.ts';
import type { CallContext as _grantd_v1_CallContext, CallContext__Output as _grantd_v1_CallContext__Output } from './grantd/v1/CallContext.ts';
import type { Changes as _grantd_v1_Changes, Changes__Output as _grantd_v1_Changes__Output } from './grantd/v1/Changes.ts';
import type { CheckBulk as _grantd_v1_CheckBulk, CheckBulk__Output as _grantd_v1_CheckBulk__Output } from './grantd/v1/CheckBulk.ts';
import type { CheckNamed as _grantd_v1_CheckNamed, CheckNamed__Output as _grantd_v1_CheckNamed__Output } from './grantd/v1/CheckNamed.ts';
import type { CheckResults as _grantd_v1_CheckResults, CheckResults__Output as _grantd_v1_CheckResults__Output } from './grantd/v1/CheckResults.ts';
import type { Checks as _grantd_v1_Checks, Checks__Output as _grantd_v1_Checks__Output } from './grantd/v1/Checks.ts';
import type { ChosenReaders as _grantd_v1_ChosenReaders, ChosenReaders__Output as _grantd_v1_ChosenReaders__Output } from './grantd/v1/ChosenReaders.ts';
import type { Confirm as _grantd_v1_Confirm, Confirm__Output as _grantd_v1_Confirm__Output } from './grantd/v1/Confirm.ts';
import type { CreateKey as _grantd_v1_CreateKey, CreateKey__Output as _grantd_v1_CreateKey__Output } from './grantd/v1/CreateKey.ts';
import type { CreateNamespace as _grantd_v1_CreateNamespace, CreateNamespace__Output as _grantd_v1_CreateNamespace__Output } from './grantd/v1/CreateNamespace.ts';
import type { CreateTenant as _grantd_v1_CreateTenant, CreateTenant__Output as _grantd_v1_CreateTenant__Output } from './grantd/v1/CreateTenant.ts';
import type { Done as _grantd_v1_Done, Done__Output as _grantd_v1_Done__Output } from './grantd/v1/Done.ts';
import type { ExportGrants as _grantd_v1_ExportGrants, ExportGrants__Output as _grantd_v1_ExportGrants__Output } from './grantd/v1/ExportGrants.ts';
import type { Failure as _grantd_v1_Failure, Failure__Output as _grantd_v1_Failure__Output } from './grantd/v1/Failure.ts';
import type { FeedEntry as _grantd_v1_FeedEntry, FeedEntry__Output as _grantd_v1_FeedEntry__Output } from './grantd/v1/FeedEntry.ts';
import type { FindTenants as _grantd_v1_FindTenants, FindTenants__Output as _grantd_v1_FindTenants__Output } from './grantd/v1/FindTenants.ts';
import type { FollowTenant as _grantd_v1_FollowTenant, FollowTenant__Output as _grantd_v1_FollowTenant__Output } from './grantd/v1/FollowTenant.ts';
import type { FrontMessage as _grantd_v1_FrontMessage, FrontMessage__Output as _grantd_v1_FrontMessage__Output } from './grantd/v1/FrontMessage.ts';
import type { GrantRecord as _grantd_v1_GrantRecord, GrantRecord__Output as _grantd_v1_GrantRecord__Output } from './grantd/v1/GrantRecord.ts';
import type { GrantResult as _grantd_v1_GrantResult, GrantResult__Output as _grantd_v1_GrantResult__Output } from './grantd/v1/GrantResult.ts';
import type { GrantResults as _grantd_v1_GrantResults, GrantResults__Output as _grantd_v1_GrantResults__Output } from './grantd/v1/GrantResults.ts';
import type { GrantWrite as _grantd_v1_GrantWrite, GrantWrite__Output as _grantd_v1_GrantWrite__Output } from './grantd/v1/GrantWrite.ts';
import type { Grants as _grantd_v1_Grants, Grants__Output as _grantd_v1_Grants__Output } from './grantd/v1/Grants.ts';
import type { Handle as _grantd_v1_Handle, Handle__Output as _grantd_v1_Handle__Output } from './grantd/v1/Handle.ts';
import type { Hello as _grantd_v1_Hello, Hello__Output as _grantd_v1_Hello__Output } from './grantd/v1/Hello.ts';
import type { IdentifiedKey as _grantd_v1_IdentifiedKey, IdentifiedKey__Output as _grantd_v1_IdentifiedKey__Output } from './grantd/v1/IdentifiedKey.ts';
import type { IdentifyKey as _grantd_v1_IdentifyKey, IdentifyKey__Output as _grantd_v1_IdentifyKey__Output } from './grantd/v1/IdentifyKey.ts';
import type { IfMatch as _grantd_v1_IfMatch, IfMatch__Output as _grantd_v1_IfMatch__Output } from './grantd/v1/IfMatch.ts';
import type { Key as _grantd_v1_Key, Key__Output as _grantd_v1_Key__Output } from './grantd/v1/Key.ts';
import type { Keys as _grantd_v1_Keys, Keys__Output as _grantd_v1_Keys__Output } from './grantd/v1/Keys.ts';
import type { ListAuditLog as _grantd_v1_ListAuditLog, ListAuditLog__Output as _grantd_v1_ListAuditLog__Output } from './grantd/v1/ListAuditLog.ts';
import type { ListGrants as _grantd_v1_ListGrants, ListGrants__Output as _grantd_v1_ListGrants__Output } from './grantd/v1/ListGrants.ts';
import type { ListHolders as _grantd_v1_ListHolders, ListHolders__Output as _grantd_v1_ListHolders__Output } from './grantd/v1/ListHolders.ts';
import type { ListKeys as _grantd_v1_ListKeys, ListKeys__Output as _grantd_v1_ListKeys__Output } from './grantd/v1/ListKeys.ts';
import type { ListLogEnds as _grantd_v1_ListLogEnds, ListLogEnds__Output as _grantd_v1_ListLogEnds__Output } from './grantd/v1/ListLogEnds.ts';
import type { ListMembers as _grantd_v1_ListMembers, ListMembers__Output as _grantd_v1_ListMembers__Output } from './grantd/v1/ListMembers.ts';
import type { ListNames as _grantd_v1_ListNames, ListNames__Output as _grantd_v1_ListNames__Output } from './grantd/v1/ListNames.ts';
import type { ListNamespaces as _grantd_v1_ListNamespaces, ListNamespaces__Output as _grantd_v1_ListNamespaces__Output } from './grantd/v1/ListNamespaces.ts';
import type { ListObjects as _grantd_v1_ListObjects, ListObjects__Output as _grantd_v1_ListObjects__Output } from './grantd/v1/ListObjects.ts';
import type { ListRulesVersions as _grantd_v1_ListRulesVersions, ListRulesVersions__Output as _grantd_v1_ListRulesVersions__Output } from './grantd/v1/ListRulesVersions.ts';
import type { ListSlots as _grantd_v1_ListSlots, ListSlots__Output as _grantd_v1_ListSlots__Output } from './grantd/v1/ListSlots.ts';
import type { ListSubjects as _grantd_v1_ListSubjects, ListSubjects__Output as _grantd_v1_ListSubjects__Output } from './grantd/v1/ListSubjects.ts';
import type { ListTenants as _grantd_v1_ListTenants, ListTenants__Output as _grantd_v1_ListTenants__Output } from './grantd/v1/ListTenants.ts';
import type { Load as _grantd_v1_Load, Load__Output as _grantd_v1_Load__Output } from './grantd/v1/Load.ts';
import type { LogEnds as _grantd_v1_LogEnds, LogEnds__Output as _grantd_v1_LogEnds__Output } from './grantd/v1/LogEnds.ts';
import type { LoggedChange as _grantd_v1_LoggedChange, LoggedChange__Output as _grantd_v1_LoggedChange__Output } from './grantd/v1/LoggedChange.ts';
import type { LoggedChanges as _grantd_v1_LoggedChanges, LoggedChanges__Output as _grantd_v1_LoggedChanges__Output } from './grantd/v1/LoggedChanges.ts';
import type { Member as _grantd_v1_Member, Member__Output as _grantd_v1_Member__Output } from './grantd/v1/Member.ts';
import type { MemberAddress as _grantd_v1_MemberAddress, MemberAddress__Output as _grantd_v1_MemberAddress__Output } from './grantd/v1/MemberAddress.ts';
import type { Members as _grantd_v1_Members, Members__Output as _grantd_v1_Members__Output } from './grantd/v1/Members.ts';
import type { NamedResults as _grantd_v1_NamedResults, NamedResults__Output as _grantd_v1_NamedResults__Output } from './grantd/v1/NamedResults.ts';
import type { Names as _grantd_v1_Names, Names__Output as _grantd_v1_Names__Output } from './grantd/v1/Names.ts';
import type { Namespace as _grantd_v1_Namespace, Namespace__Output as _grantd_v1_Namespace__Output } from './grantd/v1/Namespace.ts';
import type { NamespaceRelation as _grantd_v1_NamespaceRelation, NamespaceRelation__Output as _grantd_v1_NamespaceRelation__Output } from './grantd/v1/NamespaceRelation.ts';
import type { NamespaceResult as _grantd_v1_NamespaceResult, NamespaceResult__Output as _grantd_v1_NamespaceResult__Output } from './grantd/v1/NamespaceResult.ts';
import type { Namespaces as _grantd_v1_Namespaces, Namespaces__Output as _grantd_v1_Namespaces__Output } from './grantd/v1/Namespaces.ts';
import type { Objects as _grantd_v1_Objects, Objects__Output as _grantd_v1_Objects__Output } from './grantd/v1/Objects.ts';
import type { Ping as _grantd_v1_Ping, Ping__Output as _grantd_v1_Ping__Output } from './grantd/v1/Ping.ts';
import type { Pong as _grantd_v1_Pong, Pong__Output as _grantd_v1_Pong__Output } from './grantd/v1/Pong.ts';
import type { Position as _grantd_v1_Position, Position__Output as _grantd_v1_Position__Output } from './grantd/v1/Position.ts';
import type { PreviewRules as _grantd_v1_PreviewRules, PreviewRules__Output as _grantd_v1_PreviewRules__Output } from './grantd/v1/PreviewRules.ts';
import type { ReadChanges as _grantd_v1_ReadChanges, ReadChanges__Output as _grantd_v1_ReadChanges__Output } from './grantd/v1/ReadChanges.ts';
import type { ReadLoad as _grantd_v1_ReadLoad, ReadLoad__Output as _grantd_v1_ReadLoad__Output } from './grantd/v1/ReadLoad.ts';
import type { ReadLog as _grantd_v1_ReadLog, ReadLog__Output as _grantd_v1_ReadLog__Output } from './grantd/v1/ReadLog.ts';
import type { ReadPosition as _grantd_v1_ReadPosition, ReadPosition__Output as _grantd_v1_ReadPosition__Output } from './grantd/v1/ReadPosition.ts';
import type { ReadRules as _grantd_v1_ReadRules, ReadRules__Output as _grantd_v1_ReadRules__Output } from './grantd/v1/ReadRules.ts';
import type { ReadRulesVersion as _grantd_v1_ReadRulesVersion, ReadRulesVersion__Output as _grantd_v1_ReadRulesVersion__Output } from './grantd/v1/ReadRulesVersion.ts';
import type { ReadTenant as _grantd_v1_ReadTenant, ReadTenant__Output as _grantd_v1_ReadTenant__Output } from './grantd/v1/ReadTenant.ts';
import type { ReadUsage as _grantd_v1_ReadUsage, ReadUsage__Output as _grantd_v1_ReadUsage__Output } from './grantd/v1/ReadUsage.ts';
import type { ReadersChange as _grantd_v1_ReadersChange, ReadersChange__Output as _grantd_v1_ReadersChange__Output } from './grantd/v1/ReadersChange.ts';
import type { Reasons as _grantd_v1_Reasons, Reasons__Output as _grantd_v1_Reasons__Output } from './grantd/v1/Reasons.ts';
import type { RepairTime as _grantd_v1_RepairTime, RepairTime__Output as _grantd_v1_RepairTime__Output } from './grantd/v1/RepairTime.ts';
import type { RepairedTime as _grantd_v1_RepairedTime, RepairedTime__Output as _grantd_v1_RepairedTime__Output } from './grantd/v1/RepairedTime.ts';
import type { Reply as _grantd_v1_Reply, Reply__Output as _grantd_v1_Reply__Output } from './grantd/v1/Reply.ts';
import type { Report as _grantd_v1_Report, Report__Output as _grantd_v1_Report__Output } from './grantd/v1/Report.ts';
import type { RevokeGrants as _grantd_v1_RevokeGrants, RevokeGrants__Output as _grantd_v1_RevokeGrants__Output } from './grantd/v1/RevokeGrants.ts';
import type { RevokeKey as _grantd_v1_RevokeKey, RevokeKey__Output as _grantd_v1_RevokeKey__Output } from './grantd/v1/RevokeKey.ts';
import type { Revoked as _grantd_v1_Revoked, Revoked__Output as _grantd_v1_Revoked__Output } from './grantd/v1/Revoked.ts';
import type { RotateKey as _grantd_v1_RotateKey, RotateKey__Output as _grantd_v1_RotateKey__Output } from './grantd/v1/RotateKey.ts';
import type { RotatedKey as _grantd_v1_RotatedKey, RotatedKey__Output as _grantd_v1_RotatedKey__Output } from './grantd/v1/RotatedKey.ts';
import type { Routes as _grantd_v1_Routes, Routes__Output as _grantd_v1_Routes__Output } from './grantd/v1/Routes.ts';
import type { Rules as _grantd_v1_Rules, Rules__Output as _grantd_v1_Rules__Output } from './grantd/v1/Rules.ts';
import type { RulesPreview as _grantd_v1_RulesPreview, RulesPreview__Output as _grantd_v1_RulesPreview__Output } from './grantd/v1/RulesPreview.ts';
import type { RulesVersion as _grantd_v1_RulesVersion, RulesVersion__Output as _grantd_v1_RulesVersion__Output } from './grantd/v1/RulesVersion.ts';
import type { RulesVersions as _grantd_v1_RulesVersions, RulesVersions__Output as _grantd_v1_RulesVersions__Output } from './grantd/v1/RulesVersions.ts';
import type { ShardClient as _grantd_v1_ShardClient, ShardDefinition as _grantd_v1_ShardDefinition } from './grantd/v1/Shard.ts';
import type { ShardLoad as _grantd_v1_ShardLoad, ShardLoad__Output as _grantd_v1_ShardLoad__Output } from './grantd/v1/ShardLoad.ts';
import type { ShardMessage as _grantd_v1_ShardMessage, ShardMessage__Output as _grantd_v1_ShardMessage__Output } from './grantd/v1/ShardMessage.ts';
import type { Slot as _grantd_v1_Slot, Slot__Output as _grantd_v1_Slot__Output } from './grantd/v1/Slot.ts';
import type { SlotOwner as _grantd_v1_SlotOwner, SlotOwner__Output as _grantd_v1_SlotOwner__Output } from './grantd/v1/SlotOwner.ts';
import type { Slots as _grantd_v1_Slots, Slots__Output as _grantd_v1_Slots__Output } from './grantd/v1/Slots.ts';
import type { Subjects as _grantd_v1_Subjects, Subjects__Output as _grantd_v1_Subjects__Output } from './grantd/v1/Subjects.ts';
import type { Tenant as _grantd_v1_Tenant, Tenant__Output as _grantd_v1_Tenant__Output } from './grantd/v1/Tenant.ts';
import type { TenantCommits as _grantd_v1_TenantCommits, TenantCommits__Output as _grantd_v1_TenantCommits__Output } from './grantd/v1/TenantCommits.ts';
import type { TenantCounts as _grantd_v1_TenantCounts, TenantCounts__Output as _grantd_v1_TenantCounts__Output } from './grantd/v1/TenantCounts.ts';
import type { TenantDeletion as _grantd_v1_TenantDeletion, TenantDeletion__Output as _grantd_v1_TenantDeletion__Output } from './grantd/v1/TenantDeletion.ts';
import type { TenantGrants as _grantd_v1_TenantGrants, TenantGrants__Output as _grantd_v1_TenantGrants__Output } from './grantd/v1/TenantGrants.ts';
import type { TenantReader as _grantd_v1_TenantReader, TenantReader__Output as _grantd_v1_TenantReader__Output } from './grantd/v1/TenantReader.ts';
import type { TenantReaders as _grantd_v1_TenantReaders, TenantReaders__Output as _grantd_v1_TenantReaders__Output } from './grantd/v1/TenantReaders.ts';
import type { Tenants as _grantd_v1_Tenants, Tenants__Output as _grantd_v1_Tenants__Output } from './grantd/v1/Tenants.ts';
import type { TracedCheck as _grantd_v1_TracedCheck, TracedCheck__Output as _grantd_v1_TracedCheck__Output } from './grantd/v1/TracedCheck.ts';
import type { UpdateTenant as _grantd_v1_UpdateTenant, UpdateTenant__Output as _grantd_v1_UpdateTenant__Output } from './grantd/v1/UpdateTenant.ts';
import type { Usage as _grantd_v1_Usage, Usage__Output as _grantd_v1_Usage__Output } from './grantd/v1/Usage.ts';
import type { UsageBucket as _grantd_v1_UsageBucket, UsageBucket__Output as _grantd_v1_UsageBucket__Output } from './grantd/v1/UsageBucket.ts';
import type { UsageSeries as _grantd_v1_UsageSeries, UsageSeries__Output as _grantd_v1_UsageSeries__Output } from './grantd/v1/UsageSeries.ts';
import type { Welcome as _grantd_v1_Welcome, Welcome__Output as _grantd_v1_Welcome__Output } from './grantd/v1/Welcome.ts';
import type { WireTuple as _grantd_v1_WireTuple, WireTuple__Output as _grantd_v1_WireTuple__Output } from './grantd/v1/WireTuple.ts';
import type { WithoutGrants as _grantd_v1_WithoutGrants, WithoutGrants__Output as _grantd_v1_WithoutGrants__Output } from './grantd/v1/WithoutGrants.ts';
import type { WriteBulk as _grantd_v1_WriteBulk, WriteBulk__Output as _grantd_v1_WriteBulk__Output } from './grantd/v1/WriteBulk.ts';
import type { WriteCondition as _grantd_v1_WriteCondition, WriteCondition__Output as _grantd_v1_WriteCondition__Output } from './grantd/v1/WriteCondition.ts';
import type { WriteGrants as _grantd_v1_WriteGrants, WriteGrants__Output as _grantd_v1_WriteGrants__Output } from './grantd/v1/WriteGrants.ts';
import type { WriteRules as _grantd_v1_WriteRules, WriteRules__Output as _grantd_v1_WriteRules__Output } from './grantd/v1/WriteRules.ts';
import type { WrongOwner as _grantd_v1_WrongOwner, WrongOwner__Output as _grantd_v1_WrongOwner__Output } from './grantd/v1/WrongOwner.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  grantd: {
    v1: {
      Attempt: MessageTypeDefinition<_grantd_v1_Attempt, _grantd_v1_Attempt__Output>
      AuditLog: MessageTypeDefinition<_grantd_v1_AuditLog, _grantd_v1_AuditLog__Output>
      AuditLogEntry: MessageTypeDefinition<_grantd_v1_AuditLogEntry, _grantd_v1_AuditLogEntry__Output>
      Authenticate: MessageTypeDefinition<_grantd_v1_Authenticate, _grantd_v1_Authenticate__Output>
      AuthenticateOperator: MessageTypeDefinition<_grantd_v1_AuthenticateOperator, _grantd_v1_AuthenticateOperator__Output>
      BulkResults: MessageTypeDefinition<_grantd_v1_BulkResults, _grantd_v1_BulkResults__Output>
      BulkWritten: MessageTypeDefinition<_grantd_v1_BulkWritten, _grantd_v1_BulkWritten__Output>
      BusiestTenant: MessageTypeDefinition<_grantd_v1_BusiestTenant, _grantd_v1_BusiestTenant__Output>
      Call: MessageTypeDefinition<_grantd_v1_Call, _grantd_v1_Call__Output>
      CallContext: MessageTypeDefinition<_grantd_v1_CallContext, _grantd_v1_CallContext__Output>
      Changes: MessageTypeDefinition<_grantd_v1_Changes, _grantd_v1_Changes__Output>
      CheckBulk: MessageTypeDefinition<_grantd_v1_CheckBulk, _grantd_v1_CheckBulk__Output>
      CheckNamed: MessageTypeDefinition<_grantd_v1_CheckNamed, _grantd_v1_CheckNamed__Output>
      CheckResults: MessageTypeDefinition<_grantd_v1_CheckResults, _grantd_v1_CheckResults__Output>
      Checks: MessageTypeDefinition<_grantd_v1_Checks, _grantd_v1_Checks__Output>
      ChosenReaders: MessageTypeDefinition<_grantd_v1_ChosenReaders, _grantd_v1_ChosenReaders__Output>
      Confirm: MessageTypeDefinition<_grantd_v1_Confirm, _grantd_v1_Confirm__Output>
      CreateKey: MessageTypeDefinition<_grantd_v1_CreateKey, _grantd_v1_CreateKey__Output>
      CreateNamespace: MessageTypeDefinition<_grantd_v1_CreateNamespace, _grantd_v1_CreateNamespace__Output>
      CreateTenant: MessageTypeDefinition<_grantd_v1_CreateTenant, _grantd_v1_CreateTenant__Output>
      Done: MessageTypeDefinition<_grantd_v1_Done, _grantd_v1_Done__Output>
      ExportGrants: MessageTypeDefinition<_grantd_v1_ExportGrants, _grantd_v1_ExportGrants__Output>
      Failure: MessageTypeDefinition<_grantd_v1_Failure, _grantd_v1_Failure__Output>
      FailureKind: EnumTypeDefinition
      FeedEntry: MessageTypeDefinition<_grantd_v1_FeedEntry, _grantd_v1_FeedEntry__Output>
      FindTenants: MessageTypeDefinition<_grantd_v1_FindTenants, _grantd_v1_FindTenants__Output>
      FollowTenant: MessageTypeDefinition<_grantd_v1_FollowTenant, _grantd_v1_FollowTenant__Output>
      FrontMessage: MessageTypeDefinition<_grantd_v1_FrontMessage, _grantd_v1_FrontMessage__Output>
      GrantOutcome: EnumTypeDefinition
      GrantRecord: MessageTypeDefinition<_grantd_v1_GrantRecord, _grantd_v1_GrantRecord__Output>
      GrantResult: MessageTypeDefinition<_grantd_v1_GrantResult, _grantd_v1_GrantResult__Output>
      GrantResults: MessageTypeDefinition<_grantd_v1_GrantResults, _grantd_v1_GrantResults__Output>
      GrantWrite: MessageTypeDefinition<_grantd_v1_GrantWrite, _grantd_v1_GrantWrite__Output>
      Grants: MessageTypeDefinition<_grantd_v1_Grants, _grantd_v1_Grants__Output>
      Handle: MessageTypeDefinition<_grantd_v1_Handle, _grantd_v1_Handle__Output>
      Hello: MessageTypeDefinition<_grantd_v1_Hello, _grantd_v1_Hello__Output>
      IdentifiedKey: MessageTypeDefinition<_grantd_v1_IdentifiedKey, _grantd_v1_IdentifiedKey__Output>
      IdentifyKey: MessageTypeDefinition<_grantd_v1_IdentifyKey, _grantd_v1_IdentifyKey__Output>
      IfMatch: MessageTypeDefinition<_grantd_v1_IfMatch, _grantd_v1_IfMatch__Output>
      Key: MessageTypeDefinition<_grantd_v1_Key, _grantd_v1_Key__Output>
      Keys: MessageTypeDefinition<_grantd_v1_Keys, _grantd_v1_Keys__Output>
      ListAuditLog: MessageTypeDefinition<_grantd_v1_ListAuditLog, _grantd_v1_ListAuditLog__Output>
      ListGrants: MessageTypeDefinition<_grantd_v1_ListGrants, _grantd_v1_ListGrants__Output>
      ListHolders: MessageTypeDefinition<_grantd_v1_ListHolders, _grantd_v1_ListHolders__Output>
      ListKeys: MessageTypeDefinition<_grantd_v1_ListKeys, _grantd_v1_ListKeys__Output>
      ListLogEnds: MessageTypeDefinition<_grantd_v1_ListLogEnds, _grantd_v1_ListLogEnds__Output>
      ListMembers: MessageTypeDefinition<_grantd_v1_ListMembers, _grantd_v1_ListMembers__Output>
      ListNames: MessageTypeDefinition<_grantd_v1_ListNames, _grantd_v1_ListNames__Output>
      ListNamespaces: MessageTypeDefinition<_grantd_v1_ListNamespaces, _grantd_v1_ListNamespaces__Output>
      ListObjects: MessageTypeDefinition<_grantd_v1_ListObjects, _grantd_v1_ListObjects__Output>
      ListRulesVersions: MessageTypeDefinition<_grantd_v1_ListRulesVersions, _grantd_v1_ListRulesVersions__Output>
      ListSlots: MessageTypeDefinition<_grantd_v1_ListSlots, _grantd_v1_ListSlots__Output>
      ListSubjects: MessageTypeDefinition<_grantd_v1_ListSubjects, _grantd_v1_ListSubjects__Output>
      ListTenants: MessageTypeDefinition<_grantd_v1_ListTenants, _grantd_v1_ListTenants__Output>
      Load: MessageTypeDefinition<_grantd_v1_Load, _grantd_v1_Load__Output>
      LogEnds: MessageTypeDefinition<_grantd_v1_LogEnds, _grantd_v1_LogEnds__Output>
      LoggedChange: MessageTypeDefinition<_grantd_v1_LoggedChange, _grantd_v1_LoggedChange__Output>
      LoggedChanges: MessageTypeDefinition<_grantd_v1_LoggedChanges, _grantd_v1_LoggedChanges__Output>
      Member: MessageTypeDefinition<_grantd_v1_Member, _grantd_v1_Member__Output>
      MemberAddress: MessageTypeDefinition<_grantd_v1_MemberAddress, _grantd_v1_MemberAddress__Output>
      Members: MessageTypeDefinition<_grantd_v1_Members, _grantd_v1_Members__Output>
      NamedResults: MessageTypeDefinition<_grantd_v1_NamedResults, _grantd_v1_NamedResults__Output>
      Names: MessageTypeDefinition<_grantd_v1_Names, _grantd_v1_Names__Output>
      Namespace: MessageTypeDefinition<_grantd_v1_Namespace, _grantd_v1_Namespace__Output>
      NamespaceRelation: MessageTypeDefinition<_grantd_v1_NamespaceRelation, _grantd_v1_NamespaceRelation__Output>
      NamespaceResult: MessageTypeDefinition<_grantd_v1_NamespaceResult, _grantd_v1_NamespaceResult__Output>
      Namespaces: MessageTypeDefinition<_grantd_v1_Namespaces, _grantd_v1_Namespaces__Output>
      Objects: MessageTypeDefinition<_grantd_v1_Objects, _grantd_v1_Objects__Output>
      Peer: EnumTypeDefinition
      Ping: MessageTypeDefinition<_grantd_v1_Ping, _grantd_v1_Ping__Output>
      Pong: MessageTypeDefinition<_grantd_v1_Pong, _grantd_v1_Pong__Output>
      Position: MessageTypeDefinition<_grantd_v1_Position, _grantd_v1_Position__Output>
      PreviewRules: MessageTypeDefinition<_grantd_v1_PreviewRules, _grantd_v1_PreviewRules__Output>
      ReadChanges: MessageTypeDefinition<_grantd_v1_ReadChanges, _grantd_v1_ReadChanges__Output>
      ReadLoad: MessageTypeDefinition<_grantd_v1_ReadLoad, _grantd_v1_ReadLoad__Output>
      ReadLog: MessageTypeDefinition<_grantd_v1_ReadLog, _grantd_v1_ReadLog__Output>
      ReadPosition: MessageTypeDefinition<_grantd_v1_ReadPosition, _grantd_v1_ReadPosition__Output>
      ReadRules: MessageTypeDefinition<_grantd_v1_ReadRules, _grantd_v1_ReadRules__Output>
      ReadRulesVersion: MessageTypeDefinition<_grantd_v1_ReadRulesVersion, _grantd_v1_ReadRulesVersion__Output>
      ReadTenant: MessageTypeDefinition<_grantd_v1_ReadTenant, _grantd_v1_ReadTenant__Output>
      ReadUsage: MessageTypeDefinition<_grantd_v1_ReadUsage, _grantd_v1_ReadUsage__Output>
      ReadersChange: MessageTypeDefinition<_grantd_v1_ReadersChange, _grantd_v1_ReadersChange__Output>
      Reasons: MessageTypeDefinition<_grantd_v1_Reasons, _grantd_v1_Reasons__Output>
      Relation: EnumTypeDefinition
      RepairTime: MessageTypeDefinition<_grantd_v1_RepairTime, _grantd_v1_RepairTime__Output>
      RepairedTime: MessageTypeDefinition<_grantd_v1_RepairedTime, _grantd_v1_RepairedTime__Output>
      Reply: MessageTypeDefinition<_grantd_v1_Reply, _grantd_v1_Reply__Output>
      Report: MessageTypeDefinition<_grantd_v1_Report, _grantd_v1_Report__Output>
      RevokeGrants: MessageTypeDefinition<_grantd_v1_RevokeGrants, _grantd_v1_RevokeGrants__Output>
      RevokeKey: MessageTypeDefinition<_grantd_v1_RevokeKey, _grantd_v1_RevokeKey__Output>
      Revoked: MessageTypeDefinition<_grantd_v1_Revoked, _grantd_v1_Revoked__Output>
      RotateKey: MessageTypeDefinition<_grantd_v1_RotateKey, _grantd_v1_RotateKey__Output>
      RotatedKey: MessageTypeDefinition<_grantd_v1_RotatedKey, _grantd_v1_RotatedKey__Output>
      Routes: MessageTypeDefinition<_grantd_v1_Routes, _grantd_v1_Routes__Output>
      Rules: MessageTypeDefinition<_grantd_v1_Rules, _grantd_v1_Rules__Output>
      RulesPreview: MessageTypeDefinition<_grantd_v1_RulesPreview, _grantd_v1_RulesPreview__Output>
      RulesVersion: MessageTypeDefinition<_grantd_v1_RulesVersion, _grantd_v1_RulesVersion__Output>
      RulesVersions: MessageTypeDefinition<_grantd_v1_RulesVersions, _grantd_v1_RulesVersions__Output>
      Shard: SubtypeConstructor<typeof grpc.Client, _grantd_v1_ShardClient> & { service: _grantd_v1_ShardDefinition }
      ShardLoad: MessageTypeDefinition<_grantd_v1_ShardLoad, _grantd_v1_ShardLoad__Output>
      ShardMessage: MessageTypeDefinition<_grantd_v1_ShardMessage, _grantd_v1_ShardMessage__Output>
      Slot: MessageTypeDefinition<_grantd_v1_Slot, _grantd_v1_Slot__Output>
      SlotOwner: MessageTypeDefinition<_grantd_v1_SlotOwner, _grantd_v1_SlotOwner__Output>
      Slots: MessageTypeDefinition<_grantd_v1_Slots, _grantd_v1_Slots__Output>
      Subjects: MessageTypeDefinition<_grantd_v1_Subjects, _grantd_v1_Subjects__Output>
      Tenant: MessageTypeDefinition<_grantd_v1_Tenant, _grantd_v1_Tenant__Output>
      TenantCommits: MessageTypeDefinition<_grantd_v1_TenantCommits, _grantd_v1_TenantCommits__Output>
      TenantCounts: MessageTypeDefinition<_grantd_v1_TenantCounts, _grantd_v1_TenantCounts__Output>
      TenantDeletion: MessageTypeDefinition<_grantd_v1_TenantDeletion, _grantd_v1_TenantDeletion__Output>
      TenantGrants: MessageTypeDefinition<_grantd_v1_TenantGrants, _grantd_v1_TenantGrants__Output>
      TenantReader: MessageTypeDefinition<_grantd_v1_TenantReader, _grantd_v1_TenantReader__Output>
      TenantReaders: MessageTypeDefinition<_grantd_v1_TenantReaders, _grantd_v1_TenantReaders__Output>
      Tenants: MessageTypeDefinition<_grantd_v1_Tenants, _grantd_v1_Tenants__Output>
      TracedCheck: MessageTypeDefinition<_grantd_v1_TracedCheck, _grantd_v1_TracedCheck__Output>
      UpdateTenant: MessageTypeDefinition<_grantd_v1_UpdateTenant, _grantd_v1_UpdateTenant__Output>
      Usage: MessageTypeDefinition<_grantd_v1_Usage, _grantd_v1_Usage__Output>
      UsageBucket: MessageTypeDefinition<_grantd_v1_UsageBucket, _grantd_v1_UsageBucket__Output>
      UsageSeries: MessageTypeDefinition<_grantd_v1_UsageSeries, _grantd_v1_UsageSeries__Output>
      Welcome: MessageTypeDefinition<_grantd_v1_Welcome, _grantd_v1_Welcome__Output>
      WireTuple: MessageTypeDefinition<_grantd_v1_WireTuple, _grantd_v1_WireTuple__Output>
      WithoutGrants: MessageTypeDefinition<_grantd_v1_WithoutGrants, _grantd_v1_WithoutGrants__Output>
      WriteBulk: MessageTypeDefinition<_grantd_v1_WriteBulk, _grantd_v1_WriteBulk__Output>
      WriteCondition: MessageTypeDefinition<_grantd_v1_WriteCondition, _grantd_v1_WriteCondition__Output>
      WriteGrants: MessageTypeDefinition<_grantd_v1_WriteGrants, _grantd_v1_WriteGrants__Output>
      WriteRules: MessageTypeDefinition<_grantd_v1_WriteRules, _grantd_v1_WriteRules__Output>
      WrongOwner: MessageTypeDefinition<_grantd_v1_WrongOwner, _grantd_v1_WrongOwner__Output>
    }
  }
}

