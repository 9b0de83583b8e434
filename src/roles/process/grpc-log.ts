// The gRPC library writes lines of its own to standard error, bypassing the log. This routes them into the log at debug
// level: whatever matters in them also reaches the caller as an error, which is logged there.

import { setLogger } from '@grpc/grpc-js';
import type { Log } from '../../telemetry/log.ts';

/** Affects the whole process. */
export function routeGrpcLog(log: Log): void {
  const write = (...parts: unknown[]): void => log.debug({ grpc: parts.map(String).join(' ') }, 'gRPC');
  setLogger({ error: write, info: write, debug: write });
}
