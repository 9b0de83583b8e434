// Context grants: they count in addition to the stored ones, for one call alone.

import type { ContextGrant } from '../../core/call-context.ts';
import { GrantdError } from '../../core/errors.ts';
import { tupleFault, undeclaredIn } from '../../rules/allowed-grants.ts';
import type { Adjacent } from '../../rules/graph.ts';
import { GROUP_MARK } from '../memory/grant-page.ts';
import type { StoredRules } from '../memory/tenant-rules.ts';

const LIST = 'context_grants';

type Counts = (grant: ContextGrant) => boolean;

/** The other end of a grant. */
interface Counterpart {
  readonly relation: number;
  readonly text: string;
  readonly grant: ContextGrant;
}

export class ContextGrants {
  readonly #bySubject: ReadonlyMap<string, readonly Counterpart[]>;
  readonly #byObject: ReadonlyMap<string, readonly Counterpart[]>;

  /** Throws `invalid-relation`, `invalid-condition` or `type-not-allowed` for what could not be granted either. */
  constructor(rules: StoredRules, grants: readonly ContextGrant[]) {
    const numbered = grants.map((grant, index) => ({ grant, relation: numberOf(rules, grant, index) }));
    const ends = (from: 'subject' | 'object', to: 'subject' | 'object') =>
      new Map(
        Array.from(
          Map.groupBy(numbered, ({ grant }) => grant[from]),
          ([entity, each]) => [entity, each.map(({ grant, relation }) => ({ grant, relation, text: grant[to] }))],
        ),
      );
    this.#bySubject = ends('subject', 'object');
    this.#byObject = ends('object', 'subject');
  }

  /** The first of the relations that the subject has on the object; 0: none. */
  relationOf(counts: Counts, subject: string, relations: readonly number[], object: string): number {
    const found = this.#bySubject
      .get(subject)
      ?.find(({ relation, text, grant }) => text === object && relations.includes(relation) && counts(grant));
    return found?.relation ?? 0;
  }

  /** The grant of a chain, if it is one of these. */
  find(subject: string, relation: number, object: string): ContextGrant | undefined {
    return this.#bySubject.get(subject)?.find((each) => each.relation === relation && each.text === object)?.grant;
  }

  objectsOf(counts: Counts, subject: string, relations: readonly number[] | undefined): readonly Adjacent[] {
    return adjacent(this.#bySubject.get(subject), counts, (each) => relations?.includes(each.relation) !== false);
  }

  subjectsOn(counts: Counts, object: string, relations: readonly number[]): readonly Adjacent[] {
    return adjacent(this.#byObject.get(object), counts, (each) => relations.includes(each.relation));
  }

  groupsOn(counts: Counts, object: string, relations: readonly number[]): readonly Adjacent[] {
    const fits = ({ relation, text }: Counterpart): boolean =>
      text.includes(GROUP_MARK) && relations.includes(relation);
    return adjacent(this.#byObject.get(object), counts, fits);
  }
}

function numberOf(rules: StoredRules, grant: ContextGrant, index: number): number {
  const { compiled, ruleSet, types } = rules;
  const { relation, condition } = grant;
  const place = `${LIST}[${index}]`;
  const wrong = tupleFault(() => rules, grant, LIST, index);
  if (wrong !== undefined) throw new GrantdError(wrong.code, wrong.message);
  const undeclared = condition === undefined ? undefined : undeclaredIn(ruleSet, condition, place);
  if (undeclared !== undefined) throw new GrantdError('invalid-condition', undeclared);
  const untyped = types.faultOf(grant, condition, place);
  if (untyped !== undefined) throw new GrantdError('type-not-allowed', untyped);
  const number = compiled.numberOf(relation);
  if (number === undefined) throw new Error('A declared relation has a number.');
  return number;
}

const NOTHING: readonly Adjacent[] = [];

function adjacent(
  counterparts: readonly Counterpart[] | undefined,
  counts: Counts,
  fits: (counterpart: Counterpart) => boolean,
): readonly Adjacent[] {
  if (counterparts === undefined) return NOTHING;
  const counted = counterparts.filter((each) => fits(each) && counts(each.grant));
  return Array.from(
    Map.groupBy(counted, (each) => each.relation),
    ([relation, each]) => ({
      relation,
      texts: each.map(({ text }) => text),
    }),
  );
}
