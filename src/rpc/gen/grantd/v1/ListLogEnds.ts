// Original file: proto/grantd/v1/shard.proto


export interface ListLogEnds {
}

export interface ListLogEnds__Output {
}
