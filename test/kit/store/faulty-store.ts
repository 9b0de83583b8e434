// A store that goes wrong on demand, around any other: per call it can be late, fail before it was applied, fail after
// (the outcome is then unknown to the caller), or be held until it is let go. Every call still ends at its deadline.

import type { Clock } from '../../../src/core/async/clock.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import type { DeadlineMs, Store } from '../../../src/store/store.ts';
import { withDeadline } from './store-deadline.ts';
import { createGatedStore, type StoreOperation } from './store-gate.ts';

export type Fault =
  /** Waits for `until` before the call is applied. */
  | { readonly kind: 'delay'; readonly until: () => Promise<void> }
  /** Waits for `until` after the call was applied. */
  | { readonly kind: 'delay-reply'; readonly until: () => Promise<void> }
  | { readonly kind: 'fail-before' }
  | { readonly kind: 'fail-after' }
  /** Fails at once, and is applied once `until` resolves: a write that appears long after its timeout. */
  | { readonly kind: 'apply-late'; readonly until: () => Promise<void> };

export interface StoreHooks {
  /** Asked once per call; undefined: nothing goes wrong. `call` counts the calls of this operation, from 1. */
  readonly fault?: (operation: StoreOperation, call: number) => Fault | undefined;
}

/** What every call of the named operations does until it is switched off. Held: it waits until then. */
export type Switch = 'fail-before' | 'fail-after' | 'hold' | 'hold-reply';

export const WRITE_BEHIND: readonly StoreOperation[] = ['writeState', 'writeCheckpoint'];

export interface FaultControls {
  /** From now on, for these operations. */
  turn(to: Switch, operations: readonly StoreOperation[]): void;
  /** Nothing goes wrong from now on; what was held goes on. */
  restore(operations: readonly StoreOperation[]): void;
  /** How many calls are held now. */
  heldCalls(): number;
  /** How often the operation was called. */
  calls(operation: StoreOperation): number;
}

const unavailable = (message: string) => new GrantdError('unavailable', message);

/** The store, and the switches by which it goes wrong; `hooks.fault` is asked where no switch is set. */
export function delayedStore(
  store: Store,
  clock: Clock,
  hooks: StoreHooks = {},
): { readonly store: Store; readonly faults: FaultControls } {
  const switches = new Map<StoreOperation, Switch>();
  const counts = new Map<StoreOperation, number>();
  let held: { readonly operation: StoreOperation; readonly release: () => void }[] = [];
  const hold = (operation: StoreOperation): Promise<void> =>
    new Promise((resolve) => held.push({ operation, release: resolve }));

  const faultOf = (operation: StoreOperation, call: number): Fault | undefined => {
    const position = switches.get(operation);
    if (position === undefined) return hooks.fault?.(operation, call);
    if (position === 'hold') return { kind: 'delay', until: () => hold(operation) };
    return position === 'hold-reply' ? { kind: 'delay-reply', until: () => hold(operation) } : { kind: position };
  };

  const runFaulty = async <Result>(fault: Fault | undefined, run: () => Promise<Result>): Promise<Result> => {
    switch (fault?.kind) {
      case undefined:
        return run();
      case 'delay':
        await fault.until();
        return run();
      case 'delay-reply': {
        const result = await run();
        await fault.until();
        return result;
      }
      case 'fail-before':
        throw unavailable('The store failed before the call was applied.');
      case 'fail-after':
        await run();
        throw unavailable('The store failed after the call was applied.');
      case 'apply-late':
        void fault.until().then(run);
        throw unavailable('The store failed; the call is applied later.');
    }
  };

  const gate = <Result>(operation: StoreOperation, deadline: DeadlineMs, run: () => Promise<Result>) => {
    const call = (counts.get(operation) ?? 0) + 1;
    counts.set(operation, call);
    return withDeadline(clock, deadline, runFaulty(faultOf(operation, call), run));
  };

  return {
    store: createGatedStore(store, gate),
    faults: {
      turn: (to, operations) => {
        for (const operation of operations) switches.set(operation, to);
      },
      restore: (operations) => {
        for (const operation of operations) switches.delete(operation);
        const released = held.filter((each) => operations.includes(each.operation));
        held = held.filter((each) => !operations.includes(each.operation));
        for (const each of released) each.release();
      },
      heldCalls: () => held.length,
      calls: (operation) => counts.get(operation) ?? 0,
    },
  };
}
