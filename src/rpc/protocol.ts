// The internal protocol as gRPC sees it: the service loaded from the proto file, with the options of the generated
// types, and the bounds and timings of a connection that both ends keep.

import { fileURLToPath } from 'node:url';
import {
  type ChannelOptions,
  type Client,
  type ClientDuplexStream,
  type MethodDefinition,
  makeClientConstructor,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import * as frontMessages from './codec/front-message.ts';
import * as shardMessages from './codec/shard-message.ts';
import type { FrontMessage, ReceivedFrontMessage, ReceivedShardMessage, ShardMessage } from './messages.ts';

export const PROTO_PATH = fileURLToPath(new URL('../../proto/grantd/v1/shard.proto', import.meta.url));

const SERVICE = 'grantd.v1.Shard';

/** What the proto file declares, by full name. Messages are read as `messages.ts` and the tables of calls have them. */
export const PROTO = loadSync(PROTO_PATH, { longs: Number, enums: Number, defaults: true, arrays: true, oneofs: true });

// The loader cannot know the types of what it loads.
const library = (PROTO[SERVICE] as ServiceDefinition).Exchange as MethodDefinition<object, object>;
const readFrontMessage = (bytes: Buffer) => library.requestDeserialize(bytes) as ReceivedFrontMessage;
const readShardMessage = (bytes: Buffer) => library.responseDeserialize(bytes) as ReceivedShardMessage;

/** The bytes of messages, also for a transport that carries them itself. */
export const encodeFrontMessage = (message: FrontMessage): Buffer =>
  frontMessages.encodeFrontMessage(message, library.requestSerialize);
export const decodeFrontMessage = (bytes: Buffer): ReceivedFrontMessage =>
  frontMessages.decodeFrontMessage(bytes, readFrontMessage);
export const encodeShardMessage = (message: ShardMessage): Buffer =>
  shardMessages.encodeShardMessage(message, library.responseSerialize);
export const decodeShardMessage = (bytes: Buffer): ReceivedShardMessage =>
  shardMessages.decodeShardMessage(bytes, readShardMessage);

export const shardService = {
  Exchange: {
    path: `/${SERVICE}/Exchange`,
    originalName: 'exchange',
    requestStream: true,
    responseStream: true,
    requestSerialize: encodeFrontMessage,
    requestDeserialize: decodeFrontMessage,
    responseSerialize: encodeShardMessage,
    responseDeserialize: decodeShardMessage,
  },
} satisfies ServiceDefinition;

/** gRPC makes the methods of a client from its service. */
export const ShardClient = makeClientConstructor(shardService, SERVICE) as unknown as new (
  ...options: ConstructorParameters<typeof Client>
) => Client & { exchange(): ClientDuplexStream<FrontMessage, ReceivedShardMessage> };

/** Size of one message, either way. The longest write call (1,000 tuples of the longest identifiers) has 2.3 MB. */
export const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Size of one call or reply, which is refused beyond that. Leaves space for what a message carries in addition to its
 * longest one: checks or their results, positions or routes.
 */
export const LONGEST_BYTES_MAX = MESSAGE_BYTES_MAX - 512 * 1024;
/**
 * What gathers is sent in messages of about this size, unless a single call or reply is longer; what comes next waits
 * for that message.
 */
export const BATCH_BYTES_MAX = 256 * 1024;
/** Checks in one message: each takes tens of bytes, and the reply to all of them has to fit into one message too. */
export const CHECKS_PER_MESSAGE_MAX = 10_000;
/**
 * Messages of one stream in flight at once, in either direction. Later ones wait at the sender, where checks and their
 * results go ahead of anything long. In the buffers of the stream they would come behind it.
 */
export const IN_FLIGHT_MAX = 2;
/** Calls and checks of one stream that wait for a reply. */
export const OUTSTANDING_MAX = 10_000;
/** A change in the audit log has up to 8 KiB, so this many fit into a message. */
export const AUDIT_LOG_LIMIT_MAX = 400;

/**
 * The longest wait of one call for changes. A call that a failover repeats still ends within the deadline of a request.
 */
export const FEED_WAIT_MS_MAX = 5000;

/** Tenants in one report of a front: a shard processes them within a millisecond. */
export const USAGE_PER_REPORT_MAX = 1000;

/** Problems in one report: those of more keys are not told. With the longest texts about 100 KiB. */
export const PROBLEMS_PER_REPORT_MAX = 200;
/** UTF-16 units of each of their texts; a longer detail is cut off. */
export const PROBLEM_TEXT_MAX = 300;

/** Names in one report, for all shards: an owner takes them within a millisecond or two. With tenants about 200 KiB. */
export const ASKED_PER_REPORT_MAX = 2000;

/** How often a front pings a shard: it learns whether the shard is there, and reads the shard's clock from the pong. */
export const PING_INTERVAL_MS = 500;
/**
 * After this long without any message from the shard, the connection counts as dead. With the interval of this check:
 * below 2 s.
 */
export const SILENCE_MS_MAX = 1500;

/**
 * Window of a stream, either way. Most messages fit without an update of it, which would take a turn of a busy peer.
 */
export const FLOW_CONTROL_WINDOW_BYTES = 1024 * 1024;

const COMMON_OPTIONS = {
  'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
  'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
  'grpc.enable_channelz': 0,
  // HTTP/2 pings: with them, a shard notices that the host of a front is down. A front has its own, stricter ones
  // (above).
  'grpc.keepalive_time_ms': 1000,
  'grpc.keepalive_timeout_ms': 1000,
  'grpc-node.flow_control_window': FLOW_CONTROL_WINDOW_BYTES,
} satisfies ChannelOptions;

export const SERVER_OPTIONS: ChannelOptions = {
  ...COMMON_OPTIONS,
  /** A front opens one stream per connection; more would be a defect or abuse. */
  'grpc.max_concurrent_streams': 16,
};

export const CLIENT_OPTIONS: ChannelOptions = {
  ...COMMON_OPTIONS,
  // Channels share no connections: a channel opened after one was closed has a new connection.
  'grpc.use_local_subchannel_pool': 1,
  // The name that TLS announces, always the same: it may not be an address
  // (https://www.rfc-editor.org/rfc/rfc6066#section-3), and usually an address is dialled. The credentials decide which
  // name the certificate must have.
  'grpc.ssl_target_name_override': 'grantd-shard',
  // The front itself retries, since it knows deadlines and owners; gRPC would buffer every message of the stream.
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
};
