// Original file: proto/grantd/v1/shard.proto


export interface ListRulesVersions {
}

export interface ListRulesVersions__Output {
}
