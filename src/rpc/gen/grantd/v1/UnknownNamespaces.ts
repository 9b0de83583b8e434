// Original file: proto/grantd/v1/shard.proto


export interface UnknownNamespaces {
  'namespaces'?: (string)[];
}

export interface UnknownNamespaces__Output {
  'namespaces': (string)[];
}
