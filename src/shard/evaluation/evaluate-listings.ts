// Listings of a tenant with rules: the objects on which a subject holds a name, and the subjects that hold one on an
// object. A page is evaluated in steps, each in a turn of its tenant, and begins again if a commit touches what it
// rests on; so it is the state of one moment. Nothing is kept between pages.

import { type Relation, relationOf } from '../../core/tuples.ts';
import { bitOf, type CompiledRules } from '../../rules/compiled-rules.ts';
import { GrantedSearch } from '../../rules/granted-search.ts';
import { lowestIn, type SearchCost, type SearchLimits } from '../../rules/graph.ts';
import { undefinedName } from '../../rules/questions.ts';
import { WantedSearch } from '../../rules/wanted-search.ts';
import { ListingTime } from '../log/slot-time.ts';
import { firstAfter } from '../memory/text-order.ts';
import { ENTITY_GRANTS_MAX, type PageGraph } from './page-graph.ts';
import { evaluateInRounds, type Ruled, takeTurn, tooLarge } from './rounds.ts';
import { SmallestTexts } from './smallest-texts.ts';

/** What a listing may visit and look at. */
const LISTING_LIMITS: SearchLimits = {
  depthMax: 25,
  entitiesMax: 100_000,
  grantsMax: 1_000_000,
  entityGrantsMax: ENTITY_GRANTS_MAX,
};
/** Entities and grants of one step: some milliseconds. */
const SPENT_PER_STEP_MAX = 5000;
const STEP_MS = 3;
const ROUNDS_MAX = 1000;
/** Estimated bytes of a listing while it is evaluated; most take much less. */
const LISTING_BYTES = 2 * 1024 * 1024;
/** Strings that one step examines for the page. */
const TEXTS_PER_STEP = 5000;

export interface ListingQuery {
  /** A built-in relation, or a name that some rule defines. */
  readonly name: string;
  /** Of the items; empty: all. */
  readonly prefix: string;
  readonly after: string;
  readonly countMax: number;
}

/** Reads the first grants of one relation on an object that has too many for a page, after a subject. */
export type ReadSubjects = (
  object: string,
  relation: Relation,
  query: ListingQuery,
  time: ListingTime,
) => Promise<readonly string[]>;

/** One evaluation of a page, from its beginning. */
interface Attempt {
  readonly cost: SearchCost;
  readonly hasNext: boolean;
  step(): void;
  restsOn(subject: string, object: string): boolean;
  /** The strings of the page; called once the search is complete. Yields where a step may end. */
  collect(into: SmallestTexts): AsyncGenerator<void> | Generator<void>;
}

type Begin = (rules: CompiledRules, graph: PageGraph, time: ListingTime, number: number) => Attempt;

const never = (): boolean => false;

/** The objects on which the subject holds the name, ascending. Rejects as `evaluation-too-large` or `overloaded`. */
export function listHeldObjects(of: Ruled, subject: string, query: ListingQuery): Promise<readonly string[]> {
  return evaluate(of, query, (rules, graph, _time, number) => {
    const search = new GrantedSearch(rules, graph, LISTING_LIMITS, subject);
    const bit = bitOf(number);
    return {
      cost: search.cost,
      get hasNext() {
        return search.hasNext;
      },
      step: () => search.step(never),
      restsOn: (changed) => search.follows(changed),
      *collect(into) {
        let examined = 0;
        for (const [object, last] of search.held) {
          for (let find: typeof last | undefined = last; find !== undefined; find = find.former) {
            if ((find.names & bit) !== 0n) into.add(object);
          }
          examined += 1;
          if (examined % TEXTS_PER_STEP === 0) yield;
        }
      },
    };
  });
}

/**
 * The subjects that hold the name on the object, ascending: those of grants, groups and `ns:*` as they are written
 * there, and the groups of the entities that it follows from.
 */
export function listHoldingSubjects(
  of: Ruled,
  object: string,
  query: ListingQuery,
  readSubjects: ReadSubjects,
): Promise<readonly string[]> {
  return evaluate(of, query, (rules, graph, time, number) => {
    const search = new WantedSearch(rules, graph, LISTING_LIMITS);
    search.start(object, bitOf(number));
    return {
      cost: search.cost,
      get hasNext() {
        return search.hasNext;
      },
      step: () => search.step(never),
      restsOn: (_subject, changed) => search.visited.has(changed),
      async *collect(into) {
        let examined = 0;
        for (const [visited, last] of search.visited) {
          let relations = 0;
          for (let visit: typeof last | undefined = last; visit !== undefined; visit = visit.former) {
            relations |= visit.wanted.relations;
            if (rules.groups) for (const name of rules.namesIn(visit.wanted.names)) into.add(`${visited}#${name}`);
          }
          for (let rest = relations; rest !== 0; rest &= rest - 1) {
            const relation = lowestIn(rest);
            const sorted = graph.sortedSubjects(visited, relation);
            const name = relationOf(relation);
            if (sorted === undefined && name !== undefined) {
              for (const subject of await readSubjects(visited, name, query, time)) into.add(subject);
              continue;
            }
            const texts = sorted ?? [];
            const start = firstAfter(texts, query.after);
            for (let index = start; index < texts.length; index += 1) {
              const text = texts[index] ?? '';
              if (into.isBeyond(text)) break;
              examined += 1;
              if (graph.counts(visited, relation, text)) into.add(text);
            }
          }
          examined += 1;
          if (examined >= TEXTS_PER_STEP) {
            examined = 0;
            yield;
          }
        }
      },
    };
  });
}

function evaluate(of: Ruled, query: ListingQuery, begin: Begin): Promise<readonly string[]> {
  const { tenure, memory } = of;
  const options = {
    bytes: LISTING_BYTES,
    roundsMax: ROUNDS_MAX,
    turnMs: STEP_MS,
    overloaded: 'The grants on which this listing rests change faster than it is evaluated.',
  };
  return evaluateInRounds(of, options, async (graph, nowMs) => {
    const time = new ListingTime(tenure.slotTime, nowMs);
    graph.startRun(time.keeps);
    const rules = memory.rules.pinned.compiled;
    const number = rules.numberOf(query.name);
    if (number === undefined) throw undefinedName(query.name);
    const found = await pageOf(of, graph, begin(rules, graph, time, number), query);
    return time.waits && typeof found !== 'string' ? 'waits' : found;
  });
}

async function pageOf(
  of: Ruled,
  graph: PageGraph,
  attempt: Attempt,
  query: ListingQuery,
): Promise<readonly string[] | 'missing' | 'changed'> {
  const { cost } = attempt;
  using watch = of.memory.watchGrants((subject, object) => attempt.restsOn(subject, object));
  for (let stepMax = SPENT_PER_STEP_MAX; attempt.hasNext; attempt.step()) {
    if (cost.spent <= stepMax) continue;
    await takeTurn(of, STEP_MS);
    if (watch.changed) return 'changed';
    graph.startStep();
    stepMax = cost.spent + SPENT_PER_STEP_MAX;
  }
  if (cost.exceeded !== undefined) throw tooLarge(cost.exceeded, LISTING_LIMITS, 'A listing');
  if (cost.misses) return 'missing';
  const page = new SmallestTexts(query.countMax, query.after, query.prefix);
  for await (const _ of attempt.collect(page)) {
    await takeTurn(of, STEP_MS);
    if (watch.changed) return 'changed';
  }
  return watch.changed ? 'changed' : page.texts;
}
