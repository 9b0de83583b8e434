// The stored grants that the types of new rules exclude. They are found by reading the grants of the tenant before the
// write of the rules is decided, and by following what is committed meanwhile: of a tuple that changes during the
// reading, the last commit counts. Invariant: rules are written only if no such grant exists at the moment of the
// write, after the earlier decisions of its batch, or if the request keeps them.

import { GrantdError } from '../../core/errors.ts';
import { hasExpired } from '../../core/grant-attributes.ts';
import { type Grant, grantOf, isRelation, tupleKey } from '../../core/tuples.ts';
import { SubjectTypes } from '../../rules/allowed-grants.ts';
import type { RuleSet } from '../../rules/rule-set.ts';
import type { CountKey } from '../../store/store.ts';
import { endsGrant, type GrantChange } from '../log-changes.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { Draft } from './draft.ts';

/** Grants that are kept by themselves: about a mebibyte, if they are the longest. Beyond, they are only counted. */
const FOUND_MAX = 1000;
/** Tuples of these relations that may change while the grants are read. */
const CHANGED_MAX = 10_000;
/** If fewer could be read, the store is slow, or the call was late: a repeat may do better. */
const COMPARED_MIN = 50_000;
/** Grants, and characters of them, that the message lists. */
export const LISTED_MAX = 10;
const LISTED_LENGTH_MAX = 2000;

/** The grants must be read, or read again, to decide the write. Nothing was done. */
export class UnreadGrants extends Error {
  readonly types: SubjectTypes;
  readonly former: string;

  constructor(types: SubjectTypes, former: string) {
    super('The grants of the tenant must be compared with the types of the new rules.');
    this.types = types;
    this.former = former;
  }
}

export class OutsideGrants {
  readonly #types: SubjectTypes;
  /** The text of the rules that `#types` narrow. */
  readonly #former: string;
  readonly #found = new Map<string, Grant>();
  #counted = 0;
  /** Tuples that were committed since the reading began. */
  readonly #changed = new Set<string>();
  /** Set once the reading has ended: whether it reached the last grant, and how many it has read. */
  reading: { readonly complete: boolean; readonly scannedGrants: number } | undefined;

  constructor({ types, former }: Pick<UnreadGrants, 'types' | 'former'>) {
    this.#types = types;
    this.#former = former;
  }

  /** A grant that was read after `follow` began to be called. */
  add(grant: Grant): void {
    if (this.#types.allows(grant)) return;
    const key = tupleKey(grant);
    if (this.#changed.has(key)) return;
    if (this.#found.size < FOUND_MAX) this.#found.set(key, grant);
    else this.#counted += 1;
  }

  /** A change that was committed. */
  readonly follow = (change: GrantChange): void => {
    const { grant } = change;
    if (!this.#types.restricts(grant) || this.#changed.size > CHANGED_MAX) return;
    const key = tupleKey(grant);
    this.#changed.add(key);
    if (endsGrant(change) || this.#types.allows(grant)) this.#found.delete(key);
    else this.#found.set(key, grant);
  };

  isOf(former: string): boolean {
    return this.#former === former;
  }

  /** Throws `grants-outside-types` unless there is none, as of this moment of the batch. */
  demandNone(draft: Draft, memory: TenantMemory): void {
    if (this.#changed.size > CHANGED_MAX) {
      throw new GrantdError(
        'overloaded',
        'Too many grants of the relations that become stricter change meanwhile. Nothing was changed.',
      );
    }
    const found = new Map(this.#found);
    for (const { tuple, facts } of draft.draftedGrants(memory)) {
      const grant = facts === null ? undefined : grantOf(tuple, facts);
      if (grant === undefined || this.#types.allows(grant)) found.delete(tupleKey(tuple));
      else found.set(tupleKey(tuple), grant);
    }
    const held = [...found.values()].filter((grant) => !hasExpired(grant, draft.nowMs));
    const { complete = false, scannedGrants = 0 } = this.reading ?? {};
    if (!complete && scannedGrants < COMPARED_MIN && held.length === 0) {
      throw new GrantdError('unavailable', 'Reading the grants of the tenant took too long. Nothing was changed.');
    }
    demandNoneOutside(held, held.length + this.#counted, complete ? undefined : scannedGrants);
  }
}

/**
 * Throws `grants-outside-types` if there are such grants, or if the reading ended early, after `scannedGrants`, so that
 * there may be some. `grants`: some of them.
 */
export function demandNoneOutside(grants: readonly Grant[], count: number, scannedGrants: number | undefined): void {
  const number = (of: number): string => of.toLocaleString('en');
  if (count === 0 && scannedGrants === undefined) return;
  const keep = 'send "outside_types": "keep": then they stay, and count. Nothing was changed.';
  if (count === 0) {
    throw new GrantdError(
      'grants-outside-types',
      `The types become stricter, and there was time to compare ${number(scannedGrants ?? 0)} stored grants with them: none of these is excluded, but others may be. To write the rules all the same, ${keep}`,
    );
  }
  const listed: string[] = [];
  let length = 0;
  for (const { subject, relation, object } of grants.slice(0, LISTED_MAX)) {
    const text = `${subject} ${relation} ${object}`;
    length += text.length;
    if (listed.length > 0 && length > LISTED_LENGTH_MAX) break;
    listed.push(text);
  }
  const others = count - listed.length;
  const list = `${listed.join(', ')}${others > 0 ? ` and ${number(others)} more` : ''}`;
  const atLeast = scannedGrants === undefined ? '' : 'at least ';
  throw new GrantdError(
    'grants-outside-types',
    `The types exclude ${atLeast}${number(count)} stored ${count === 1 ? 'grant' : 'grants'}: ${list}. Revoke them first, or ${keep}`,
  );
}

/**
 * These types, which exclude subjects that others allowed; undefined: there are none, or no grant is of one of their
 * relations. `countOf`: of own relations.
 */
export function typesInUse(
  types: RuleSet['types'],
  { grants, countOf }: { readonly grants: number; readonly countOf: (key: CountKey) => number },
): SubjectTypes | undefined {
  // The others may get grants while those of the tenant are read.
  const mayHold = types.some(({ relation }) => isRelation(relation) || countOf(`relation:${relation}`) > 0);
  return grants > 0 && mayHold ? new SubjectTypes({ types }) : undefined;
}
