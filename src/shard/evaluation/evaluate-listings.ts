// Listings: the objects on which a subject holds a name, and the subjects that hold one on an object. Under rules, a
// page is evaluated in steps, each in a turn of its tenant, and begins again if a commit changes a grant that it rests
// on; so it is the state of one moment. A listing of grants alone searches nothing: it is the first counterparts of one
// relation, mostly from a page in memory, at once, and nothing of it is kept between pages. An evaluation under rules
// finds all that is listed, so what follows a second page is kept for the next ones, as long as it is in memory and no
// commit has changed a grant that it rests on. Where gates or conditions matter, only the page is.

import { type CallContext, changesGrants } from '../../core/call-context.ts';
import { GrantdError } from '../../core/errors.ts';
import { compareUtf8, EVERY_SUBJECT, relationNumber, sortUtf8, undeclaredMessage } from '../../core/tuples.ts';
import { bitOf, type CompiledRules } from '../../rules/compiled-rules.ts';
import { GateEvaluation } from '../../rules/gate-evaluation.ts';
import { GrantedSearch } from '../../rules/granted-search.ts';
import { SearchCost, type SearchLimits } from '../../rules/graph.ts';
import { undefinedName } from '../../rules/questions.ts';
import { ownNames } from '../../rules/rule-set.ts';
import { WantedSearch } from '../../rules/wanted-search.ts';
import { ListingTime } from '../log/slot-time.ts';
import { PAGE_READS_MAX } from '../memory/answer-cache.ts';
import type { TextsQuery } from '../memory/grant-page.ts';
import { GrantReads } from '../memory/grant-reads.ts';
import { ReadSet, TextBlocks } from '../memory/kept-listings.ts';
import { CallGrants, type CallTerms, termsOf } from './call-grants.ts';
import { GrantConditions } from './grant-conditions.ts';
import { ListedTexts, type TextsTaker } from './listed-texts.ts';
import {
  CONDITION_STEPS_MAX,
  type DecidedTexts,
  fromObject,
  GateDecisions,
  LISTING_LIMITS,
  ListingSteps,
  STEP_MS,
  stepped,
  TOO_LARGE,
  TooLarge,
  type Unanswered,
  withinLimits,
} from './listing-steps.ts';
import type { FirstTexts, PageGraph, Reach, Side } from './page-graph.ts';
import { type CallTenant, evaluateInRounds, RANGE_BYTES_MAX, type RoundOptions, takeTurn } from './rounds.ts';

/** Estimated bytes of a grant that a listing of grants alone reads, and the cost of its step. */
const GRANT_BYTES = 1024;
const DIRECT_MS = 0.1;
/** The page, the rows, and some more if they change too much meanwhile. */
const DIRECT_ROUNDS_MAX = 8;
/** Candidates that a page reads at once where gates decide. */
const CANDIDATES_MIN = 1000;
/** Strings that one step examines for the page. */
const TEXTS_PER_STEP = 5000;
/** Reads of the grants by a whole listing that is kept: the largest makes some 300,000. */
const LISTING_READS_MAX = 400_000;
const READS_PER_STEP = 50_000;

export interface ListingQuery extends TextsQuery {
  /** A built-in relation, or a name that some rule defines. */
  readonly name: string;
  readonly call: CallContext;
  /** Whether grants of the relation alone are listed, and nothing that follows from them. */
  readonly direct: boolean;
}

export interface HoldersListing extends ListingQuery {
  /** Whether the object's own groups are listed for being groups of those who hold the name. */
  readonly includeSelf: boolean;
}

/** One evaluation of a page, from its beginning. */
interface PageAttempt {
  readonly cost: SearchCost;
  readonly hasNext: boolean;
  step(): void;
  restsOn(subject: string, object: string): boolean;
  /** The strings of the page; called once the search is complete. An iteration ends where a step may end. */
  collect(into: TextsTaker): Iterable<void>;
  /** Where names depend on gates, or conditions lack a parameter, what the search has found is what may be listed. */
  readonly gates?: GateDecisions | undefined;
}

/** The inputs of the evaluation of a page. `number`: of the name. */
interface PageInputs {
  readonly rules: CompiledRules;
  readonly graph: PageGraph;
  readonly terms: CallTerms;
  readonly grants: CallGrants;
  readonly limits: SearchLimits;
  readonly time: ListingTime;
  readonly number: number;
}

