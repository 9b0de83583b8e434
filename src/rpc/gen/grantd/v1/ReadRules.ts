// Original file: proto/grantd/v1/shard.proto


export interface ReadRules {
}

export interface ReadRules__Output {
}
