// What every serving process sets up before anything else.

import type { Log } from '../../telemetry/log.ts';
import { routeGrpcLog } from './grpc-log.ts';
import { boundGarbage } from './heap.ts';

export function prepareProcess(log: Log): void {
  boundGarbage();
  routeGrpcLog(log);
}
