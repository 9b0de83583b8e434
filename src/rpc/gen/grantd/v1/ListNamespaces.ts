// Original file: proto/grantd/v1/shard.proto


export interface ListNamespaces {
}

export interface ListNamespaces__Output {
}
