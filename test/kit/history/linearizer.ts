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

export type Effect =
  /** At one moment, each cell is present or absent as said. */
  | { readonly kind: 'read'; readonly needs: readonly { readonly cell: number; readonly present: boolean }[] }
  /** The cell is present with this identity. */
  | { readonly kind: 'read-identity'; readonly cell: number; readonly identity: string }
  | { readonly kind: 'create'; readonly cell: number; readonly identity: string }
  | { readonly kind: 'remove'; readonly cell: number };

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

const ABSENT = '';
/** Present by a creation without an answer: its identity has not been seen. */
const UNSEEN = '?';

interface Cell {
  readonly value: string;
  /** Creations and removals without an answer that were used. */
  readonly opensCreated: number;
  readonly opensRemoved: number;
}

const EMPTY: Cell = { value: ABSENT, opensCreated: 0, opensRemoved: 0 };

interface Configuration {
  /** Where it differs from the state that all configurations share. */
  readonly cells: ReadonlyMap<number, Cell>;
  /** Steps that are in order and whose answer has not come yet. */
  readonly done: ReadonlySet<number>;
}

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
  return effect.kind === 'read' ? effect.needs.map(({ cell }) => cell) : [effect.cell];
}

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
  #configurations: Configuration[] = [{ cells: new Map(), done: new Set() }];
  #budget: number;

  constructor(steps: readonly Step[], { budget, created }: LinearizerOptions) {
    this.#steps = steps;
    this.#budget = budget;
    const ids = new Set(created);
    for (const { effect, returnedAt } of steps) {
      if (effect.kind === 'create' && returnedAt !== undefined) ids.add(effect.identity);
      if (effect.kind === 'read-identity') this.#seen.add(effect.identity);
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
    if (effect.kind === 'read-identity') this.#answered.add(effect.identity);
    this.#configurations = withoutDominated(
      reached.map(({ cells, done }) => {
        const rest = new Set(done);
        rest.delete(index);
        return { cells, done: rest };
      }),
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
        const key = keyOf(next, true);
        if (visited.has(key)) continue;
        visited.add(key);
        stack.push(next);
      }
    }
  }

  /** Cells whose order matters to the step: its own, and those tied to them by a read of several that waits. */
  #relevant({ done }: Configuration, target: number): Set<number> {
    const cells = new Set(cellsOf(this.#step(target).effect));
    for (const cell of cells) {
      for (const index of this.#pending.get(cell) ?? []) {
        if (done.has(index)) continue;
        for (const other of cellsOf(this.#step(index).effect)) cells.add(other);
      }
    }
    return cells;
  }

  *#successors(configuration: Configuration, target: number): Generator<Configuration> {
    const { kind } = this.#step(target).effect;
    const changes = kind === 'create' || kind === 'remove';
    for (const cell of this.#relevant(configuration, target)) {
      const at = this.#cell(configuration, cell);
      const waiting = [...(this.#pending.get(cell) ?? [])].filter((index) => !configuration.done.has(index));
      // Among changes of the target's own cell the order matters even if it could be next.
      const wanted =
        (changes && waiting.includes(target)) ||
        waiting.some((index) => !this.#couldStand(this.#step(index).effect, cell, at.value));
      if (!wanted) continue;
      const opens = this.#opens.get(cell) ?? { creates: 0, removes: 0 };
      if (at.value === ABSENT) {
        for (const [index, identity] of this.#creations(waiting, target)) {
          yield this.#apply(configuration, cell, { ...at, value: identity }, index);
        }
        if (at.opensCreated < opens.creates) {
          const opensCreated = at.opensCreated + 1;
          yield this.#apply(configuration, cell, { ...at, value: UNSEEN, opensCreated }, undefined);
        }
        continue;
      }
      const removals = waiting.filter((index) => this.#step(index).effect.kind === 'remove');
      const removal = this.#first(removals, target);
      if (removal !== undefined) {
        yield this.#apply(configuration, cell, { ...at, value: ABSENT }, removal);
      } else if (at.opensRemoved < opens.removes) {
        yield this.#apply(configuration, cell, { ...at, value: ABSENT, opensRemoved: at.opensRemoved + 1 }, undefined);
      }
      if (at.value !== UNSEEN) continue;
      for (const index of waiting) {
        const { effect } = this.#step(index);
        if (effect.kind !== 'read-identity' || !this.#mayBeUnseen(configuration, effect.identity)) continue;
        yield this.#apply(configuration, cell, { ...at, value: effect.identity }, index);
      }
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
    for (const index of done) {
      const { effect } = this.#step(index);
      if (effect.kind === 'read-identity' && effect.identity === identity) return false;
    }
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

const cellKey = ({ value, opensCreated, opensRemoved }: Cell): string => `${value} ${opensCreated} ${opensRemoved}`;

function keyOf({ cells, done }: Configuration, withOpens: boolean): string {
  const texts = [...cells].sort(([left], [right]) => left - right);
  const state = texts.map(([cell, at]) => `${cell} ${withOpens ? cellKey(at) : at.value}`).join('\n');
  return `${state}\n\n${[...done].sort((left, right) => left - right).join(' ')}`;
}

/** Of configurations that differ only in how many writes without an answer were used, those that used the fewest. */
function withoutDominated(configurations: readonly Configuration[]): Configuration[] {
  if (configurations.length < 2) return [...configurations];
  const groups = new Map<string, Configuration[]>();
  for (const configuration of configurations) {
    const key = keyOf(configuration, false);
    const group = groups.get(key) ?? [];
    if (group.some((other) => usesNoMore(other, configuration))) continue;
    groups.set(key, [...group.filter((other) => !usesNoMore(configuration, other)), configuration]);
  }
  return [...groups.values()].flat();
}

function usesNoMore(left: Configuration, right: Configuration): boolean {
  for (const [cell, at] of left.cells) {
    const other = right.cells.get(cell) ?? EMPTY;
    if (at.opensCreated > other.opensCreated || at.opensRemoved > other.opensRemoved) return false;
  }
  return true;
}
