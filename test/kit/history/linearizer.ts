// Decides whether steps on registers can be put in one order that agrees with their times and answers. A register (a
// cell) is absent, or present with an identity that no earlier presence of it had.
//
// Just-in-time linearization (Lowe, "Testing for linearizability", 2017), a form of Wing and Gong's search with the
// memory of WGL: events are taken in order of time, and a set of configurations is kept, each a way in which what
// happened so far can have happened. A step is put in order only when its answer comes and needs it. It is exact, and
// cheap because of what cannot matter:
// - a read that is right in the state at hand is put in order at once: it changes nothing;
// - of removals (and of creations whose identity nobody sees) only the one answered first is tried: they could change
//   places;
// - a write without an answer is tried only where an answer needs it, and only how many were used is remembered;
// - a step on a cell that no waiting answer is about is left for later.
//
// A transaction changes several cells at one moment. Where one of them has to change, every transaction on it is tried,
// and so is every order of what waits on its other cells. One without an answer happens once at most: it is in `done`
// from then on.

import { type Cell, type Configuration, cellKey, EMPTY, keyOf, withoutDominated } from './configurations.ts';
import {
  ABSENT,
  cellsOfTransaction,
  identitiesOf,
  outcomesOf,
  type State,
  type Transaction,
  UNSEEN,
} from './transactions.ts';

export type Effect =
  /** At one moment, each cell is present or absent as said. */
  | { readonly kind: 'read'; readonly needs: readonly { readonly cell: number; readonly present: boolean }[] }
  /** The cell is present with this identity. */
  | { readonly kind: 'read-identity'; readonly cell: number; readonly identity: string }
  | { readonly kind: 'create'; readonly cell: number; readonly identity: string }
  | { readonly kind: 'remove'; readonly cell: number }
  | Transaction;

export interface Step {
  readonly invokedAt: number;
  /** Undefined: without an answer. Such a step may happen at any moment after it began, or never; writes only. */
  readonly returnedAt: number | undefined;
  readonly effect: Effect;
}

export type Linearization =
  | { readonly kind: 'ok' }
  /** No order explains the answer of this step together with what was answered before. */
  | { readonly kind: 'stuck'; readonly at: Step }
  /** The search was given up at its bound. */
  | { readonly kind: 'undecided' };

export interface LinearizerOptions {
  /** Configurations looked at in all, before the search is given up. */
  readonly budget: number;
  /** Identities that answered creations gave, those left out of `steps` included. */
  readonly created?: ReadonlySet<string>;
}

export function linearize(steps: readonly Step[], options: LinearizerOptions): Linearization {
  return new Linearizer(steps, options).run();
}

/** The cells that a step reads or changes. */
export function cellsOf(effect: Effect): readonly number[] {
  if (effect.kind === 'read') return effect.needs.map(({ cell }) => cell);
  return isTransaction(effect) ? cellsOfTransaction(effect) : [effect.cell];
}

const isTransaction = (effect: Effect): effect is Transaction =>
  effect.kind === 'transaction' || effect.kind === 'open-transaction' || effect.kind === 'clear';

/** Identities that a step's answer shows. */
const shownBy = (effect: Effect): readonly string[] => {
  if (effect.kind === 'read-identity') return [effect.identity];
  return isTransaction(effect) ? identitiesOf(effect) : [];
};

/** Identities that a step's answer gave. */
export const createdBy = (effect: Effect): readonly string[] => {
  if (effect.kind === 'create') return [effect.identity];
  return effect.kind === 'transaction' ? effect.creates.map(({ identity }) => identity) : [];
};

class Linearizer {
  readonly #steps: readonly Step[];
  readonly #created: ReadonlySet<string>;
  /** Identities that a read names. */
  readonly #seen = new Set<string>();
  /** Identities that an answered read named. */
  readonly #answered = new Set<string>();
  readonly #shared = new Map<number, Cell>();
  readonly #pending = new Map<number, Set<number>>();
  readonly #opens = new Map<number, { creates: number; removes: number }>();
  /** Transactions without an answer, and those of each cell. */
  readonly #openTransactions = new Set<number>();
  readonly #openOn = new Map<number, number[]>();
  #configurations: Configuration[] = [{ cells: new Map(), done: new Set() }];
  #budget: number;