interface HeldListing {
  readonly side: Side;
  readonly entity: string;
  readonly query: ListingQuery;
  readonly begin: (beginning: PageInputs) => PageAttempt;
}

const never = (): boolean => false;

/** What a page lists, ascending. */
export interface HeldPage extends DecidedTexts {
  /** The bound of what a page reads has ended it here: the listing continues after this string. */
  readonly rest?: string | undefined;
}

const NONE: ReadonlySet<string> = new Set();

/** The objects on which the subject holds the name. Rejects with `evaluation-too-large` or `overloaded`. */
export function listHeldObjects(of: CallTenant, subject: string, query: ListingQuery): Promise<HeldPage> {
  const begin: HeldListing['begin'] = ({ rules, grants, limits, number }) => {
    const search = new GrantedSearch(rules, grants.possible, limits, subject, rules.statesGiving(number));
    const bit = bitOf(number);
    const visited = new Set<string>();
    const gates = new GateDecisions(
      rules,
      true,
      () => new GateEvaluation(rules, grants, stepped(limits), subject, search, visited),
      (evaluation, object) => evaluation.decide(number, object),
    );
    return {
      get gates() {
        return rules.gated || grants.differ ? gates : undefined;
      },
      cost: search.cost,
      get hasNext() {
        return search.hasNext;
      },
      step: () => search.step(never),
      restsOn: (changed, object) => search.follows(changed) || visited.has(object),
      *collect(into) {
        let examined = 0;
        for (const [object, last] of search.held) {
          for (let find: typeof last | undefined = last; find !== undefined; find = find.earlier) {
            if ((find.names & bit) !== 0n) into.add(object);
          }
          examined += 1;
          if (examined % TEXTS_PER_STEP === 0) yield;
        }
      },
    };
  };
  return evaluate(of, { side: 'subject', entity: subject, query, begin }, 'objects');
}

/**
 * The subjects that hold the name on the object: those of grants, groups and `ns:*` as they are written there, and the
 * groups of the entities that it follows from, of the object itself only if asked for.
 */
export function listHoldingSubjects(of: CallTenant, object: string, query: HoldersListing): Promise<HeldPage> {
  const begin: HeldListing['begin'] = ({ rules, grants, limits, number }) => {
    const search = new WantedSearch(rules, grants.possible, limits, undefined, undefined, rules.gated);
    search.start(object, bitOf(number));
    const visited = new Set<string>();
    // The search from the object has found that a search from each subject would be dearer.
    const gates = new GateDecisions(
      rules,
      false,
      (subject) => new GateEvaluation(rules, grants, fromObject(limits), subject, undefined, visited),
      (evaluation) => evaluation.decide(number, object),
    );
    return {
      get gates() {
        return rules.gated || grants.differ ? gates : undefined;
      },
      cost: search.cost,
      get hasNext() {
        return search.hasNext;
      },
      step: () => search.step(never),
      restsOn: (_subject, changed) => search.visited.has(changed) || visited.has(changed),
      *collect(into) {
        let examined = 0;
        // Where a gate excludes many, a page goes on behind the strings that it has decided.
        for (const [visited, last] of search.visited) {
          const granted = new Set<number>();
          for (let visit: typeof last | undefined = last; visit !== undefined; visit = visit.earlier) {
            for (const each of [...visit.wanted.relations, ...visit.wanted.states]) granted.add(each);
            if (rules.includesSelf(visit.wanted.names) && rules.isEntity(visited)) into.add(visited);
            if (!rules.groups || (visited === object && !query.includeSelf)) continue;
            const names = rules.groupNamesIn(visit.wanted.names);
            for (const name of names) into.add(`${visited}#${name}`);
            examined += names.length;
          }
          examined += granted.size;
          for (const each of granted) {
            const first = firstOfPage(into, rules.isState(each));
            examined += into.addFirst(
              search.cost.known(grants.possible.firstCounterparts('object', visited, each, first)),
            );
          }
          examined += 1;
          if (examined >= TEXTS_PER_STEP) {
            examined = 0;
            yield;
          }
        }
      },
    };
  };
  const what = query.includeSelf ? 'subjects-and-self' : 'subjects';
  return evaluate(of, { side: 'object', entity: object, query, begin }, what);
}

/** The counterparts that the page needs. `ofAll`: also the subject of states, which is of every namespace. */
const firstOfPage = ({ prefix, after, countMax }: TextsQuery, ofAll: boolean): TextsQuery =>
  ofAll ? { prefix: '', after, countMax } : { prefix, after: after < prefix ? prefix : after, countMax };

