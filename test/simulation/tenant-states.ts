// The rules for the tenant whose state changes in a run: one operator suspends it, lets it on again and deletes it at last, one
// change after the other. From the moment a change is acknowledged no request is answered against it.

import type { TenantState } from '../../src/core/tenants.ts';

interface StateChange {
  readonly to: TenantState;
  readonly startMs: number;
  /** Infinite: not acknowledged, so it may happen at any later moment. */
  endMs: number;
}

export class TenantStates {
  readonly #changes: StateChange[] = [];
  readonly #report: (failure: string) => void;

  constructor(report: (failure: string) => void) {
    this.#report = report;
  }

  begin(to: TenantState, startMs: number): (endMs: number) => void {
    const change: StateChange = { to, startMs, endMs: Number.POSITIVE_INFINITY };
    this.#changes.push(change);
    return (endMs) => {
      change.endMs = endMs;
    };
  }

  /** An answer to a request of the tenant: `value` or the code of its error. To be told when it came. */
  answered(answer: string, startMs: number, endMs: number): void {
    const possible = this.#possible(startMs, endMs);
    const wrong =
      (answer === 'value' && !possible.has('active')) ||
      (answer === 'tenant-suspended' && !possible.has('suspended')) ||
      (answer === 'unauthorized' && !possible.has('deleting'));
    if (!wrong) return;
    const states = [...possible].join(' or ');
    this.#report(`the answer ${answer} (asked at ${startMs}, given at ${endMs}) to a tenant that was ${states}`);
  }

  /** The states that the tenant may have had in a span of time. */
  #possible(startMs: number, endMs: number): Set<TenantState> {
    let before: TenantState = 'active';
    const during = new Set<TenantState>();
    for (const change of this.#changes) {
      if (change.endMs < startMs) before = change.to;
      else if (change.startMs <= endMs) during.add(change.to);
    }
    return during.add(before);
  }
}