  constructor(steps: readonly Step[], { budget, created }: LinearizerOptions) {
    this.#steps = steps;
    this.#budget = budget;
    const ids = new Set(created);
    for (const { effect, returnedAt } of steps) {
      if (returnedAt !== undefined) for (const identity of createdBy(effect)) ids.add(identity);
      for (const identity of shownBy(effect)) this.#seen.add(identity);
    }
    this.#created = ids;
  }

  run(): Linearization {
    const events: { readonly at: number; readonly index: number; readonly returns: boolean }[] = [];
    for (const [index, { invokedAt, returnedAt }] of this.#steps.entries()) {
      events.push({ at: invokedAt, index, returns: false });
      if (returnedAt !== undefined) events.push({ at: returnedAt, index, returns: true });
    }
    events.sort((left, right) => left.at - right.at || Number(left.returns) - Number(right.returns));
    for (const { index, returns } of events) {
      if (!returns) this.#invoke(index);
      else if (!this.#return(index)) return { kind: 'stuck', at: this.#step(index) };
      if (this.#budget < 0) return { kind: 'undecided' };
    }
    return { kind: 'ok' };
  }

  #step(index: number): Step {
    const step = this.#steps[index];
    if (step === undefined) throw new RangeError('There is no such step.');
    return step;
  }

  #cell({ cells }: Configuration, cell: number): Cell {
    return cells.get(cell) ?? this.#shared.get(cell) ?? EMPTY;
  }

