// The rules of a tenant in memory: read at their first use, kept current by every commit in its synchronous step, and
// evicted like pages. Invariant: what is in memory is the rule set whose revision the tenant's record names. Without
// rules, nothing is read.

import { GrantdError } from '../../core/errors.ts';
import { CompiledRules, type RelationNumberOf } from '../../rules/compiled-rules.ts';
import { type CompiledConditions, compileInTurns, demandCompiled } from '../../rules/conditions/compiled-condition.ts';
import { type Join, type JoinQuery, joinSteps } from '../../rules/join.ts';
import { nameElsewhere, undefinedName } from '../../rules/questions.ts';
import { grantedNames, NO_RULES, type RuleSet, revisionOfRules, textOfRules } from '../../rules/rule-set.ts';
import { namesToAsk, RulesText } from '../../rules/rules-text.ts';
import { inTurns } from '../../rules/steps.ts';
import { JoinCache } from './join-cache.ts';
import { LazyTable } from './lazy-table.ts';
import type { MemoryBudget } from './memory-budget.ts';

/** The text of the rules of a tenant that has none, and its revision. */
export const NO_RULES_TEXT = textOfRules(NO_RULES);
export const NO_RULES_REVISION = revisionOfRules(NO_RULES_TEXT);

/** The only row of the table. */
const ROW = 'rules';
/**
 * Bytes per character of the text: the text and the parsed rule set take up to 7 (measured), and the rest is
 * for what evaluation derives from them. Of an empty rule set.
 */
const BYTES_PER_CHARACTER = 40;
const STORED_BYTES = 4000;
/** Rules that are parsed and compiled in one step of a few milliseconds; longer ones take several. */
const CHARACTERS_AT_ONCE_MAX = 8192;

type Turn = () => Promise<unknown>;

/** None of these contains a space. */
const keyOfJoin = ({ namespace, name, deep }: JoinQuery): string => [namespace, name, ...deep].join(' ');

/** A rule set as it is in memory. What is derived from its text is derived once, at its first use. */
export class StoredRules extends RulesText {
  readonly #relationNumberOf: RelationNumberOf;
  #compiled: CompiledRules | undefined;
  #grantsAlone: CompiledRules | undefined;
  #conditions: CompiledConditions | undefined;
  #namespaces: ReadonlySet<string> | undefined;
  #names: ReadonlySet<string> | undefined;
  #preparing: Promise<void> | undefined;

  constructor(text: string, relationNumberOf: RelationNumberOf, ruleSet?: RuleSet) {
    super(text, ruleSet);
    this.#relationNumberOf = relationNumberOf;
  }

  /** Whether `compiled` is one short step. */
  get isReady(): boolean {
    if (this.#compiled !== undefined) return true;
    if (this.text.length > CHARACTERS_AT_ONCE_MAX) return false;
    return this.#conditions !== undefined || this.ruleSet.conditions.length === 0;
  }

  /**
   * Parses them and compiles the conditions, in steps before each of which it takes a turn, unless all of it is one
   * short step.
   */
  async prepare(turn: Turn): Promise<void> {
    if (this.isReady || this.#conditions !== undefined) return;
    this.#preparing ??= this.#prepare(turn).finally(() => {
      this.#preparing = undefined;
    });
    await this.#preparing;
  }

  async #prepare(turn: Turn): Promise<void> {
    const { conditions } = await this.parse(turn);
    this.#conditions = await compileInTurns(conditions, turn);
  }

  /** To be called once prepared. Throws `invalid-request` if a condition does not compile. */
  demandCompiled(): void {
    if (this.#conditions !== undefined) demandCompiled(this.ruleSet.conditions, this.#conditions);
  }

  /**
   * The same, and the rules, in a turn of their own. Resolves once `isReady` is true. Only for rules that are
   * committed: their relations get numbers.
   */
  async compile(turn: Turn): Promise<void> {
    await this.prepare(turn);
    if (this.isReady) return;
    await turn();
    void this.compiled;
  }

  /** That the rules name. */
  get namespaces(): ReadonlySet<string> {
    const { rules, types, public: everyone } = this.ruleSet;
    const named = [...rules, ...types, ...types.flatMap(({ subjects }) => subjects)];
    this.#namespaces ??= new Set([...everyone, ...named.map(({ namespace }) => namespace)]);
    return this.#namespaces;
  }

  /** That one can ask about. */
  get names(): ReadonlySet<string> {
    this.#names ??= new Set(namesToAsk(this.ruleSet));
    return this.#names;
  }

  get compiled(): CompiledRules {
    this.#compiled ??= new CompiledRules(this.ruleSet, this.#relationNumberOf, this.#conditions);
    return this.#compiled;
  }

  /** The same relations and states without anything that follows from them. */
  get grantsAlone(): CompiledRules {
    const { relations, states } = this.ruleSet;
    this.#grantsAlone ??= new CompiledRules({ ...NO_RULES, relations, states }, this.#relationNumberOf);
    return this.#grantsAlone;
  }
}

/** Rules that are about to be written, until they are disposed of. */
interface PreparedRules extends Disposable {
  readonly rules: StoredRules;
}

const bytesOf = ({ text }: StoredRules): number => STORED_BYTES + BYTES_PER_CHARACTER * text.length;

