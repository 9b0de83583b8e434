// Original file: proto/grantd/v1/shard.proto


export interface ReadLoad {
}

export interface ReadLoad__Output {
}
