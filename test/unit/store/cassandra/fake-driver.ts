// The driver in the hands of a test: every call waits until it is answered or failed, and says which node it went to.

import type { QueryOptions } from 'cassandra-driver';
import type { Driver } from '../../../../src/store/cassandra/driver/executor.ts';
import { Executor } from '../../../../src/store/cassandra/driver/executor.ts';
import { createRecordingLog } from '../../../kit/store/store-directory.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

type Answer = Awaited<ReturnType<Driver['execute']>>;

export interface DriverCall {
  readonly query: string;
  readonly params: readonly unknown[];
  readonly options: QueryOptions;
  readonly answer: (...rows: Record<string, unknown>[]) => void;
  readonly fail: (error: unknown) => void;
  /** The driver sends it to this node. */
  readonly goesTo: (host: string) => void;
}

export function createSession() {
  const clock = new VirtualClock();
  const log = createRecordingLog();
  const calls: DriverCall[] = [];
  const timedOut: string[] = [];
  const listeners = new WeakMap<object, (host: string) => void>();
  const begin = (query: string, params: readonly unknown[], options: QueryOptions): Promise<Answer> =>
    new Promise((resolve, reject) => {
      calls.push({
        query,
        params,
        options,
        answer: (...rows) => resolve({ rows, pageState: null } as unknown as Answer),
        fail: reject,
        goesTo: (host) => listeners.get(options)?.(host),
      });
    });
  const driver = {
    execute: (query: string, params: readonly unknown[], options: QueryOptions) => begin(query, params, options),
    batch: (queries: readonly { query: string }[], options: QueryOptions) =>
      begin(queries.map(({ query }) => query).join(';'), queries, options),
  } as unknown as Driver;
  const executor = new Executor(
    {
      clock,
      log,
      driver,
      listen: (options, onHost) => void listeners.set(options, onHost),
      onTimeout: (host) => void timedOut.push(host),
    },
    'SERIAL',
  );
  return { clock, log, calls, timedOut, executor, soon: () => clock.monotonicMs() + 5000 };
}
