// Original file: proto/grantd/v1/shard.proto

import type { Hello as _grantd_v1_Hello, Hello__Output as _grantd_v1_Hello__Output } from '../../grantd/v1/Hello.ts';
import type { Checks as _grantd_v1_Checks, Checks__Output as _grantd_v1_Checks__Output } from '../../grantd/v1/Checks.ts';
import type { Call as _grantd_v1_Call, Call__Output as _grantd_v1_Call__Output } from '../../grantd/v1/Call.ts';
import type { Ping as _grantd_v1_Ping, Ping__Output as _grantd_v1_Ping__Output } from '../../grantd/v1/Ping.ts';
import type { Report as _grantd_v1_Report, Report__Output as _grantd_v1_Report__Output } from '../../grantd/v1/Report.ts';
import type { Position as _grantd_v1_Position, Position__Output as _grantd_v1_Position__Output } from '../../grantd/v1/Position.ts';

export interface FrontMessage {
  'hello'?: (_grantd_v1_Hello | null);
  'checks'?: (_grantd_v1_Checks | null);
  'calls'?: (_grantd_v1_Call)[];
  'ping'?: (_grantd_v1_Ping | null);
  'report'?: (_grantd_v1_Report | null);
  'positions'?: (_grantd_v1_Position)[];
}

export interface FrontMessage__Output {
  'hello': (_grantd_v1_Hello__Output | null);
  'checks': (_grantd_v1_Checks__Output | null);
  'calls': (_grantd_v1_Call__Output)[];
  'ping': (_grantd_v1_Ping__Output | null);
  'report': (_grantd_v1_Report__Output | null);
  'positions': (_grantd_v1_Position__Output)[];
}
