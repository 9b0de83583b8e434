// The messages of a stream as they arrive: what both ends read and write around the calls, whose own fields are
// declared in `calls/`. The names are those of the proto file; a test compares them.

import type { CallName } from '../shard/shard.ts';

/** A message as it is sent: what is left out has its default. */
type PartialMessage<Message> = Message extends readonly (infer Item)[]
  ? PartialMessage<Item>[]
  : Message extends object
    ? { [Field in keyof Message]?: PartialMessage<Message[Field]> }
    : Message;

// ---- peer to shard ----

export const Peer = { PEER_UNSPECIFIED: 0, PEER_FRONT: 1, PEER_CONSOLE: 2, PEER_SHARD: 3 } as const;

export interface ReceivedHello {
  version: string;
  name: string;
  peer: number;
  slots: number;
  clusterId: string;
}

export interface ReceivedPosition {
  tenantId: string;
  epoch: number;
  seq: number;
  nextBase: number;
  nowMs: number;
  toldReaders: number;
  quietMs: number;
}

export interface TracedCheck {
  index: number;
  traceparent: string;
}

export interface ReceivedChecks {
  ids: number[];
  handles: number[];
  subjects: string[];
  relations: number[];
  objects: string[];
  traced: TracedCheck[];
  names: string[];
  contexts: string[];
}

export interface Load {
  elapsedMs: number;
  checks: number;
  failures: number;
  latencies: number[];
}

export interface Usage {
  minute: number;
  slots: number[];
  tenantIds: string[];
  requests: number[];
  refused: number[];
  checks: number[];
}

export interface Problem {
  slot: number;
  tenantId: string;
  keyId: string;
  code: string;
  count: number;
  requestId: string;
  detail: string;
}

export interface AskedReport {
  slot: number;
  tenantId: string;
  names: string[];
}

export interface ReceivedReport {
  load: Load | null;
  usage: Usage | null;
  problems: Problem[];
  asked: AskedReport[];
  awaited: number[];
}

/** The requests that are read before their turn: the codec writes them by hand, or they name their tenant. */
export interface ReceivedCheckBulk {
  subjects: string[];
  relations: number[];
  objects: string[];
}
export interface ReceivedReadPosition {
  tenantId: string;
  slot: number;
}

export interface ReceivedFollowTenant {
  tenantId: string;
  epoch: number;
  seq: number;
  advance: boolean;
}

export interface ReceivedCall {
  /** The request of a call, as it declares it. */
  [request: string]: unknown;
  id: number;
  handle: number;
  attempt: { requestId: string; expiresAtMs: number } | null;
  traceparent: string;
  /** The name of the request that it has; undefined: none that this version knows. */
  request?: CallName;
  checkBulk?: ReceivedCheckBulk | null;
  readPosition?: ReceivedReadPosition | null;
  followTenant?: ReceivedFollowTenant | null;
}

export interface ReceivedFrontMessage {
  hello: ReceivedHello | null;
  checks: ReceivedChecks | null;
  calls: ReceivedCall[];
  ping: { id: number } | null;
  report: ReceivedReport | null;
  positions: ReceivedPosition[];
}

// ---- shard to peer ----

export interface ReceivedWelcome {
  version: string;
  incarnation: string;
  shardName: string;
  slots: number;
  deadlineMs: number;
  leaseMs: number;
  clusterId: string;
}

export interface ReceivedRoutes {
  slots: number[];
  epochs: number[];
  members: { shardName: string; address: string }[];
  isChange: boolean;
  removed: number[];
  sameMembers: boolean;
}

export interface ReceivedSettings {
  tenantId: string;
  plan: string;
  readers: number;
}

export const FailureKind = {
  FAILURE_UNSPECIFIED: 0,
  FAILURE_ERROR: 1,
  FAILURE_WRONG_OWNER: 2,
  FAILURE_NOT_SERVING: 3,
  FAILURE_HANDLE_UNKNOWN: 4,
  FAILURE_EXPIRED: 5,
  FAILURE_UNDECIDED: 6,
} as const;

export interface ReceivedFailure {
  kind: number;
  code: string;
  message: string;
  wrongOwner: { slot: number; epoch: number; incarnation: string; address: string } | null;
  earliest: string;
}

/** The results that the codec writes by hand. */
export interface ReceivedBulkResults {
  authorized: boolean[];
  checkedAtMs: number;
}
export interface ReceivedObjects {
  objects: string[];
  nextCursor: string;
  excluded: string[];
}

export interface ReceivedReply {
  /** The answer of a call, as it declares it. */
  [result: string]: unknown;
  id: number;
  /** The name of the result that it has; undefined: none that this version knows. */
  result?: string;
  failure?: ReceivedFailure | null;
  handle?: { handle: number; plan: string; readers: number } | null;
  bulkResults?: ReceivedBulkResults | null;
  objects?: ReceivedObjects | null;
  position?: ReceivedPosition | null;
  unknownNamespaces: string[];
}

export interface ReceivedCheckResults {
  authorized: number[];
  denied: number[];
  failed: ReceivedReply[];
  checkedAtMs: number;
  timed: number[];
  timedAtMs: number[];
  hinted: ReceivedReply[];
}

export interface ReceivedShardMessage {
  welcome: ReceivedWelcome | null;
  routes: ReceivedRoutes | null;
  checkResults: ReceivedCheckResults | null;
  replies: ReceivedReply[];
  pong: { id: number; shardMs: number } | null;
  settings: ReceivedSettings[];
}

// ---- as they are sent ----

export type Attempt = PartialMessage<NonNullable<ReceivedCall['attempt']>>;
export type Call = PartialMessage<ReceivedCall>;
export type CheckResults = PartialMessage<ReceivedCheckResults>;
export type Checks = PartialMessage<ReceivedChecks>;
export type Failure = PartialMessage<ReceivedFailure>;
export type FrontMessage = PartialMessage<ReceivedFrontMessage>;
export type Hello = PartialMessage<ReceivedHello>;
export type Position = PartialMessage<ReceivedPosition>;
export type Reply = PartialMessage<ReceivedReply>;
export type Report = PartialMessage<ReceivedReport>;
export type RoutesMessage = PartialMessage<ReceivedRoutes>;
export type ShardMessage = PartialMessage<ReceivedShardMessage>;
export type Welcome = PartialMessage<ReceivedWelcome>;
