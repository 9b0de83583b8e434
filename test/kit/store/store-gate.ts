// A store around another in which every call passes one gate, whatever calls the port has.

import type { DeadlineMs, Store } from '../../../src/store/store.ts';

export type StoreOperation = Exclude<keyof Store, 'close'>;

/** Runs the call (once, never, or late) and gives its answer. */
export type Gate = <Result>(
  operation: StoreOperation,
  deadline: DeadlineMs,
  run: () => Promise<Result>,
) => Promise<Result>;

type Call = (...args: unknown[]) => Promise<unknown>;

/** Other forms of a read: what holds or fails that read holds or fails these, too. */
const FORMS: Partial<Record<keyof Store, StoreOperation>> = {
  listSomeSlots: 'listSlots',
  listGrantsOfEach: 'listGrants',
  listObjectGrantsOfEach: 'listObjectGrants',
};

const namesOf = (store: Store): readonly (keyof Store)[] => {
  const names = [...Object.keys(store), ...Object.getOwnPropertyNames(Object.getPrototypeOf(store))];
  return (names as (keyof Store)[]).filter((name) => typeof store[name] === 'function' && !(name in Object.prototype));
};

/** The last argument of every call is its deadline. A method is looked up at each call: tests replace some later. */
export function createGatedStore(store: Store, gate: Gate): Store {
  const calls = store as unknown as Readonly<Record<keyof Store, Call>>;
  const gatedCall =
    (name: keyof Store): Call =>
    (...args) => {
      const run = () => calls[name](...args);
      return name === 'close' ? run() : gate(FORMS[name] ?? name, Number(args.at(-1)), run);
    };
  return Object.fromEntries(namesOf(store).map((name) => [name, gatedCall(name)])) as unknown as Store;
}
