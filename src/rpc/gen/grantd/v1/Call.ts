// Original file: proto/grantd/v1/shard.proto

import type { Attempt as _grantd_v1_Attempt, Attempt__Output as _grantd_v1_Attempt__Output } from '../../grantd/v1/Attempt.ts';
import type { Authenticate as _grantd_v1_Authenticate, Authenticate__Output as _grantd_v1_Authenticate__Output } from '../../grantd/v1/Authenticate.ts';
import type { AuthenticateOperator as _grantd_v1_AuthenticateOperator, AuthenticateOperator__Output as _grantd_v1_AuthenticateOperator__Output } from '../../grantd/v1/AuthenticateOperator.ts';
import type { Confirm as _grantd_v1_Confirm, Confirm__Output as _grantd_v1_Confirm__Output } from '../../grantd/v1/Confirm.ts';
import type { CheckBulk as _grantd_v1_CheckBulk, CheckBulk__Output as _grantd_v1_CheckBulk__Output } from '../../grantd/v1/CheckBulk.ts';
import type { WriteGrants as _grantd_v1_WriteGrants, WriteGrants__Output as _grantd_v1_WriteGrants__Output } from '../../grantd/v1/WriteGrants.ts';
import type { ListObjects as _grantd_v1_ListObjects, ListObjects__Output as _grantd_v1_ListObjects__Output } from '../../grantd/v1/ListObjects.ts';
import type { ListNamespaces as _grantd_v1_ListNamespaces, ListNamespaces__Output as _grantd_v1_ListNamespaces__Output } from '../../grantd/v1/ListNamespaces.ts';
import type { CreateNamespace as _grantd_v1_CreateNamespace, CreateNamespace__Output as _grantd_v1_CreateNamespace__Output } from '../../grantd/v1/CreateNamespace.ts';
import type { CreateKey as _grantd_v1_CreateKey, CreateKey__Output as _grantd_v1_CreateKey__Output } from '../../grantd/v1/CreateKey.ts';
import type { ListKeys as _grantd_v1_ListKeys, ListKeys__Output as _grantd_v1_ListKeys__Output } from '../../grantd/v1/ListKeys.ts';
import type { RevokeKey as _grantd_v1_RevokeKey, RevokeKey__Output as _grantd_v1_RevokeKey__Output } from '../../grantd/v1/RevokeKey.ts';
import type { CreateTenant as _grantd_v1_CreateTenant, CreateTenant__Output as _grantd_v1_CreateTenant__Output } from '../../grantd/v1/CreateTenant.ts';
import type { UpdateTenant as _grantd_v1_UpdateTenant, UpdateTenant__Output as _grantd_v1_UpdateTenant__Output } from '../../grantd/v1/UpdateTenant.ts';
import type { ReadTenant as _grantd_v1_ReadTenant, ReadTenant__Output as _grantd_v1_ReadTenant__Output } from '../../grantd/v1/ReadTenant.ts';
import type { ListTenants as _grantd_v1_ListTenants, ListTenants__Output as _grantd_v1_ListTenants__Output } from '../../grantd/v1/ListTenants.ts';
import type { ListSubjects as _grantd_v1_ListSubjects, ListSubjects__Output as _grantd_v1_ListSubjects__Output } from '../../grantd/v1/ListSubjects.ts';
import type { ListAuditLog as _grantd_v1_ListAuditLog, ListAuditLog__Output as _grantd_v1_ListAuditLog__Output } from '../../grantd/v1/ListAuditLog.ts';
import type { ExportGrants as _grantd_v1_ExportGrants, ExportGrants__Output as _grantd_v1_ExportGrants__Output } from '../../grantd/v1/ExportGrants.ts';
import type { ListSlots as _grantd_v1_ListSlots, ListSlots__Output as _grantd_v1_ListSlots__Output } from '../../grantd/v1/ListSlots.ts';
import type { ListMembers as _grantd_v1_ListMembers, ListMembers__Output as _grantd_v1_ListMembers__Output } from '../../grantd/v1/ListMembers.ts';
import type { ListSubjectGrants as _grantd_v1_ListSubjectGrants, ListSubjectGrants__Output as _grantd_v1_ListSubjectGrants__Output } from '../../grantd/v1/ListSubjectGrants.ts';

