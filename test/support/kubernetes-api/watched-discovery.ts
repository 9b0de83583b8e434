// A discovery by Kubernetes under a test's eyes: on virtual time, with all that it tells, counts and logs.

import type { LoadKubeConfig } from '../../../src/discovery/kubernetes/api-server.ts';
import { createKubernetesDiscovery } from '../../../src/discovery/kubernetes/kubernetes-discovery.ts';
import { createRecordingLog } from '../store-directory.ts';
import { VirtualClock } from '../virtual-clock.ts';
import { waitFor } from '../wait-for.ts';

/** Some eight times as fast as real time, since answers come in real time. */
const STEP_MS = 200;

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
  /** Lets time pass until the condition holds, `stepMs` at a time; with 0, time stands still meanwhile. */
  until(what: string, condition: () => boolean, stepMs?: number): Promise<void>;
  /** Lets time pass until exactly these addresses were told last. */
  untilTold(...addresses: readonly string[]): Promise<void>;
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
  const until = (what: string, condition: () => boolean, stepMs = STEP_MS): Promise<void> =>
    waitFor(
      what,
      async () => {
        await clock.advance(stepMs);
        return condition();
      },
      30_000,
      () => `Told: ${JSON.stringify(told)}\n${log.lines.join('\n')}`,
    );
  return {
    clock,
    told,
    failures,
    warnings: () => log.lines.filter((line) => line.startsWith('warn:')),
    logged: log.lines,
    synced: () => synced,
    known: () => known,
    until,
    untilTold: (...addresses) =>
      until(`${addresses.join(', ')} to be told`, () => JSON.stringify(told.at(-1)) === JSON.stringify(addresses)),
    stop,
  };
}
