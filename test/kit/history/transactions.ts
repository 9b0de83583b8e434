// Steps that change several registers at one moment: what each of them may make of a state.

/** A cell's value: absent, present by a creation whose identity nobody has seen yet, or present with an identity. */
export const ABSENT = '';
export const UNSEEN = '?';

interface Need {
  readonly cell: number;
  readonly present: boolean;
}

interface Named {
  readonly cell: number;
  readonly identity: string;
}

export type Transaction =
  /** All of it is right at one moment, at which all of its changes happen. */
  | {
      readonly kind: 'transaction';
      readonly needs: readonly Need[];
      readonly identities: readonly Named[];
      readonly creates: readonly Named[];
      readonly removes: readonly number[];
    }
  /** Without an answer. If its needs are met, it creates what is absent and removes what is present. */
  | {
      readonly kind: 'open-transaction';
      readonly needs: readonly Need[];
      readonly creates: readonly number[];
      readonly removes: readonly number[];
    }
  /**
   * Removes the first `count` of the cells that are present; undefined: any number of them. `all`: no other one is
   * left.
   */
  | {
      readonly kind: 'clear';
      readonly cells: readonly number[];
      readonly count: number | undefined;
      readonly all: boolean;
    };

export type Changes = ReadonlyMap<number, string>;

export interface State {
  readonly valueAt: (cell: number) => string;
  /** Whether a creation without an answer may have given this identity. */
  readonly mayBeUnseen: (identity: string) => boolean;
}

export function cellsOfTransaction(transaction: Transaction): readonly number[] {
  switch (transaction.kind) {
    case 'clear':
      return transaction.cells;
    case 'transaction':
    case 'open-transaction': {
      const named = transaction.kind === 'transaction' ? transaction.identities : [];
      const cells = [...transaction.needs, ...named].map(({ cell }) => cell);
      const creates = transaction.creates.map((create) => (typeof create === 'number' ? create : create.cell));
      return [...new Set([...cells, ...creates, ...transaction.removes])];
    }
  }
}

/** The identities that its answer shows to have existed before. */
export const identitiesOf = (transaction: Transaction): readonly string[] =>
  transaction.kind === 'transaction' ? transaction.identities.map(({ identity }) => identity) : [];

/** What it may do in this state, one way or another. Empty: it cannot happen now, or it would do nothing. */
export function outcomesOf(transaction: Transaction, state: State): readonly Changes[] {
  switch (transaction.kind) {
    case 'transaction':
      return outcomesOfAnswered(transaction, state);
    case 'open-transaction':
      return outcomesOfOpen(transaction, state);
    case 'clear':
      return outcomesOfClear(transaction, state);
  }
}

const areMet = (needs: readonly Need[], { valueAt }: State): boolean =>
  needs.every(({ cell, present }) => present === (valueAt(cell) !== ABSENT));

function outcomesOfAnswered(
  { needs, identities, creates, removes }: Extract<Transaction, { kind: 'transaction' }>,
  state: State,
): readonly Changes[] {
  const { valueAt, mayBeUnseen } = state;
  if (!areMet(needs, state)) return [];
  if (!creates.every(({ cell }) => valueAt(cell) === ABSENT)) return [];
  if (!removes.every((cell) => valueAt(cell) !== ABSENT)) return [];
  const changes = new Map<number, string>();
  for (const { cell, identity } of identities) {
    const value = valueAt(cell);
    if (value === identity) continue;
    if (value !== UNSEEN || !mayBeUnseen(identity)) return [];
    changes.set(cell, identity);
  }
  for (const { cell, identity } of creates) changes.set(cell, identity);
  for (const cell of removes) changes.set(cell, ABSENT);
  return [changes];
}

function outcomesOfOpen(
  { needs, creates, removes }: Extract<Transaction, { kind: 'open-transaction' }>,
  state: State,
): readonly Changes[] {
  if (!areMet(needs, state)) return [];
  const changes = new Map<number, string>();
  for (const cell of creates) if (state.valueAt(cell) === ABSENT) changes.set(cell, UNSEEN);
  for (const cell of removes) if (state.valueAt(cell) !== ABSENT) changes.set(cell, ABSENT);
  return changes.size === 0 ? [] : [changes];
}

function outcomesOfClear(
  { cells, count, all }: Extract<Transaction, { kind: 'clear' }>,
  { valueAt }: State,
): readonly Changes[] {
  const present = cells.filter((cell) => valueAt(cell) !== ABSENT);
  const first = (length: number): Changes => new Map(present.slice(0, length).map((cell) => [cell, ABSENT]));
  if (count !== undefined) {
    return present.length < count || (all && present.length > count) ? [] : [first(count)];
  }
  if (all) return [first(present.length)];
  return present.map((_, index) => first(index + 1));
}
