// Original file: proto/grantd/v1/shard.proto


export interface CreateNamespace {
  'name'?: (string);
}

export interface CreateNamespace__Output {
  'name': (string);
}