/** The grants of one relation of an entity. */
const beginDirect =
  ({ side, entity }: HeldListing): HeldListing['begin'] =>
  ({ rules, grants, limits, number }) => {
    const cost = new SearchCost(limits);
    const [ofObject, visited] = [side === 'object', new Set<string>()];
    const gates = new GateDecisions(
      rules,
      !ofObject,
      (text) => new GateEvaluation(rules, grants, stepped(limits), ofObject ? text : entity, undefined, visited),
      (evaluation, text) => evaluation.decide(number, ofObject ? entity : text),
    );
    return {
      get gates() {
        return grants.differ ? gates : undefined;
      },
      cost,
      hasNext: false,
      step: () => {},
      restsOn: (subject, object) => (ofObject ? object : subject) === entity,
      // Where conditions exclude many, a page goes on behind the strings that it has decided.
      collect(into) {
        const first = firstOfPage(into, ofObject && rules.isState(number));
        into.addFirst(cost.known(grants.possible.firstCounterparts(side, entity, number, first)));
        return [];
      },
    };
  };

/** What a listing, and a page of it, are kept by. */
interface KeptBy {
  readonly listing: string;
  readonly page: string;
}

/** Nothing in a query contains a space. */
function keysOf(what: string, { entity, query }: HeldListing): KeptBy {
  const listing = `${what} ${entity} ${query.name} ${query.prefix}`;
  return { listing, page: `${listing} ${query.after} ${query.countMax}` };
}

/** Nothing follows from grants. To be asked in each step: the tenant may have got its first rules. */
const isDirect = ({ memory }: CallTenant, { direct }: ListingQuery): boolean =>
  direct || memory.tenant.rulesRevision === undefined;

/** `what`: different listings of an entity have different names. */
async function evaluate(of: CallTenant, listing: HeldListing, what: string): Promise<HeldPage> {
  const { query } = listing;
  const direct = isDirect(of, query) ? (listNow(of, listing) ?? (await listDirect(of, listing))) : undefined;
  if (direct !== undefined) return direct;
  // Pages that depend on context grants, or leave grants out, are never cached.
  const keys = changesGrants(query.call) ? undefined : keysOf(what, listing);
  const known = keys && keptPage(of, query, keys);
  if (known !== undefined) return { texts: known, excluded: NONE };
  return withinLimits<HeldPage>((limits, bounds) => evaluateWithin(of, listing, limits, bounds, keys));
}

const keptPage = (
  { memory: { answers } }: CallTenant,
  { after, countMax }: ListingQuery,
  keys: KeptBy,
): readonly string[] | undefined => answers.page(keys.page) ?? answers.listings.find(keys.listing, after, countMax);

/** Whose grants of the name are listed: a state follows from nothing, and is granted to all subjects by one name. */
const grantedEntity = ({ side, entity }: HeldListing, isState: boolean): string =>
  isState && side === 'subject' ? EVERY_SUBJECT : entity;

/** The common case, without an evaluation: grants without conditions, from a whole page in memory. */
function listNow({ memory, tenure }: CallTenant, listing: HeldListing): HeldPage | undefined {
  const { side, query } = listing;
  const { name, call } = query;
  const rules = memory.rules.ready?.grantsAlone;
  const number = relationNumber(name) ?? rules?.numberOf(name);
  const isState = number !== undefined && rules?.isState(number) === true;
  const page = (side === 'subject' ? memory.pages : memory.objectPages).get(grantedEntity(listing, isState));
  const isPlain = page?.whole === true && !memory.grantCount.hasConditions && !changesGrants(call);
  if (!isPlain || number === undefined) return undefined;
  page.referenced = true;
  const { slotTime } = tenure;
  const time = new ListingTime(slotTime, slotTime.nowMs);
  const first = firstOfPage(query, side === 'object' && isState);
  const texts = page.firstCounterparts(number, first, time.holds);
  return time.waits ? undefined : { texts, excluded: NONE };
}

/** It reads no more of an entity than a page takes, whatever its reach. */
const DIRECT_REACH: Reach = { entityGrantsMax: 0, bytesMax: RANGE_BYTES_MAX, isLarge: false };

function unknownName(of: CallTenant, { side, entity, query }: HeldListing, rules: CompiledRules): GrantdError {
  const { name, prefix } = query;
  const own = ownNames(of.memory.rules.pinned.ruleSet);
  // Rules that define the name make no difference here.
  if (isDirect(of, query)) return new GrantdError('invalid-relation', undeclaredMessage(name, own));
  const object = side === 'subject' ? prefix : entity;
  return undefinedName(name, rules.askableOn(object), object);
}

