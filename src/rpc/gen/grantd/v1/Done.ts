// Original file: proto/grantd/v1/shard.proto


export interface Done {
}

export interface Done__Output {
}
