// The rules for a tenant whose state changes in a run: operators suspend it, let it on again and delete it at last,
// several of them at once. From the moment a change is acknowledged no request is answered against it, and what was
// done before it took effect before that moment. A tenant that is being deleted is never anything else again.

import type { TenantState } from '../../src/core/tenants.ts';

interface StateChange {
  readonly to: TenantState;
  readonly startMs: number;
  /** Infinite: not acknowledged, so it may happen at any later moment. */
  endMs: number;
}

/** What came of a change. Undefined: not known. */
export type ChangeOutcome = 'done' | 'not-found' | 'not-done' | undefined;

export class TenantStates {
  readonly #changes = new Set<StateChange>();
  readonly #now: () => number;
  readonly #report: (failure: string) => void;

  /** `now`: the clock of the history. */
  constructor(now: () => number, report: (failure: string) => void) {
    this.#now = now;
    this.#report = report;
  }

  begin(to: TenantState): (outcome: ChangeOutcome) => void {
    const change: StateChange = { to, startMs: this.#now(), endMs: Number.POSITIVE_INFINITY };
    this.#changes.add(change);
    return (outcome) => {
      if (outcome === 'done') change.endMs = this.#now();
      if (outcome === undefined || outcome === 'done') return;
      this.#changes.delete(change);
      if (outcome === 'not-found') this.answered('tenant-not-found', 'operator', change.startMs);
    };
  }

  /** Whether the tenant's deletion was acknowledged. */
  get deleted(): boolean {
    return [...this.#changes].some(({ to, endMs }) => to === 'deleting' && endMs < Number.POSITIVE_INFINITY);
  }

  /**
   * An answer to a request of the tenant or of an operator about it: `value` or the code of its error. To be told when
   * it came. Returns by when what it answered took effect, where that was earlier than now.
   */
  answered(answer: string, by: 'tenant' | 'operator', startMs: number): number | undefined {
    const endMs = this.#now();
    const possible = this.#possible(startMs, endMs);
    const served = possible.has('active') || (by === 'operator' && possible.has('suspended'));
    const wrong =
      (answer === 'value' && !served) ||
      (answer === 'tenant-suspended' && (by === 'operator' || !possible.has('suspended'))) ||
      (answer === 'unauthorized' && (by === 'operator' || !possible.has('deleting'))) ||
      (answer === 'tenant-not-found' && (by === 'tenant' || !possible.has('deleting')));
    if (wrong) {
      const states = [...possible].join(' or ');
      this.#report(`the ${by} gets ${answer} (asked at ${startMs}, given at ${endMs}) of a tenant that was ${states}`);
    }
    return answer === 'value' ? this.#effectBy(by, startMs, endMs) : undefined;
  }

  /** The states that the tenant may have had in a span of time. */
  #possible(startMs: number, endMs: number): Set<TenantState> {
    const before = [...this.#changes].filter((change) => change.endMs < startMs);
    const states = new Set<TenantState>(before.length === 0 ? ['active'] : []);
    for (const change of before) {
      if (!before.some((later) => later.startMs > change.endMs)) states.add(change.to);
    }
    if (before.some(({ to }) => to === 'deleting')) return new Set(['deleting']);
    for (const change of this.#changes) if (change.startMs <= endMs && change.endMs >= startMs) states.add(change.to);
    return states;
  }

  /** When a change was acknowledged, before the request was answered, that nothing can have undone by then. */
  #effectBy(by: 'tenant' | 'operator', startMs: number, endMs: number): number | undefined {
    const refusing = [...this.#changes].filter(
      ({ to, endMs: doneMs }) =>
        (to === 'deleting' || (to === 'suspended' && by === 'tenant')) && doneMs >= startMs && doneMs <= endMs,
    );
    const lasting = refusing.filter(
      ({ to, startMs: beganMs }) =>
        to === 'deleting' ||
        ![...this.#changes].some((other) => other.to === 'active' && other.startMs <= endMs && other.endMs >= beganMs),
    );
    return lasting.length === 0 ? undefined : Math.min(...lasting.map(({ endMs: doneMs }) => doneMs));
  }
}