export class TenantRules {
  readonly #budget: MemoryBudget;
  readonly #table: LazyTable<StoredRules>;
  readonly #revision: () => string | undefined;
  readonly #readText: () => Promise<string | undefined>;
  readonly #relationNumberOf: RelationNumberOf;
  /** Of the tenant, for steps in which rules are parsed, compiled or compared. */
  readonly turn: Turn;
  /** Rules that are being written. */
  readonly #prepared = new Set<StoredRules>();
  /** Committed, and perhaps not in state yet. */
  #pendingSeq: number | undefined;
  #commits = 0;
  /** Created at its first use: most tenants ask for none. */
  #joins: JoinCache | undefined;

  /**
   * `revision`: of the tenant's record, as of the last commit. `relationNumberOf`: in the memory of the tenant.
   * `turn`: of the tenant.
   */
  constructor(
    budget: MemoryBudget,
    revision: () => string | undefined,
    readText: () => Promise<string | undefined>,
    relationNumberOf: RelationNumberOf,
    turn: Turn,
  ) {
    this.turn = turn;
    this.#budget = budget;
    this.#revision = revision;
    this.#readText = readText;
    this.#relationNumberOf = relationNumberOf;
    this.#table = new LazyTable(budget, async () => new Map([[ROW, this.#store(await this.#read())]]), bytesOf);
  }

  #store(text: string): StoredRules {
    return new StoredRules(text, this.#relationNumberOf);
  }

  /** The rules, if they are in memory. */
  get loaded(): StoredRules | undefined {
    return this.#table.loaded?.get(ROW);
  }

  /** The same, if evaluation under them can begin at once. */
  get ready(): StoredRules | undefined {
    const { loaded } = this;
    return loaded?.isReady === true ? loaded : undefined;
  }

  /** Keeps the rules in memory, compiled and current until the pin is disposed of. */
  async pin(): Promise<Disposable> {
    using stack = new DisposableStack();
    stack.use(await this.#table.pin());
    // A commit may replace them meanwhile.
    while (!this.pinned.isReady) await this.pinned.compile(this.turn);
    return stack.move();
  }

  /**
   * Parses and compiles rules that are about to be written, so that their commit takes one short step. Until it is
   * disposed of. Throws `invalid-request` if the text is not that of rules, or a condition does not compile.
   */
  async prepare({ text }: RulesText): Promise<PreparedRules> {
    const ruleSet = await new RulesText(text).parse(this.turn);
    // Whatever a peer sent: rules are stored by one text.
    const rules = new StoredRules(textOfRules(ruleSet), this.#relationNumberOf, ruleSet);
    await rules.prepare(this.turn);
    rules.demandCompiled();
    this.#prepared.add(rules);
    return { rules, [Symbol.dispose]: () => this.#prepared.delete(rules) };
  }

  /** The rules of the text that are being written, or the same unparsed. */
  written(text: string): StoredRules {
    return [...this.#prepared].find((rules) => rules.text === text) ?? this.#store(text);
  }

  /** The rules; only valid while a pin is held. */
  get pinned(): StoredRules {
    const rules = this.#table.rows.get(ROW);
    if (rules === undefined) throw new Error('Rules are replaced, never removed.');
    return rules;
  }

  /** The join of a name, if it was asked for lately under these rules. */
  knownJoin(rules: StoredRules, query: JoinQuery): Join | undefined {
    return this.#joins?.find(rules, keyOfJoin(query));
  }

  /**
   * The join of a name of the pinned rules as they are when this is called, built in turns at its first use. Rejects
   * with `invalid-relation` for a name that objects of the namespace cannot have. `field`: in which the request has it.
   */
  async joinOf(query: JoinQuery, field: string): Promise<Join> {
    const rules = this.pinned;
    const known = this.knownJoin(rules, query);
    if (known !== undefined) return known;
    const { ruleSet, compiled } = rules;
    const { namespace, name } = query;
    const number = compiled.numberOf(name);
    if (number === undefined) throw undefinedName(name, compiled.askableOn(`${namespace}:`), `${namespace}:`, field);
    const ruled = ruleSet.rules.filter((rule) => rule.name === name).map((rule) => rule.namespace);
    const isGranted = grantedNames(ruleSet).some((relation) => relation === name);
    if (!isGranted && !ruled.includes(namespace)) throw nameElsewhere(name, namespace, ruled, field);
    const join = await inTurns(joinSteps(ruleSet, compiled, query, number), this.turn);
    if (this.loaded === rules) {
      this.#joins ??= new JoinCache(this.#budget);
      this.#joins.keep(rules, keyOfJoin(query), join);
    }
    return join;
  }

  commit(text: string, seq: number): void {
    this.#commits += 1;
    this.#pendingSeq = seq;
    this.#table.commit(ROW, this.written(text), seq);
  }

  /** State now contains every commit up to `seq`. */
  confirm(seq: number): void {
    this.#table.confirm(seq);
    if (this.#pendingSeq !== undefined && this.#pendingSeq <= seq) this.#pendingSeq = undefined;
  }

  drop(): void {
    this.#table.drop();
    this.#joins?.drop();
  }

  async #read(): Promise<string> {
    const revision = this.#revision();
    // A commit that the state tables may lack takes precedence over the row that is read.
    if (revision === undefined || this.#pendingSeq !== undefined) return NO_RULES_TEXT;
    const commits = this.#commits;
    const text = await this.#readText();
    if (commits !== this.#commits) return NO_RULES_TEXT;
    if (text !== undefined && revisionOfRules(text) === revision) return text;
    throw new GrantdError('unavailable', 'The stored rules are not those that the record of the tenant names.');
  }
}
