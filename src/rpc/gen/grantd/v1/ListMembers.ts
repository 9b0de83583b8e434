// Original file: proto/grantd/v1/shard.proto


export interface ListMembers {
}

export interface ListMembers__Output {
}
