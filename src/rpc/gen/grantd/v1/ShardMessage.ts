// Original file: proto/grantd/v1/shard.proto

import type { Welcome as _grantd_v1_Welcome, Welcome__Output as _grantd_v1_Welcome__Output } from '../../grantd/v1/Welcome.ts';
import type { Routes as _grantd_v1_Routes, Routes__Output as _grantd_v1_Routes__Output } from '../../grantd/v1/Routes.ts';
import type { CheckResults as _grantd_v1_CheckResults, CheckResults__Output as _grantd_v1_CheckResults__Output } from '../../grantd/v1/CheckResults.ts';
import type { Reply as _grantd_v1_Reply, Reply__Output as _grantd_v1_Reply__Output } from '../../grantd/v1/Reply.ts';
import type { Pong as _grantd_v1_Pong, Pong__Output as _grantd_v1_Pong__Output } from '../../grantd/v1/Pong.ts';

export interface ShardMessage {
  'welcome'?: (_grantd_v1_Welcome | null);
  'routes'?: (_grantd_v1_Routes | null);
  'checkResults'?: (_grantd_v1_CheckResults | null);
  'replies'?: (_grantd_v1_Reply)[];
  'pong'?: (_grantd_v1_Pong | null);
}

export interface ShardMessage__Output {
  'welcome': (_grantd_v1_Welcome__Output | null);
  'routes': (_grantd_v1_Routes__Output | null);
  'checkResults': (_grantd_v1_CheckResults__Output | null);
  'replies': (_grantd_v1_Reply__Output)[];
  'pong': (_grantd_v1_Pong__Output | null);
}
