// Original file: proto/grantd/v1/shard.proto


export interface CheckNamed {
  'subjects'?: (string)[];
  'names'?: (string)[];
  'objects'?: (string)[];
  'explain'?: (boolean);
  'list'?: (string);
  'denyUndefined'?: (boolean);
}

export interface CheckNamed__Output {
  'subjects': (string)[];
  'names': (string)[];
  'objects': (string)[];
  'explain': (boolean);
  'list': (string);
  'denyUndefined': (boolean);
}
