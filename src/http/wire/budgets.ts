// The budgets of bytes of one door: bodies that are read, bodies that are read only to be discarded, and responses.

import type { Clock } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { ByteBudget, type ByteBudgetMeter } from './byte-budget.ts';
import type { HttpBounds } from './limits.ts';

export type BudgetName = 'bodies' | 'discards' | 'responses';

export type Budgets = Readonly<Record<BudgetName, ByteBudget>>;

export function createBudgets(
  dependencies: {
    readonly clock: Clock;
    readonly turns: Turns;
    readonly meterOf: (budget: BudgetName) => ByteBudgetMeter;
  },
  bounds: HttpBounds,
): Budgets {
  const { clock, turns, meterOf } = dependencies;
  const { deadlineMs, discardTimeoutMs } = bounds;
  const budgetOf = (name: BudgetName, bytesMax: number, holderBytesMax: number, waitMs: number): ByteBudget =>
    new ByteBudget({ clock, turns, meter: meterOf(name) }, { bytesMax, holderBytesMax, waitMs });
  return {
    bodies: budgetOf('bodies', bounds.bodyBytesMax, bounds.tenantBodyBytesMax, deadlineMs),
    discards: budgetOf('discards', bounds.discardsBytesMax, bounds.addressDiscardsBytesMax, discardTimeoutMs),
    responses: budgetOf('responses', bounds.responseBytesMax, bounds.tenantResponseBytesMax, deadlineMs),
  };
}
