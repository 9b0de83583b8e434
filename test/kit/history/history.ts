// What clients of the service saw: every operation with the moments at which it began and was answered, and the answer.
// The moments come from one clock that all clients share and that never goes back. Two operations of which one was
// answered strictly before the other began are ordered; all others may have happened in either order.

import type { Tuple } from '../../../src/core/tuples.ts';

export interface GrantRecord {
  readonly grantId: string;
  readonly createdAt: string;
}

export type GrantOutcome = ({ readonly kind: 'created' } & GrantRecord) | ({ readonly kind: 'exists' } & GrantRecord);

/** The key is not valid (401). The call did nothing. */
export interface Unauthorized {
  readonly kind: 'unauthorized';
}

/** Refused for another reason, in words that say that the call did nothing (403, 503). */
export interface Refused {
  readonly kind: 'refused';
}

export interface ListedKeyName {
  readonly keyId: string;
  readonly name: string;
}

export interface ListedGrant extends Tuple, GrantRecord {}

/** One page of a listing. */
interface PageOf<Item> {
  /** The last item of the pages before it. */
  readonly after?: Item | undefined;
  /** When that page was asked for: what lies behind the item may have been looked at from then on. Default: now. */
  readonly since?: number | undefined;
}

interface OperationInputs {
  readonly grant: Tuple;
  readonly revoke: Tuple;
  readonly check: Tuple;
  readonly bulk: readonly Tuple[];
  readonly list: PageOf<string> & {
    readonly subject: string;
    readonly relation: Tuple['relation'];
    readonly namespace?: string | undefined;
  };
  /** Who holds a relation on an object. */
  readonly holders: PageOf<string> & {
    readonly object: string;
    readonly relation: Tuple['relation'];
    readonly namespace?: string | undefined;
  };
  /** All grants of the tenant, or those of one subject, or those on one object. */
  readonly export: PageOf<Tuple> & { readonly subject?: string | undefined; readonly object?: string | undefined };
  readonly subjects: PageOf<string>;
  readonly keys: PageOf<string>;
  /** All of it at one moment, under preconditions on the state before. No two changes name the same tuple. */
  readonly 'write-bulk': {
    readonly grants: readonly Tuple[];
    readonly revocations: readonly Tuple[];
    readonly preconditions: readonly (Tuple & { readonly exists: boolean })[];
  };
  /** At one moment, the first grants of a subject, or on an object. */
  readonly clear: {
    readonly of: { readonly subject: string } | { readonly object: string };
    readonly relation: Tuple['relation'] | undefined;
  };
  /** The id is known where the call is answered. */
  readonly 'create-key': { readonly name: string };
  readonly 'revoke-key': { readonly keyId: string };
}

interface OperationOutcomes {
  readonly grant: GrantOutcome;
  readonly revoke: { readonly kind: 'revoked' | 'not-found' };
  readonly check: { readonly kind: 'answer'; readonly authorized: boolean };
  readonly bulk: { readonly kind: 'answer'; readonly authorized: readonly boolean[] };
  readonly list: { readonly kind: 'answer'; readonly objects: readonly string[]; readonly more: boolean };
  readonly holders: { readonly kind: 'answer'; readonly subjects: readonly string[]; readonly more: boolean };
  readonly export: { readonly kind: 'answer'; readonly grants: readonly ListedGrant[]; readonly more: boolean };
  readonly subjects: { readonly kind: 'answer'; readonly subjects: readonly string[]; readonly more: boolean };
  readonly keys: { readonly kind: 'answer'; readonly keys: readonly ListedKeyName[]; readonly more: boolean };
  readonly 'write-bulk':
    | { readonly kind: 'written'; readonly grants: readonly GrantOutcome[]; readonly revoked: readonly boolean[] }
    /** Nothing was changed. `condition`: the first that was not met. */
    | { readonly kind: 'unmet'; readonly precondition: number };
  /** `complete`: no other grant that matches was left at that moment. */
  readonly clear: { readonly kind: 'cleared'; readonly count: number; readonly complete: boolean };
  readonly 'create-key': { readonly kind: 'key'; readonly keyId: string };
  readonly 'revoke-key': { readonly kind: 'revoked' | 'not-found' };
}

export type OperationKind = keyof OperationInputs;

interface OperationOf<Kind extends OperationKind> {
  readonly client: string;
  readonly tenant: string;
  /** The key the client called with, where the rules of keys are to be checked. */
  readonly keyId?: string | undefined;
  readonly kind: Kind;
  readonly input: OperationInputs[Kind];
  readonly invokedAt: number;
  /** Undefined: no answer came. */
  readonly returnedAt: number | undefined;
  /** Undefined: not known (503, cut off). A write may then take effect at any later moment, once, or never. */
  readonly outcome: OperationOutcomes[Kind] | Unauthorized | Refused | undefined;
  /** It took effect no later than that, since whoever asked had no right to any more. Default: when it was answered. */
  readonly effectBy?: number | undefined;
}

/** A write of grants: if no answer comes, it may take effect at any later moment, or never. */
export const isGrantWrite = (kind: OperationKind): boolean =>
  kind === 'grant' || kind === 'revoke' || kind === 'write-bulk' || kind === 'clear';

export type Operation = { [Kind in OperationKind]: OperationOf<Kind> }[OperationKind];

/** What is known when an operation begins. */
export type Invocation = {
  [Kind in OperationKind]: Pick<OperationOf<Kind>, 'client' | 'tenant' | 'keyId' | 'kind' | 'input'>;
}[OperationKind];

export type Outcome = NonNullable<Operation['outcome']>;

/** A clock whose every reading is later than the one before, so that what one thread saw in order is in order. */
export function strictlyIncreasing(now: () => number): () => number {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    last = Math.max(now(), last + 0.001);
    return last;
  };
}

/** Gathers operations. `now` is the shared clock; where one thread runs all clients, make it strictly increasing. */
export class History {
  readonly #now: () => number;
  readonly #finished: Operation[] = [];
  readonly #inFlight = new Set<Operation>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Call it right before the request is sent, and what it returns right after the answer came: undefined, if none, and
   * by when it has to have taken effect, where that is earlier.
   */
  begin(invocation: Invocation): (outcome: Outcome | undefined, effectBy?: number) => void {
    const operation = { ...invocation, invokedAt: this.#now(), returnedAt: undefined, outcome: undefined } as Operation;
    this.#inFlight.add(operation);
    return (outcome, effectBy) => {
      if (!this.#inFlight.delete(operation)) return;
      this.#finished.push({ ...operation, returnedAt: this.#now(), outcome, effectBy } as Operation);
    };
  }

  /** All so far; those in flight are without an answer. */
  operations(): Operation[] {
    return [...this.#finished, ...this.#inFlight];
  }
}
