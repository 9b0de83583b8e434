// Original file: proto/grantd/v1/shard.proto


export interface NamespaceRelation {
  'namespace'?: (string);
  'relation'?: (string);
}

export interface NamespaceRelation__Output {
  'namespace': (string);
  'relation': (string);
}
