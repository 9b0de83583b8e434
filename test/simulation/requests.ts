// How a client of the simulation reaches a front: a request arrives a moment after it was sent, runs in the front's
// process, and its answer comes back a moment later. Where the front dies there is no answer.

import { GrantdError } from '../../src/core/errors.ts';
import { IdFactory } from '../../src/core/ids.ts';
import type { RequestContext } from '../../src/front/front.ts';
import type { RunningFront, SimulatedCluster } from './simulated-cluster.ts';

export type Answer<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'error'; readonly error: GrantdError }
  | { readonly kind: 'none' };

/** A client waits a little longer than the front's own deadline. */
const GIVE_UP_MS = 13_000;

const idFactories = new WeakMap<RunningFront, IdFactory>();

/** The context of a new request at a front, as its HTTP side makes it. To be called in the front's process. */
function newContext(front: RunningFront, deadlineMs: number): RequestContext {
  const { clock, random } = front.process;
  const ids = idFactories.get(front) ?? new IdFactory(clock, random);
  idFactories.set(front, ids);
  return { requestId: ids.create('req'), deadlineMs: clock.monotonicMs() + deadlineMs };
}

export function request<Value>(
  cluster: SimulatedCluster,
  front: RunningFront,
  run: (front: RunningFront['front'], context: RequestContext) => Promise<Value>,
): Promise<Answer<Value>> {
  const { scheduler, network } = cluster;
  return new Promise((resolve) => {
    const giveUp = scheduler.after(GIVE_UP_MS, () => resolve({ kind: 'none' }));
    const answer = (result: Answer<Value>): void => {
      scheduler.after(network.latencyMs(), () => {
        giveUp.run = undefined;
        resolve(result);
      });
    };
    scheduler.after(network.latencyMs(), () =>
      front.process.deliver(() => {
        run(front.front, newContext(front, cluster.deadlineMs)).then(
          (value) => answer({ kind: 'value', value }),
          (error: unknown) => answer({ kind: 'error', error: GrantdError.from(error) }),
        );
      }),
    );
  });
}
