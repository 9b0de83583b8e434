// The gRPC library writes lines of its own to standard error, past the log. They go into the log instead, at debug
// level: whatever matters in them reaches the caller as an error too, and is told there.

import { setLogger } from '@grpc/grpc-js';
import type { Log } from '../../telemetry/log.ts';

/** For the whole process. */
export function routeGrpcLog(log: Log): void {
  const write = (...parts: unknown[]): void => log.debug({ grpc: parts.map(String).join(' ') }, 'gRPC');
  setLogger({ error: write, info: write, debug: write });
}
