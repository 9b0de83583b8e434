// The grants of a tenant as one call sees them: the stored grants at its time, plus its context grants, minus those
// that a comparison leaves out. Grants whose condition is not met do not count. One context at a time.

import type { CallContext } from '../../core/call-context.ts';
import type { GrantTerms } from '../../core/grant-attributes.ts';
import { type Adjacent, type Enumeration, type Grants, type Graph, TOO_MANY } from '../../rules/graph.ts';
import type { ListingTime } from '../log/slot-time.ts';
import type { TextsQuery } from '../memory/grant-page.ts';
import type { StoredRules } from '../memory/tenant-rules.ts';
import { ContextGrants } from './context-grants.ts';
import type { GrantConditions } from './grant-conditions.ts';
import type { FirstTexts, Keeps, PageGraph, Side } from './page-graph.ts';
import type { HiddenGrants } from './without-grants.ts';

/** All are undefined for a call that sees just the stored grants, under rules without conditions. */
export interface CallTerms {
  readonly conditions: GrantConditions | undefined;
  readonly contextGrants: ContextGrants | undefined;
  readonly hidden: HiddenGrants | undefined;
}

/** The context of a call under these rules. Throws for names that they do not declare. */
export function termsOf(
  rules: StoredRules,
  { contextGrants }: CallContext,
  conditionsOf: () => GrantConditions,
): CallTerms {
  return {
    conditions: rules.compiled.conditions.size === 0 ? undefined : conditionsOf(),
    contextGrants: contextGrants && new ContextGrants(rules, contextGrants),
    hidden: undefined,
  };
}

type Meets = (terms: Pick<GrantTerms, 'condition'>) => boolean;

const always: Meets = () => true;

/** Enumerates subjects in order, too. */
export class GrantsView implements Graph {
  readonly #graph: PageGraph;
  readonly #keeps: Keeps;
  readonly #meets: Meets;
  readonly #conditions: GrantConditions | undefined;
  readonly #added: ContextGrants | undefined;
  readonly #hidden: HiddenGrants | undefined;
  readonly #namespaces: ReadonlySet<string> | undefined;

  /** `namespaces`: of the objects that are enumerated; undefined: all. */
  constructor(
    graph: PageGraph,
    keeps: Keeps,
    meets: Meets | undefined,
    terms: CallTerms,
    namespaces?: ReadonlySet<string>,
  ) {
    this.#graph = graph;
    this.#namespaces = namespaces;
    this.#keeps = meets === undefined ? keeps : (facts) => keeps(facts) && meets(facts);
    this.#meets = meets ?? always;
    this.#conditions = terms.conditions;
    this.#added = terms.contextGrants;
    this.#hidden = terms.hidden;
  }

  relationOf(subject: string, relations: readonly number[], object: string): number | typeof TOO_MANY | undefined {
    const added = this.#added?.relationOf(this.#meets, subject, relations, object) ?? 0;
    if (added !== 0) return added;
    const left = this.#hidden?.relationsLeft(subject, relations, object) ?? relations;
    const relation = left.length === 0 ? 0 : this.#graph.relationOf(this.#keeps, subject, left, object);
    return relation === 0 ? this.#whole(relation) : relation;
  }

  groupsOn(object: string, relations: readonly number[]): Enumeration {
    const stored = this.#subjectsLeft(object, this.#graph.groupsOn(this.#keeps, object, relations));
    return this.#whole(joined(stored, this.#added?.groupsOn(this.#meets, object, relations)));
  }

  subjectsOn(object: string, relations: readonly number[]): Enumeration {
    const stored = this.#subjectsLeft(object, this.#graph.subjectsOn(this.#keeps, object, relations));
    return this.#whole(joined(stored, this.#added?.subjectsOn(this.#meets, object, relations)));
  }

  objectsOf(subject: string, relations: readonly number[] | undefined): Enumeration {
    const found = this.#graph.objectsOf(this.#keeps, subject, relations, this.#namespaces);
    const stored = this.#hidden === undefined ? found : this.#hidden.objectsLeft(subject, found);
    return this.#whole(joined(stored, this.#added?.objectsOf(this.#meets, subject, relations)));
  }

  #subjectsLeft(object: string, found: Enumeration): Enumeration {
    return this.#hidden === undefined ? found : this.#hidden.subjectsLeft(object, found);
  }

  /** The first counterparts of one relation of an entity, and those of context grants, in no order; none is hidden. */
  firstCounterparts(
    side: Side,
    entity: string,
    number: number,
    query: TextsQuery,
  ): (FirstTexts & { readonly added: readonly string[] }) | typeof TOO_MANY | undefined {
    const conditions = this.#conditions;
    const settle = conditions && ((rows: readonly GrantTerms[]) => conditions.settleThose(rows));
    const found = this.#whole(this.#graph.firstCounterparts(this.#keeps, side, entity, number, query, settle));
    if (found === undefined || found === TOO_MANY) return found;
    const added = this.#added?.[side === 'subject' ? 'objectsOf' : 'subjectsOn'](this.#meets, entity, [number]) ?? [];
    return this.#whole({ ...found, added: added.flatMap((each) => each.texts) });
  }

  /** Undefined: conditions of it are yet to be evaluated. */
  #whole<Value>(value: Value): Value | undefined {
    const conditions = this.#conditions;
    if (conditions?.isPending !== true) return value;
    return this.#graph.miss('conditions', () => conditions.settle());
  }
}

function joined(stored: Enumeration, added: readonly Adjacent[] | undefined): Enumeration {
  return stored === undefined || stored === TOO_MANY || !added?.length ? stored : [...stored, ...added];
}

export class CallGrants implements Grants {
  readonly certain: GrantsView;
  readonly possible: GrantsView;
  readonly #conditions: GrantConditions | undefined;

  /** `namespaces`: of the objects that searches from subjects enumerate; undefined: all. */
  constructor(graph: PageGraph, time: ListingTime, terms: CallTerms, namespaces?: ReadonlySet<string>) {
    const { conditions } = terms;
    this.#conditions = conditions;
    if (conditions === undefined) {
      this.certain = new GrantsView(graph, time.holds, undefined, terms, namespaces);
      this.possible = this.certain;
    } else {
      this.certain = new GrantsView(graph, time.keeps, conditions.meets, terms, namespaces);
      this.possible = new GrantsView(graph, time.keeps, conditions.mayMeet, terms, namespaces);
    }
  }

  /** Whether a grant was met, under the present context, of which only its context could say whether it holds. */
  get differ(): boolean {
    return this.#conditions?.hasUndecided === true;
  }
}