/** Undefined: the tenant has got its first rules meanwhile, under which the listing has a reach of its own. */
async function listDirect(of: CallTenant, listing: HeldListing): Promise<HeldPage | undefined> {
  const bytes = GRANT_BYTES * listing.query.countMax;
  const bounds = { bytes, roundsMax: DIRECT_ROUNDS_MAX, reach: DIRECT_REACH, turnMs: DIRECT_MS };
  const page = await evaluateWithin(of, listing, LISTING_LIMITS, bounds, undefined);
  return page instanceof TooLarge ? undefined : page;
}

function evaluateWithin(
  of: CallTenant,
  listing: HeldListing,
  limits: SearchLimits,
  bounds: RoundOptions,
  keys: KeptBy | undefined,
): Promise<HeldPage | TooLarge> {
  const { query } = listing;
  const conditions = new GrantConditions(CONDITION_STEPS_MAX, () => takeTurn(of, STEP_MS));
  return evaluateInRounds<HeldPage | TooLarge>(of, bounds, async (graph, nowMs) => {
    const time = new ListingTime(of.tenure.slotTime, nowMs);
    if (bounds.reach === DIRECT_REACH && !isDirect(of, query)) return TOO_LARGE;
    const stored = of.memory.rules.pinned;
    const { compiled } = stored;
    const rules = isDirect(of, query) ? stored.grantsAlone : compiled;
    const number = rules.numberOf(query.name);
    if (number === undefined) throw unknownName(of, listing, rules);
    const isState = rules.isState(number);
    const entity = grantedEntity(listing, isState);
    const begin = isState || isDirect(of, query) ? beginDirect({ ...listing, entity }) : listing.begin;
    const terms = termsOf(stored, query.call, () => conditions);
    graph.startRun();
    terms.conditions?.startRun(compiled);
    terms.conditions?.use(query.call.context);
    const grants = new CallGrants(graph, time, terms);
    const beginning = { rules, graph, terms, grants, limits, time, number };
    const readsMax = query.after === '' ? PAGE_READS_MAX : LISTING_READS_MAX;
    const keeping = keys && { ...keys, reads: new GrantReads(readsMax) };
    graph.reads = keeping?.reads;
    const page = await pageOf(of, beginning, { ...listing, begin }, keeping);
    return time.waits && typeof page !== 'string' ? 'waits' : page;
  });
}

async function pageOf(
  of: CallTenant,
  beginning: PageInputs,
  { query, begin }: HeldListing,
  keeping: Keeping | undefined,
): Promise<HeldPage | Unanswered> {
  const attempt = begin(beginning);
  using steps = new ListingSteps(of, beginning, attempt.restsOn);
  const searched = await steps.run(attempt);
  if (searched !== undefined) return searched;
  const texts: string[] = [];
  const excluded = new Set<string>();
  let { after } = query;
  let rest: string | undefined;
  for (let isLast = false; !isLast && texts.length < query.countMax; ) {
    // A gate may exclude most candidates, and each read of the next ones begins the page again.
    const foundMax = attempt.gates === undefined ? query.countMax : Math.max(query.countMax, CANDIDATES_MIN);
    const found = new SmallestTexts(foundMax, after, query.prefix);
    for (const _ of attempt.collect(found)) if (!(await steps.take())) return 'changed';
    const collected = steps.outcomeOf(attempt.cost);
    if (collected !== undefined) return collected;
    const { gates } = attempt;
    isLast = gates === undefined || found.texts.length < foundMax;
    rest = found.rest;
    after = found.texts.at(-1) ?? after;
    if (gates === undefined) texts.push(...found.texts);
    else {
      const outcome = await steps.decide(gates, found.texts, query.countMax - texts.length);
      if (typeof outcome === 'string' || outcome instanceof TooLarge) return outcome;
      texts.push(...outcome.texts);
      for (const each of outcome.excluded) excluded.add(each);
    }
  }
  if (steps.changed) return 'changed';
  const page = { texts, excluded, rest };
  if (keeping === undefined || beginning.time.depends || excluded.size > 0 || rest !== undefined) return page;
  // Still in the step of which it is the state.
  of.memory.answers.keepPage(keeping.page, texts, [keeping.reads]);
  // Who asks for a second page will ask for the others. For the first page alone, this would double its cost.
  if (attempt.gates === undefined && query.after !== '' && texts.length === query.countMax) {
    await keepWhole(of, { query, attempt, steps, keeping, time: beginning.time });
  }
  return page;
}

