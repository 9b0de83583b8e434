// Original file: proto/grantd/v1/shard.proto


export interface Confirm {
}

export interface Confirm__Output {
}
