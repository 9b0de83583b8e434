// A discovery by Kubernetes under a test's eyes: on virtual time, with all that it tells, counts and logs.

import type { LoadKubeConfig } from '../../../../src/discovery/kubernetes/api-server.ts';
import { createKubernetesDiscovery } from '../../../../src/discovery/kubernetes/kubernetes-discovery.ts';
import { createRecordingLog } from '../../../kit/store/store-directory.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { waitFor } from '../../../kit/wait-for.ts';

/** Times as fast as real time, at most: answers come in real time, and 10 s is what discovery waits for one. */
const SPEED = 8;

export interface WatchedDiscovery {
  readonly clock: VirtualClock;
  /** Every set of addresses that was told. */
  readonly told: readonly (readonly string[])[];
  /** Reasons of failures, as counted. */
  readonly failures: readonly string[];
  readonly warnings: () => readonly string[];
  /** Everything logged, as text. */
  readonly logged: readonly string[];
  readonly synced: () => number;
  readonly known: () => number;
  /** Lets time pass until the condition holds. */
  until(what: string, condition: () => boolean): Promise<void>;
  /** Time stands still until the condition holds: however late an answer is, it is not too late. */
  untilWithoutTime(what: string, condition: () => boolean): Promise<void>;
  /** Time stands still until exactly these addresses were told last. */
  untilTold(...addresses: readonly string[]): Promise<void>;
  /** The same where discovery rests before it asks again: time passes. */
  untilToldInTime(...addresses: readonly string[]): Promise<void>;
  stop(): void;
}

/** `loadKubeConfig` undefined: as the surroundings of the process say. `randomByte`: all that chance has to give. */
export function watchDiscovery(
  loadKubeConfig: LoadKubeConfig | undefined,
  target: { readonly namespace: string; readonly service: string; readonly port?: string },
  randomByte = 0,
): WatchedDiscovery {
  const clock = new VirtualClock();
  const told: (readonly string[])[] = [];
  const failures: string[] = [];
  let synced = 0;
  let known = -1;
  const log = createRecordingLog();
  const discovery = createKubernetesDiscovery(
    {
      clock,
      random: { bytes: (length) => new Uint8Array(length).fill(randomByte) },
      log,
      observer: {
        synced: () => {
          synced += 1;
        },
        failed: (reason) => failures.push(reason),
        knows: (addresses) => {
          known = addresses;
        },
      },
      ...(loadKubeConfig === undefined ? {} : { loadKubeConfig }),
    },
    { port: 'rpc', ...target },
  );
  const stop = discovery.watch((addresses) => told.push(addresses));
  const untilAt = (speed: number, what: string, condition: () => boolean): Promise<void> => {
    let lastMs = performance.now();
    return waitFor(
      what,
      async () => {
        const nowMs = performance.now();
        const passedMs = speed * (nowMs - lastMs);
        lastMs = nowMs;
        await clock.advance(passedMs);
        return condition();
      },
      30_000,
      () => `Told: ${JSON.stringify(told)}\n${log.lines.join('\n')}`,
    );
  };
  const isTold = (addresses: readonly string[]) => (): boolean =>
    JSON.stringify(told.at(-1)) === JSON.stringify(addresses);
  return {
    clock,
    told,
    failures,
    warnings: () => log.lines.filter((line) => line.startsWith('warn:')),
    logged: log.lines,
    synced: () => synced,
    known: () => known,
    until: (what, condition) => untilAt(SPEED, what, condition),
    untilWithoutTime: (what, condition) => untilAt(0, what, condition),
    untilTold: (...addresses) => untilAt(0, `${addresses.join(', ')} to be told`, isTold(addresses)),
    untilToldInTime: (...addresses) => untilAt(SPEED, `${addresses.join(', ')} to be told`, isTold(addresses)),
    stop,
  };
}
