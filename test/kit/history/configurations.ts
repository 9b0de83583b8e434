// Configurations of the linearizer: each a way in which what happened so far can have happened. Two are alike if they
// have the same state and the same answered steps in order; of those, the ones that used the fewest writes without an
// answer are enough.

import { ABSENT } from './transactions.ts';

export interface Cell {
  readonly value: string;
  /** Creations and removals without an answer that were used. */
  readonly opensCreated: number;
  readonly opensRemoved: number;
}

export const EMPTY: Cell = { value: ABSENT, opensCreated: 0, opensRemoved: 0 };

export interface Configuration {
  /** Where it differs from the state that all configurations share. */
  readonly cells: ReadonlyMap<number, Cell>;
  /** Steps that are in order and whose answer has not come yet. */
  readonly done: ReadonlySet<number>;
}

export const cellKey = ({ value, opensCreated, opensRemoved }: Cell): string =>
  `${value} ${opensCreated} ${opensRemoved}`;

export function keyOf({ cells, done }: Configuration): string {
  const state = [...cells].sort(byNumber).map(([cell, at]) => `${cell} ${cellKey(at)}`);
  return `${state.join('\n')}\n\n${[...done].sort((left, right) => left - right).join(' ')}`;
}

/** The same, whatever was used of writes without an answer. */
function keyWithoutOpens({ cells, done }: Configuration, open: ReadonlySet<number>): string {
  const state = [...cells].sort(byNumber).map(([cell, { value }]) => `${cell} ${value}`);
  const answered = [...done].filter((index) => !open.has(index));
  return `${state.join('\n')}\n\n${answered.sort((left, right) => left - right).join(' ')}`;
}

const byNumber = ([left]: readonly [number, Cell], [right]: readonly [number, Cell]): number => left - right;

/** Of configurations that differ only in how many writes without an answer were used, those that used the fewest. */
export function withoutDominated(configurations: readonly Configuration[], open: ReadonlySet<number>): Configuration[] {
  if (configurations.length < 2) return [...configurations];
  const groups = new Map<string, Configuration[]>();
  for (const configuration of configurations) {
    const key = keyWithoutOpens(configuration, open);
    const group = groups.get(key) ?? [];
    if (group.some((other) => usesNoMore(other, configuration, open))) continue;
    groups.set(key, [...group.filter((other) => !usesNoMore(configuration, other, open)), configuration]);
  }
  return [...groups.values()].flat();
}

function usesNoMore(left: Configuration, right: Configuration, open: ReadonlySet<number>): boolean {
  for (const index of left.done) if (open.has(index) && !right.done.has(index)) return false;
  for (const [cell, at] of left.cells) {
    const other = right.cells.get(cell) ?? EMPTY;
    if (at.opensCreated > other.opensCreated || at.opensRemoved > other.opensRemoved) return false;
  }
  return true;
}