  #invoke(index: number): void {
    const { effect, returnedAt } = this.#step(index);
    if (returnedAt === undefined) {
      if (isTransaction(effect)) this.#openTransaction(index, effect);
      if (effect.kind !== 'create' && effect.kind !== 'remove') return;
      const opens = this.#opens.get(effect.cell) ?? { creates: 0, removes: 0 };
      opens[effect.kind === 'create' ? 'creates' : 'removes'] += 1;
      this.#opens.set(effect.cell, opens);
      return;
    }
    for (const cell of cellsOf(effect)) {
      const pending = this.#pending.get(cell) ?? new Set();
      pending.add(index);
      this.#pending.set(cell, pending);
    }
    if (effect.kind !== 'read' && effect.kind !== 'read-identity') return;
    this.#configurations = this.#configurations.map((configuration) =>
      this.#isRight(configuration, effect)
        ? { ...configuration, done: new Set(configuration.done).add(index) }
        : configuration,
    );
  }

  #openTransaction(index: number, transaction: Transaction): void {
    this.#openTransactions.add(index);
    for (const cell of cellsOfTransaction(transaction)) {
      const open = this.#openOn.get(cell) ?? [];
      open.push(index);
      this.#openOn.set(cell, open);
    }
  }

  /** Whether a configuration is left that has the step in order. */
  #return(index: number): boolean {
    const reached: Configuration[] = [];
    if (this.#configurations.length > 1) this.#budget -= this.#configurations.length;
    for (const configuration of this.#configurations) {
      if (configuration.done.has(index)) reached.push(configuration);
      else this.#search(configuration, index, reached);
    }
    const { effect } = this.#step(index);
    for (const cell of cellsOf(effect)) this.#pending.get(cell)?.delete(index);
    for (const identity of shownBy(effect)) this.#answered.add(identity);
    this.#configurations = withoutDominated(
      reached.map(({ cells, done }) => {
        const rest = new Set(done);
        rest.delete(index);
        return { cells, done: rest };
      }),
      this.#openTransactions,
    );
    this.#share();
    return this.#configurations.length > 0;
  }

  /** Every way to put the step in order next, with the steps before it that it needs. */
  #search(from: Configuration, target: number, reached: Configuration[]): void {
    const visited = new Set<string>();
    const stack = [from];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      this.#budget -= 1;
      if (this.#budget < 0) return;
      for (const next of this.#successors(at, target)) {
        if (next.done.has(target)) {
          reached.push(next);
          continue;
        }
        const key = keyOf(next);
        if (visited.has(key)) continue;
        visited.add(key);
        stack.push(next);
      }
    }
  }

  /** Cells whose order matters to the step: its own, and those tied to them by a step on several that waits. */
  #relevant(configuration: Configuration, target: number): Set<number> {
    const cells = new Set(cellsOf(this.#step(target).effect));
    for (const cell of cells) {
      for (const index of [...this.#waiting(configuration, cell), ...this.#openTransactionsOn(configuration, cell)]) {
        for (const other of cellsOf(this.#step(index).effect)) cells.add(other);
      }
    }
    return cells;
  }

  #waiting({ done }: Configuration, cell: number): number[] {
    return [...(this.#pending.get(cell) ?? [])].filter((index) => !done.has(index));
  }

  #openTransactionsOn({ done }: Configuration, cell: number): number[] {
    return (this.#openOn.get(cell) ?? []).filter((index) => !done.has(index));
  }

  /** Transactions that may change the cell. */
  #transactionsOn(configuration: Configuration, cell: number): number[] {
    const waiting = this.#waiting(configuration, cell).filter((index) => isTransaction(this.#step(index).effect));
    return [...waiting, ...this.#openTransactionsOn(configuration, cell)];
  }

  /** Relevant cells whose next change has to be tried, and all that a transaction would change with them. */
  #wanted(configuration: Configuration, target: number): Set<number> {
    const { effect } = this.#step(target);
    const changes = effect.kind !== 'read' && effect.kind !== 'read-identity';
    const wanted = new Set<number>();
    for (const cell of this.#relevant(configuration, target)) {
      const { value } = this.#cell(configuration, cell);
      const waiting = this.#waiting(configuration, cell);
      // Among changes of the target's own cell the order matters even if it could be next.
      if (changes && waiting.includes(target)) wanted.add(cell);
      else if (waiting.some((index) => !this.#couldStand(this.#step(index).effect, cell, value))) wanted.add(cell);
    }
    for (const cell of wanted) {
      for (const index of this.#transactionsOn(configuration, cell)) {
        for (const other of cellsOf(this.#step(index).effect)) wanted.add(other);
      }
    }
    return wanted;
  }

  *#successors(configuration: Configuration, target: number): Generator<Configuration> {
    const transactions = new Set<number>();
    for (const cell of this.#wanted(configuration, target)) {
      yield* this.#changesOf(configuration, cell, target);
      for (const index of this.#transactionsOn(configuration, cell)) transactions.add(index);
    }
    const state: State = {
      valueAt: (cell) => this.#cell(configuration, cell).value,
      mayBeUnseen: (identity) => this.#mayBeUnseen(configuration, identity),
    };
    for (const index of transactions) {
      const { effect } = this.#step(index);
      if (!isTransaction(effect)) continue;
      for (const changes of outcomesOf(effect, state)) yield this.#applyAll(configuration, changes, index);
    }
  }

  /** What plain steps may make of one cell. */
  *#changesOf(configuration: Configuration, cell: number, target: number): Generator<Configuration> {
    const at = this.#cell(configuration, cell);
    const waiting = this.#waiting(configuration, cell);
    const opens = this.#opens.get(cell) ?? { creates: 0, removes: 0 };
    if (at.value === ABSENT) {
      for (const [index, identity] of this.#creations(waiting, target)) {
        yield this.#apply(configuration, cell, { ...at, value: identity }, index);
      }
      if (at.opensCreated < opens.creates) {
        const opensCreated = at.opensCreated + 1;
        yield this.#apply(configuration, cell, { ...at, value: UNSEEN, opensCreated }, undefined);
      }
      return;
    }
    const removals = waiting.filter((index) => this.#step(index).effect.kind === 'remove');
    const removal = this.#first(removals, target);
    if (removal !== undefined) {
      yield this.#apply(configuration, cell, { ...at, value: ABSENT }, removal);
    } else if (at.opensRemoved < opens.removes) {
      yield this.#apply(configuration, cell, { ...at, value: ABSENT, opensRemoved: at.opensRemoved + 1 }, undefined);
    }
    if (at.value !== UNSEEN) return;
    for (const index of waiting) {
      const { effect } = this.#step(index);
      if (effect.kind !== 'read-identity' || !this.#mayBeUnseen(configuration, effect.identity)) continue;
      yield this.#apply(configuration, cell, { ...at, value: effect.identity }, index);
    }
  }

  /** Those that wait, all that can be told apart and the one of the others that is answered first. */
  *#creations(waiting: readonly number[], target: number): Generator<readonly [index: number, identity: string]> {
    const alike: number[] = [];
    for (const index of waiting) {
      const { effect } = this.#step(index);
      if (effect.kind !== 'create') continue;
      if (this.#seen.has(effect.identity)) yield [index, effect.identity];
      else alike.push(index);
    }
    const first = this.#first(alike, target);
    const effect = first === undefined ? undefined : this.#step(first).effect;
    if (first !== undefined && effect?.kind === 'create') yield [first, effect.identity];
  }

  /** The one that is answered first. The target is: its answer is the event at hand. */
  #first(indexes: readonly number[], target: number): number | undefined {
    if (indexes.includes(target)) return target;
    let first: number | undefined;
    for (const index of indexes) {
      const at = this.#step(index).returnedAt ?? Number.POSITIVE_INFINITY;
      if (first === undefined || at < (this.#step(first).returnedAt ?? Number.POSITIVE_INFINITY)) first = index;
    }
    return first;
  }

  /** An identity is given by one creation: by one that was answered, or by one without an answer, once. */
  #mayBeUnseen({ done }: Configuration, identity: string): boolean {
    if (this.#created.has(identity) || this.#answered.has(identity)) return false;
    for (const index of done) if (shownBy(this.#step(index).effect).includes(identity)) return false;
    return true;
  }

  /** Whether the step could be next as far as this cell is concerned. */
  #couldStand(effect: Effect, cell: number, value: string): boolean {
    switch (effect.kind) {
      case 'read':
        return effect.needs.every((need) => need.cell !== cell || need.present === (value !== ABSENT));
      case 'read-identity':
        return value === effect.identity;
      case 'create':
        return value === ABSENT;
      case 'remove':
        return value !== ABSENT;
      case 'transaction':
        if (effect.creates.some((create) => create.cell === cell)) return value === ABSENT;
        if (effect.removes.includes(cell)) return value !== ABSENT;
        if (effect.identities.some((each) => each.cell === cell && each.identity !== value)) return false;
        return effect.needs.every((need) => need.cell !== cell || need.present === (value !== ABSENT));
      case 'open-transaction':
      case 'clear':
        return true;
    }
  }

  #isRight(configuration: Configuration, effect: Effect): boolean {
    if (effect.kind === 'read') {
      return effect.needs.every(({ cell, present }) => present === (this.#cell(configuration, cell).value !== ABSENT));
    }
    return effect.kind === 'read-identity' && this.#cell(configuration, effect.cell).value === effect.identity;
  }

  /** The configuration after a step, and after every read that is right then. */
  #apply({ cells, done }: Configuration, cell: number, value: Cell, index: number | undefined): Configuration {
    const next = { cells: new Map(cells).set(cell, value), done: new Set(done) };
    if (index !== undefined) next.done.add(index);
    for (const waiting of this.#pending.get(cell) ?? []) {
      if (!next.done.has(waiting) && this.#isRight(next, this.#step(waiting).effect)) next.done.add(waiting);
    }
    return next;
  }

  /** The same for a transaction. */
  #applyAll(configuration: Configuration, changes: ReadonlyMap<number, string>, index: number): Configuration {
    const next = { cells: new Map(configuration.cells), done: new Set(configuration.done).add(index) };
    for (const [cell, value] of changes) next.cells.set(cell, { ...this.#cell(configuration, cell), value });
    for (const cell of changes.keys()) {
      for (const waiting of this.#pending.get(cell) ?? []) {
        if (!next.done.has(waiting) && this.#isRight(next, this.#step(waiting).effect)) next.done.add(waiting);
      }
    }
    return next;
  }

  /** What all configurations agree on is kept once. */
  #share(): void {
    const [first, ...others] = this.#configurations;
    if (first === undefined) return;
    const agreed: number[] = [];
    for (const [cell, value] of first.cells) {
      const key = cellKey(value);
      if (others.every((other) => cellKey(this.#cell(other, cell)) === key)) agreed.push(cell);
    }
    if (agreed.length === 0) return;
    for (const cell of agreed) this.#shared.set(cell, this.#cell(first, cell));
    this.#configurations = this.#configurations.map(({ cells, done }) => {
      const rest = new Map(cells);
      for (const cell of agreed) rest.delete(cell);
      return { cells: rest, done };
    });
  }
}