interface Keeping extends KeptBy {
  readonly reads: GrantReads;
}

/** Keeps what is listed behind the page, unless it is too much, or changes meanwhile. */
async function keepWhole(
  { memory: { answers } }: CallTenant,
  {
    query,
    attempt,
    steps,
    keeping: { listing, reads },
    time,
  }: {
    readonly query: ListingQuery;
    readonly attempt: PageAttempt;
    readonly steps: ListingSteps;
    readonly keeping: Keeping;
    readonly time: ListingTime;
  },
): Promise<void> {
  const listed = new ListedTexts(query, answers.listings.bytesMax);
  const texts = new TextBlocks();
  const restsOn = new ReadSet();
  const work = function* (): Generator<void, void> {
    yield* attempt.collect(listed);
    yield* listed.into(texts);
    for (const [index, number] of reads.numbers?.entries() ?? []) {
      restsOn.add(number);
      if (index % READS_PER_STEP === 0) yield;
    }
  };
  for (const _ of work()) if (listed.isPart || !(await steps.take())) return;
  const isWhole = !listed.isPart && reads.numbers !== undefined && !attempt.cost.misses && !time.depends;
  if (isWhole && !steps.changed) answers.listings.keep(listing, { after: query.after, texts, reads: restsOn });
}

/**
 * The smallest of many strings by their UTF-8 bytes, each once: a page of a listing whose items come from many lists.
 */
export class SmallestTexts implements TextsTaker {
  readonly countMax: number;
  readonly prefix: string;
  readonly after: string;
  /** Ascending up to `#sorted`, then unordered. */
  #texts: string[] = [];
  #sorted = 0;
  /** The least string at which a bound has ended a list: greater ones may be missing. */
  #end: string | undefined;

  /** Only strings after `after` that begin with `prefix`, and the subject of states. */
  constructor(countMax: number, after: string, prefix: string) {
    this.countMax = countMax;
    this.prefix = prefix;
    this.after = after;
  }

  /** Whether the string, and so every greater one of its list, is too great to be among them. */
  isBeyond(text: string): boolean {
    if (this.prefix !== '' && !text.startsWith(this.prefix)) return compareUtf8(text, this.prefix) > 0;
    if (this.#end !== undefined && compareUtf8(text, this.#end) > 0) return true;
    const last = this.#sorted < this.countMax ? undefined : this.#texts[this.countMax - 1];
    return last !== undefined && compareUtf8(text, last) > 0;
  }

  add(text: string): void {
    if (
      (!text.startsWith(this.prefix) && text !== EVERY_SUBJECT) ||
      compareUtf8(text, this.after) <= 0 ||
      this.isBeyond(text)
    )
      return;
    this.#texts.push(text);
    if (this.#texts.length >= 2 * this.countMax + 64) this.#sort();
  }

  /** The first strings of a list for this page, if they are known. Returns how many were examined. */
  addFirst(first: (FirstTexts & { readonly added: readonly string[] }) | undefined): number {
    if (first === undefined) return 0;
    const { texts, end, added } = first;
    if (end !== undefined && (this.#end === undefined || compareUtf8(end, this.#end) < 0)) {
      this.#end = end;
      this.#sorted = 0;
    }
    let examined = added.length;
    if (this.#texts.length === 0) {
      this.#texts = texts.slice(0, this.countMax);
      this.#sorted = this.#texts.length;
      examined += this.#sorted;
    } else {
      for (const text of texts) {
        if (this.isBeyond(text)) break;
        examined += 1;
        this.add(text);
      }
    }
    for (const text of added) this.add(text);
    return examined;
  }

  /** Ascending. */
  get texts(): readonly string[] {
    if (this.#sorted < this.#texts.length) this.#sort();
    return this.#texts;
  }

  /** Where the page continues, if a bound has ended it. */
  get rest(): string | undefined {
    return this.texts.length < this.countMax ? this.#end : undefined;
  }

  #sort(): void {
    const end = this.#end;
    const ascending = sortUtf8(this.#texts).filter(
      (text, index, texts) => text !== texts[index - 1] && (end === undefined || compareUtf8(text, end) <= 0),
    );
    this.#texts = ascending.slice(0, this.countMax);
    this.#sorted = this.#texts.length;
  }
}
