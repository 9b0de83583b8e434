// Original file: proto/grantd/v1/shard.proto


export interface ListSlots {
}

export interface ListSlots__Output {
}
