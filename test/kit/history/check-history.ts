// The judge of a history: whether the answers that clients got are those of a service that is linearizable per tenant.
// Every tuple is a register and is judged alone, exactly. Tuples that bulk calls tie together are then judged
// together, exactly too, up to a bound of the search: beyond it that group counts as `undecided` (its tuples, alone,
// were in order), so a violation that is reported is one, always.

import { describeOperations, shrink } from './explain.ts';
import { isGrantWrite, type Operation } from './history.ts';
import { cellsOf, createdBy, type LinearizerOptions, linearize } from './linearizer.ts';
import { narrow } from './narrow.ts';
import { findRuleViolations, inOrder } from './plain-rules.ts';
import { type RegisterStep, type Registers, registersOf } from './registers.ts';

/** Configurations looked at per tuple, or per group of tuples. */
const BUDGET_DEFAULT = 2_000_000;
const VIOLATIONS_MAX = 5;

export interface Violation {
  readonly tenant: string;
  /** What is broken, and where. */
  readonly title: string;
  /** In order of time; the last one contradicts the rest. */
  readonly operations: readonly Operation[];
  readonly text: string;
}

export interface Verdict {
  readonly ok: boolean;
  /** All, with the counts of what was looked at. */
  readonly operations: number;
  readonly answered: number;
  /** Writes whose outcome no client knows. */
  readonly open: number;
  readonly tuples: number;
  /** Groups of tuples whose bulk calls were not judged together, as the search was too long. */
  readonly undecided: number;
  /** The first few. */
  readonly violations: readonly Violation[];
  /** All of it for a person. */
  readonly text: string;
}

export interface CheckOptions {
  readonly budget?: number;
}

interface Tally {
  tuples: number;
  undecided: number;
  readonly violations: Violation[];
}

export function checkHistory(
  operations: readonly Operation[],
  { budget = BUDGET_DEFAULT }: CheckOptions = {},
): Verdict {
  const tally: Tally = { tuples: 0, undecided: 0, violations: [] };
  for (const { rule, operations: broken } of findRuleViolations(operations)) {
    if (tally.violations.length >= VIOLATIONS_MAX) break;
    tally.violations.push(violation(broken[0]?.tenant ?? '', rule, broken));
  }
  const tenants = Map.groupBy(operations, ({ tenant }) => tenant);
  for (const [tenant, ofTenant] of tenants) {
    if (tally.violations.length >= VIOLATIONS_MAX) break;
    judgeTenant(tenant, ofTenant, budget, tally);
  }
  const { tuples, undecided, violations } = tally;
  const answered = operations.filter(({ outcome }) => outcome !== undefined).length;
  const open = operations.filter(({ kind, outcome }) => isGrantWrite(kind) && !outcome).length;
  const counts = `${operations.length} operations of ${tenants.size} tenants on ${tuples} tuples, ${answered} answered, ${open} writes open, ${undecided} groups of bulk calls undecided`;
  return {
    ok: violations.length === 0,
    operations: operations.length,
    answered,
    open,
    tuples,
    undecided,
    violations,
    text: [counts, ...violations.map(({ text }) => text)].join('\n\n'),
  };
}

function violation(tenant: string, title: string, operations: readonly Operation[]): Violation {
  const text = `${tenant}: ${title}\n${describeOperations(operations, 'contradicts the rest')}`;
  return { tenant, title, operations, text };
}

function judgeTenant(tenant: string, operations: readonly Operation[], budget: number, tally: Tally): void {
  const registers = registersOf(operations);
  const groups = new Groups();
  const byCell = new Map<number, RegisterStep[]>();
  const created = new Set<string>();
  for (const step of registers.steps) {
    const { effect, returnedAt } = step;
    if (returnedAt !== undefined) for (const identity of createdBy(effect)) created.add(identity);
    const cells = cellsOf(effect);
    groups.tie(cells);
    for (const cell of new Set(cells)) {
      const steps = byCell.get(cell) ?? [];
      steps.push(...(cells.length > 1 ? narrow(step, cell) : [step]));
      byCell.set(cell, steps);
    }
  }
  tally.tuples += byCell.size;
  const options = { budget, created };
  const wrong = new Set<number>();
  for (const [cell, steps] of byCell) {
    const result = linearize(steps, options);
    if (result.kind === 'ok') continue;
    wrong.add(groups.of(cell));
    if (result.kind === 'undecided') tally.undecided += 1;
    else
      tally.violations.push(
        explain(tenant, `No order explains the answers on ${registers.nameOf(cell)}.`, steps, options),
      );
    if (tally.violations.length >= VIOLATIONS_MAX) return;
  }
  judgeGroups(tenant, registers, { groups, wrong, options }, tally);
}

function judgeGroups(
  tenant: string,
  { steps }: Registers,
  { groups, wrong, options }: { groups: Groups; wrong: ReadonlySet<number>; options: LinearizerOptions },
  tally: Tally,
): void {
  const byGroup = Map.groupBy(steps, ({ effect }) => groups.of(cellsOf(effect)[0] ?? -1));
  for (const [group, ofGroup] of byGroup) {
    if (wrong.has(group) || !ofGroup.some(({ effect }) => cellsOf(effect).length > 1)) continue;
    const result = linearize(ofGroup, options);
    if (result.kind === 'undecided') tally.undecided += 1;
    if (result.kind === 'stuck')
      tally.violations.push(
        explain(tenant, 'No order explains the answers on several tuples at once.', ofGroup, options),
      );
    if (tally.violations.length >= VIOLATIONS_MAX) return;
  }
}

function explain(tenant: string, title: string, steps: readonly RegisterStep[], options: LinearizerOptions): Violation {
  const shrunk = shrink(steps, options).map(({ operation }) => operation);
  const last = shrunk.at(-1);
  const before = inOrder(shrunk.slice(0, -1).filter((operation) => operation !== last));
  return violation(tenant, title, last === undefined ? before : [...new Set(before), last]);
}

/** Cells that are tied together, as disjoint sets. */
class Groups {
  readonly #parents = new Map<number, number>();

  of(cell: number): number {
    let root = cell;
    for (let next = this.#parents.get(root); next !== undefined; next = this.#parents.get(root)) root = next;
    for (let at = cell; at !== root; ) {
      const next = this.#parents.get(at) ?? root;
      this.#parents.set(at, root);
      at = next;
    }
    return root;
  }

  tie(cells: readonly number[]): void {
    const [first, ...others] = cells;
    if (first === undefined) return;
    for (const other of others) {
      const [left, right] = [this.of(first), this.of(other)];
      if (left !== right) this.#parents.set(right, left);
    }
  }
}
