// Original file: proto/grantd/v1/shard.proto

import type { NamespaceRelation as _grantd_v1_NamespaceRelation, NamespaceRelation__Output as _grantd_v1_NamespaceRelation__Output } from '../../grantd/v1/NamespaceRelation.ts';

export interface RulesPreview {
  'revision'?: (string);
  'groupSubjects'?: (number);
  'publicGrants'?: (number);
  'ungranted'?: (_grantd_v1_NamespaceRelation)[];
  'scannedGrants'?: (number);
  'complete'?: (boolean);
  'notFollowed'?: (number);
  'outsideTypes'?: (number);
}

export interface RulesPreview__Output {
  'revision': (string);
  'groupSubjects': (number);
  'publicGrants': (number);
  'ungranted': (_grantd_v1_NamespaceRelation__Output)[];
  'scannedGrants': (number);
  'complete': (boolean);
  'notFollowed': (number);
  'outsideTypes': (number);
}