export interface Call {
  'id'?: (number);
  'handle'?: (number);
  'attempt'?: (_grantd_v1_Attempt | null);
  'traceparent'?: (string);
  'authenticate'?: (_grantd_v1_Authenticate | null);
  'authenticateOperator'?: (_grantd_v1_AuthenticateOperator | null);
  'confirm'?: (_grantd_v1_Confirm | null);
  'checkBulk'?: (_grantd_v1_CheckBulk | null);
  'writeGrants'?: (_grantd_v1_WriteGrants | null);
  'listObjects'?: (_grantd_v1_ListObjects | null);
  'listNamespaces'?: (_grantd_v1_ListNamespaces | null);
  'createNamespace'?: (_grantd_v1_CreateNamespace | null);
  'createKey'?: (_grantd_v1_CreateKey | null);
  'listKeys'?: (_grantd_v1_ListKeys | null);
  'revokeKey'?: (_grantd_v1_RevokeKey | null);
  'createTenant'?: (_grantd_v1_CreateTenant | null);
  'updateTenant'?: (_grantd_v1_UpdateTenant | null);
  'readTenant'?: (_grantd_v1_ReadTenant | null);
  'listTenants'?: (_grantd_v1_ListTenants | null);
  'listSubjects'?: (_grantd_v1_ListSubjects | null);
  'listAuditLog'?: (_grantd_v1_ListAuditLog | null);
  'exportGrants'?: (_grantd_v1_ExportGrants | null);
  'listSlots'?: (_grantd_v1_ListSlots | null);
  'listMembers'?: (_grantd_v1_ListMembers | null);
  'listSubjectGrants'?: (_grantd_v1_ListSubjectGrants | null);
  'request'?: "authenticate"|"authenticateOperator"|"confirm"|"checkBulk"|"writeGrants"|"listObjects"|"listNamespaces"|"createNamespace"|"createKey"|"listKeys"|"revokeKey"|"createTenant"|"updateTenant"|"readTenant"|"listTenants"|"listSubjects"|"listAuditLog"|"exportGrants"|"listSlots"|"listMembers"|"listSubjectGrants";
}

export interface Call__Output {
  'id': (number);
  'handle': (number);
  'attempt': (_grantd_v1_Attempt__Output | null);
  'traceparent': (string);
  'authenticate'?: (_grantd_v1_Authenticate__Output | null);
  'authenticateOperator'?: (_grantd_v1_AuthenticateOperator__Output | null);
  'confirm'?: (_grantd_v1_Confirm__Output | null);
  'checkBulk'?: (_grantd_v1_CheckBulk__Output | null);
  'writeGrants'?: (_grantd_v1_WriteGrants__Output | null);
  'listObjects'?: (_grantd_v1_ListObjects__Output | null);
  'listNamespaces'?: (_grantd_v1_ListNamespaces__Output | null);
  'createNamespace'?: (_grantd_v1_CreateNamespace__Output | null);
  'createKey'?: (_grantd_v1_CreateKey__Output | null);
  'listKeys'?: (_grantd_v1_ListKeys__Output | null);
  'revokeKey'?: (_grantd_v1_RevokeKey__Output | null);
  'createTenant'?: (_grantd_v1_CreateTenant__Output | null);
  'updateTenant'?: (_grantd_v1_UpdateTenant__Output | null);
  'readTenant'?: (_grantd_v1_ReadTenant__Output | null);
  'listTenants'?: (_grantd_v1_ListTenants__Output | null);
  'listSubjects'?: (_grantd_v1_ListSubjects__Output | null);
  'listAuditLog'?: (_grantd_v1_ListAuditLog__Output | null);
  'exportGrants'?: (_grantd_v1_ExportGrants__Output | null);
  'listSlots'?: (_grantd_v1_ListSlots__Output | null);
  'listMembers'?: (_grantd_v1_ListMembers__Output | null);
  'listSubjectGrants'?: (_grantd_v1_ListSubjectGrants__Output | null);
  'request'?: "authenticate"|"authenticateOperator"|"confirm"|"checkBulk"|"writeGrants"|"listObjects"|"listNamespaces"|"createNamespace"|"createKey"|"listKeys"|"revokeKey"|"createTenant"|"updateTenant"|"readTenant"|"listTenants"|"listSubjects"|"listAuditLog"|"exportGrants"|"listSlots"|"listMembers"|"listSubjectGrants";
}
