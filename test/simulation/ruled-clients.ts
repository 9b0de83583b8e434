// The clients of a tenant with rules: one that writes, and many that ask, on all fronts. What they saw is judged at the
// end of the run (ruled-history.ts).

import { type CallContext, type ContextGrant, NO_CONTEXT } from '../../src/core/call-context.ts';
import type { TenantId } from '../../src/core/ids.ts';
import { compareUtf8, EVERY_SUBJECT } from '../../src/core/tuples.ts';
import { narrowedTypes } from '../../src/rules/allowed-grants.ts';
import type { JoinQuery } from '../../src/rules/join.ts';
import type { NamedTuple } from '../../src/rules/questions.ts';
import { NO_RULES, type RuleSet, textOfRules } from '../../src/rules/rule-set.ts';
import { RulesText } from '../../src/rules/rules-text.ts';
import { KEEP_OUTSIDE } from '../../src/rules/rules-writes.ts';
import type { AuditRecord, HoldersPage } from '../../src/shard/shard.ts';
import { type Call, Caller, type WorkloadPorts, type WorkloadTenant } from './caller.ts';
import { isSurelyOver, mayBeOver, slotTimeAt } from './expired-states.ts';
import { drawCall, drawGatedRules, GATED_NAMES, GATES } from './gated-universe.ts';
import type { Answer } from './requests.ts';
import { type Question, type RuledAnswer, RuledHistory, type RuledState, type RuledVersion } from './ruled-history.ts';
import { revisionOf } from './ruled-sets.ts';
import {
  CHANGING,
  DOCS,
  drawGrants,
  drawRules,
  FAR,
  FOLDERS,
  GROUPS,
  markGrant,
  markOf,
  OWN_RELATIONS,
  type RuledGrant,
  textOfTuple,
  UNIONS,
  type Universe,
  USERS,
} from './ruled-universe.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { RunningFront } from './simulated-cluster.ts';

const WRITE_PAUSE_MS = [1, 150] as const;
const SETTLE_PAUSE_MS = 100;
const PAGES_MAX = 20;

export interface Ruled {
  readonly tenant: WorkloadTenant;
  readonly history: RuledHistory;
}

type WriteOutcome = 'written' | 'another-version' | 'nothing-done' | 'unknown';

/** Makes one version after the other. */
export class RuledWriter extends Caller {
  readonly #ruled: Ruled;
  /** What the last version may be by now, in the order in which it is found out. */
  #candidates: RuledVersion[];
  /** Writes of unknown outcome, and those on top of them. */
  #unknown: RuledVersion[] = [];
  /** What they change: what else there is to change waits for them. */
  #changes: 'grants' | 'rules' = 'grants';
  #versions = 0;
  /** Perhaps not collected yet, and so counted. */
  readonly #expired: RuledGrant[] = [];
  /** No rules are always the same: once the outcome of a write that replaces them is unknown, they never come back. */
  #mayRemoveRules = true;

  constructor(name: string, ports: WorkloadPorts, random: SeededRandom, ruled: Ruled) {
    super(name, 'front-0', ports, random);
    this.#ruled = ruled;
    this.#candidates = [ruled.history.last];
  }

  run(endMs: number): Promise<void> {
    return this.repeat(endMs, WRITE_PAUSE_MS);
  }

  /** Until it is known what was written. */
  async settle(): Promise<void> {
    const { history } = this.#ruled;
    for (const { last } = history; history.last === last; ) {
      await this.step();
      await this.ports.cluster.scheduler.sleep(SETTLE_PAUSE_MS);
    }
  }

  protected override async step(): Promise<void> {
    const [before] = this.#candidates;
    const front = this.ports.cluster.fronts.get(`front-${this.random.whole(0, this.ports.profile.fronts - 1)}`);
    if (before === undefined || front === undefined) return;
    if (this.#unknown.length === 0 && this.#versions > 1) {
      this.#changes = this.random.chance(before.state.ruleSet === NO_RULES ? 0.4 : 0.12) ? 'rules' : 'grants';
    }
    this.#versions += 1;
    const state = this.#next(before.state);
    const from = this.ports.now();
    const version: RuledVersion = { state, before, from, until: Number.POSITIVE_INFINITY };
    this.#note(`asks for ${textOfChange(before.state, state)}`);
    const outcome =
      this.#changes === 'grants'
        ? await this.#writeGrants(before.state, state, front)
        : await this.#writeRules(before.state, state, front);
    const by = this.ports.now();
    this.#note(`version ${state.grantsVersion}, ${state.rulesVersion}: ${outcome}`);
    this.#conclude(version, before, outcome, by);
  }

  #conclude(version: RuledVersion, before: RuledVersion, outcome: WriteOutcome, by: number): void {
    if (outcome === 'unknown') {
      this.#unknown.push(version);
      if (this.#changes === 'rules' && before.state.ruleSet === NO_RULES) this.#mayRemoveRules = false;
    }
    if (outcome === 'written') {
      this.#ruled.history.written(version, by);
      this.#candidates = [version];
      this.#unknown = [];
    }
    if (outcome !== 'another-version') return;
    // It never comes back: what follows it, if anything, is a write of unknown outcome on top of it.
    before.until = Math.min(before.until, by);
    this.#candidates.shift();
    this.#candidates.push(...this.#unknown.filter((each) => each.before === before));
    if (this.#candidates.length > 0) return;
    this.ports.report(`${this.name}: a version of the tenant was replaced that nobody has replaced`);
  }

  #next({ grantsVersion, rulesVersion, ruleSet, grants }: RuledState): RuledState {
    if (this.#changes === 'rules') {
      const removes = ruleSet !== NO_RULES && this.#mayRemoveRules && this.random.chance(0.3);
      const rules = removes
        ? NO_RULES
        : (this.ports.profile.gated ? drawGatedRules : drawRules)(this.random, this.#versions);
      return { grantsVersion, rulesVersion: this.#versions, ruleSet: rules, grants };
    }
    const now = this.ports.now();
    const next = new Map([...grants].filter(([, grant]) => !isSurelyOver(grant, now)));
    this.#expired.push(...[...grants.values()].filter((grant) => isSurelyOver(grant, now)));
    const change = drawGrants(this.random, this.#universe, next, ruleSet);
    for (const tuple of change.revocations) next.delete(textOfTuple(tuple));
    for (const tuple of change.grants) next.set(textOfTuple(tuple), this.#mayExpire(tuple));
    return { grantsVersion: this.#versions, rulesVersion, ruleSet, grants: next };
  }

  #mayExpire(grant: ContextGrant): RuledGrant {
    if (!this.ports.profile.gated || this.random.chance(0.8)) return grant;
    return { ...grant, expiresAtMs: Math.round(slotTimeAt(this.ports.now()) + this.random.between(500, 5000)) };
  }

  async #writeGrants(before: RuledState, after: RuledState, front: RunningFront): Promise<WriteOutcome> {
    const isFirst = before.grantsVersion === 0;
    const added = [...after.grants]
      .filter(([text, grant]) => before.grants.get(text) !== grant)
      .map(([, each]) => each);
    const asked = this.ports.now();
    const gone = [...before.grants]
      .filter(([text, grant]) => !after.grants.has(text) && !isSurelyOver(grant, asked))
      .map(([, tuple]) => tuple);
    const { tenant } = this.#ruled;
    const answer = await this.ask(
      tenant,
      tenant.key,
      (session, context) =>
        session.call('writeBulk', context, {
          grants: [...added, ...(isFirst ? FAR.chain : []), markGrant(after.grantsVersion)],
          revocations: [...gone, ...(isFirst ? [] : [markGrant(before.grantsVersion)])],
          preconditions: isFirst
            ? FAR.chain.slice(0, 1).map((tuple) => ({ ...tuple, exists: false }))
            : [{ ...markGrant(before.grantsVersion), exists: true }],
        }),
      front,
    );
    if (answer.kind !== 'value') return this.#outcomeOf(answer, 'write-bulk');
    const { kind } = answer.value;
    const code = kind === 'refused' ? answer.value.code : undefined;
    if (code === 'invalid-request' && added.some((grant) => mayBeOver(grant, this.ports.now()))) return 'nothing-done';
    // A relation leaves the rules with its last grant: that has expired, or this state has never been.
    const undeclared = gone.filter((grant) => !this.#areDeclared([grant], before.ruleSet));
    if (code === 'invalid-relation' && undeclared.length > 0)
      return undeclared.every((grant) => mayBeOver(grant, this.ports.now())) ? 'nothing-done' : 'another-version';
    // Rules and grants are never both unknown.
    if (!this.#areDeclared(added, before.ruleSet)) {
      if (code !== undefined && /^invalid-(?:relation|subject|condition)$/.test(code)) return 'nothing-done';
      this.ports.report(`${this.name}: a grant is made of what is not declared: ${kind}`);
    }
    if (!added.every((grant) => this.#universe.isAllowed(grant, before.ruleSet))) {
      if (code === 'type-not-allowed') return 'nothing-done';
      this.ports.report(`${this.name}: a grant is made that types do not allow: ${kind}`);
    }
    if (kind === 'refused') this.ports.report(`${this.name}: a write is refused: ${answer.value.message}`);
    return kind === 'written' ? 'written' : 'another-version';
  }

  async #writeRules(before: RuledState, after: RuledState, front: RunningFront): Promise<WriteOutcome> {
    const { tenant } = this.#ruled;
    const { ruleSet } = after;
    const ifMatch = [revisionOf(before.ruleSet)];
    // Half of the writes keep what their types exclude; drawn from the rules, as no random number is left for it.
    const outsideTypes = revisionOf(ruleSet) < '8' ? KEEP_OUTSIDE : undefined;
    const answer = await this.ask(
      tenant,
      tenant.key,
      (session, context) =>
        session.call('writeRules', context, { rules: RulesText.of(ruleSet), ifMatch, outsideTypes }),
      front,
    );
    const lost = [...before.grants.values()].filter((grant) => !this.#areDeclared([grant], ruleSet));
    const types = narrowedTypes(before.ruleSet, ruleSet);
    const excluded =
      outsideTypes === KEEP_OUTSIDE
        ? []
        : [...before.grants.values()].filter((grant) => !this.#universe.isAllowed(grant, { ...ruleSet, types }));
    if (answer.kind === 'value') {
      if (excluded.some((grant) => !mayBeOver(grant, this.ports.now())))
        this.ports.report(`${this.name}: types become stricter although they exclude grants`);
      // What has expired may be collected.
      if (lost.some((grant) => !mayBeOver(grant, this.ports.now())))
        this.ports.report(`${this.name}: a relation or a condition is removed although it has grants`);
      return 'written';
    }
    const counted = [...lost, ...this.#expired.filter((grant) => !this.#areDeclared([grant], ruleSet))];
    if (counted.length > 0 && answer.kind === 'error' && /^(?:relation|condition)-in-use$/.test(answer.error.code))
      return 'nothing-done';
    if (excluded.length > 0 && answer.kind === 'error' && answer.error.code === 'grants-outside-types')
      return 'nothing-done';
    const isOther = answer.kind === 'error' && answer.error.code === 'precondition-failed';
    return isOther ? 'another-version' : this.#outcomeOf(answer, 'rules');
  }

  get #universe(): Universe {
    return this.ports.profile.gated ? GATES : UNIONS;
  }

  #areDeclared(grants: Iterable<ContextGrant>, ruleSet: RuleSet): boolean {
    return [...grants].every((grant) => this.#universe.isDeclared(grant, ruleSet));
  }

  #outcomeOf(answer: Answer<never> | Answer<unknown>, what: string): WriteOutcome {
    if (answer.kind !== 'error') return 'unknown';
    this.#note(`${answer.error.code}: ${answer.error.message}`);
    return this.undone(answer.error, what, this.#ruled.tenant.index) ? 'nothing-done' : 'unknown';
  }

  #note(text: string): void {
    this.ports.trace.note(this.name, text);
  }
}

function textOfChange(before: RuledState, after: RuledState): string {
  if (before.rulesVersion !== after.rulesVersion) return `rules ${after.rulesVersion} ${textOfRules(after.ruleSet)}`;
  const added = [...after.grants.keys()].filter((text) => !before.grants.has(text));
  const gone = [...before.grants.keys()].filter((text) => !after.grants.has(text));
  return `grants ${after.grantsVersion}: + ${added.join(', ')} - ${gone.join(', ')}`;
}

/** A page of grants may end before it is full, and its cursor alone tells where: it is not judged. */
const isCutShort = (
  question: Question,
  { items, excluded, more }: Extract<RuledAnswer, { readonly kind: 'page' }>,
): boolean => more && 'limit' in question && items.length + excluded.length < question.limit;

/** Asks whatever there is to ask. */
export class RuledReader extends Caller {
  readonly #ruled: Ruled;
  #last: NamedTuple | undefined;

  constructor(name: string, frontName: string, ports: WorkloadPorts, random: SeededRandom, ruled: Ruled) {
    super(name, frontName, ports, random);
    this.#ruled = ruled;
  }

  run(endMs: number): Promise<void> {
    return this.repeat(endMs, [1, this.ports.profile.thinkMsMax]);
  }

  async askMany(count: number): Promise<void> {
    for (let asked = 0; asked < count; asked += 1) await this.step();
  }

  protected override async step(): Promise<void> {
    const far = this.ports.profile.gated ? 0 : 3;
    const listed = { objects: 10, holders: 9, sets: 9, join: 1 };
    const kind = this.random.weighted({ check: 40, named: 8, bulk: 20, explain: 10, far, ...listed });
    switch (kind) {
      case 'sets':
        return this.#readSets();
      case 'join':
        return this.#readJoin();
      case 'far':
        return this.#askFar();
      case 'explain':
        return this.#explain(this.#question());
      case 'objects':
        return this.#list('objects', this.#subject());
      case 'holders':
        return this.#list('holders', this.#object());
      case 'bulk':
        return this.#check(Array.from({ length: this.random.whole(2, 6) }, () => this.#question()));
      case 'named':
        // Its answer says which rules count.
        return this.#check([{ subject: 'user:u1', relation: this.#mark(), object: 'mark:m1' }]);
      case 'check':
        return this.#check([this.#question()]);
    }
  }

  #mark(): string {
    const { rulesVersion } = this.#ruled.history.last.state;
    return markOf(Math.max(1, rulesVersion));
  }

  #subject(): string {
    const kind = this.random.fraction();
    if (kind < 0.8) return this.random.pick(USERS);
    if (kind > 0.98) return EVERY_SUBJECT;
    return kind < 0.95 ? `${this.random.pick(GROUPS)}#member` : this.random.pick(FOLDERS);
  }

  #object(): string {
    return this.random.pick(this.random.chance(0.75) ? DOCS : FOLDERS);
  }

  #call(about: Partial<NamedTuple>): CallContext {
    return this.ports.profile.gated && this.random.chance(0.7) ? drawCall(this.random, about) : NO_CONTEXT;
  }

  #name(): string {
    if (this.ports.profile.gated && this.random.chance(0.8)) return this.random.pick(GATED_NAMES);
    return this.random.weighted({
      viewer: 10,
      can_read: 6,
      editor: 1,
      [OWN_RELATIONS[0] ?? '']: 2,
      [CHANGING[0] ?? '']: 2,
    });
  }

  /** Under gates, often the last one, which another call may answer otherwise. */
  #question(): NamedTuple {
    if (this.ports.profile.gated && this.#last !== undefined && this.random.chance(0.3)) return this.#last;
    const subject = this.#subject();
    this.#last = this.random.chance(0.12)
      ? { subject, relation: 'member', object: this.random.pick(GROUPS) }
      : { subject, relation: this.#name(), object: this.#object() };
    return this.#last;
  }

  /** About what is further away than an evaluation follows. */
  #askFar(): Promise<void> {
    const { subject, object } = FAR;
    const relation = this.random.pick(['viewer', 'can_read']);
    const kind = this.random.pick(['check', 'explain', 'list']);
    if (kind === 'list') return this.#list('objects', subject);
    return kind === 'check'
      ? this.#check([{ subject, relation, object }])
      : this.#explain({ subject, relation, object });
  }

  // ---- calls ----

  async #check(checks: readonly NamedTuple[]): Promise<void> {
    const [only] = checks;
    const single = checks.length === 1 && only !== undefined;
    const call = this.#call(only ?? {});
    await this.#ask({ kind: 'checks', checks, call }, async (session, context) => {
      const { authorized } = single
        ? await session.check(context, { ...only, ...call })
        : await session.checkBulk(context, checks, call);
      return { kind: 'authorized', authorized: typeof authorized === 'boolean' ? [authorized] : authorized };
    });
  }

  async #explain(check: NamedTuple): Promise<void> {
    const call = this.#call(check);
    await this.#ask({ kind: 'explain', check, call }, async (session, context) => {
      const { authorized, because } = await session.explain(context, { ...check, ...call });
      return { kind: 'because', authorized, chain: because };
    });
  }

  #joinQuery(): JoinQuery {
    const namespace = this.random.weighted({ doc: 8, folder: 2, group: 1 });
    const name = namespace === 'group' ? 'member' : this.#name();
    return { namespace, name, deep: this.random.chance(0.25) ? ['folder'] : [] };
  }

  async #readSets(): Promise<void> {
    const query = { ...this.#joinQuery(), subject: this.#subject(), perhaps: this.random.chance(0.5) };
    const call = this.#call(query);
    await this.#ask({ kind: 'sets', ...query, call }, async (session, context) => {
      const sets = await session.call('readSets', context, { ...query, ...call });
      return { kind: 'sets', sets };
    });
  }

  async #readJoin(): Promise<void> {
    const query = this.#joinQuery();
    await this.#ask({ kind: 'join', ...query, call: NO_CONTEXT }, async (session, context) => {
      const { revision, json } = await session.call('readJoin', context, query);
      return { kind: 'join', revision, json };
    });
  }

  async #list(kind: 'objects' | 'holders', of: string): Promise<void> {
    const name = this.#name();
    const direct = !/^(?:can_|in_)/.test(name) && this.random.chance(0.15);
    const limit = this.random.pick([1, 2, 1000]);
    const includeSelf = limit === 2;
    const namespace = this.random.chance(0.3) ? this.random.pick(['doc', 'folder', 'user']) : undefined;
    const call = this.#call(kind === 'objects' ? { subject: of } : { object: of });
    const prefix = namespace === undefined ? '' : `${namespace}:`;
    let cursor: string | undefined;
    let after = prefix;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const question: Question = { kind, of, name, direct, includeSelf, prefix, after, limit, call };
      const query = { relation: name, namespace, direct, limit, cursor, ...call };
      cursor = undefined;
      const answer = await this.#ask(question, async (session, context) => {
        const page: HoldersPage =
          kind === 'objects'
            ? await session.call('listObjects', context, { ...query, subject: of })
            : await session.call('listHolders', context, { ...query, includeSelf, object: of });
        cursor = page.nextCursor;
        return { kind: 'page', items: page.items, excluded: page.excluded ?? [], more: cursor !== undefined };
      });
      if (answer?.kind !== 'page' || cursor === undefined) return;
      after = [...answer.items, ...answer.excluded].sort(compareUtf8).at(-1) ?? after;
    }
  }

  async #ask(question: Question, call: Call<RuledAnswer>): Promise<RuledAnswer | undefined> {
    const { tenant, history } = this.#ruled;
    const { trace } = this.ports;
    const from = this.ports.now();
    const result = await this.ask(tenant, tenant.key, call);
    const answer = result.kind === 'value' ? result.value : this.#answerOf(result, question);
    if (trace.on) trace.note(this.name, `${JSON.stringify(question)}: ${JSON.stringify(answer)}`);
    if (answer === undefined || (answer.kind === 'page' && isCutShort(question, answer))) return undefined;
    history.observations.push({ client: this.name, question, answer, from, until: this.ports.now() });
    return answer;
  }

  #answerOf(result: Answer<unknown>, question: Question): RuledAnswer | undefined {
    if (result.kind !== 'error') return undefined;
    const { code } = result.error;
    if (code === 'invalid-request' && question.kind === 'sets') return { kind: 'mirrored' };
    if (code === 'invalid-relation') return { kind: 'undefined' };
    if (code === 'invalid-condition') return { kind: 'no-condition' };
    if (code === 'invalid-subject') return { kind: 'no-subject' };
    if (code === 'type-not-allowed') return { kind: 'not-allowed' };
    if (code === 'evaluation-cyclic' || code === 'context-incomplete') return { kind: 'undecided', code };
    if (code === 'evaluation-too-large') return { kind: 'too-large' };
    this.ports.trace.note(this.name, `${code}: ${result.error.message}`);
    this.undone(result.error, 'a question', this.#ruled.tenant.index);
    return undefined;
  }
}

/** The clients of one tenant with rules, through a run. */
export class RuledClients {
  readonly #ruled: Ruled;
  readonly #writer: RuledWriter;
  readonly #readers: readonly RuledReader[];

  constructor(tenant: WorkloadTenant, ports: WorkloadPorts, random: SeededRandom) {
    const { ruledClients, fronts } = ports.profile;
    this.#ruled = { tenant, history: new RuledHistory(ports.now()) };
    this.#writer = new RuledWriter('ruled-writer', ports, random.fork('ruled-writer'), this.#ruled);
    this.#readers = Array.from({ length: ruledClients * fronts }, (_, index) => {
      const name = `ruled-${index}`;
      return new RuledReader(name, `front-${index % fronts}`, ports, random.fork(name), this.#ruled);
    });
  }

  get answered(): number {
    return this.#ruled.history.observations.length;
  }

  async run(endMs: number): Promise<void> {
    await Promise.all([this.#writer, ...this.#readers].map((client) => client.run(endMs)));
  }

  settle(): Promise<void> {
    return this.#writer.settle();
  }

  async askMany(count: number): Promise<void> {
    await Promise.all(this.#readers.map((reader) => reader.askMany(count)));
  }

  get tenantId(): TenantId {
    return this.#ruled.tenant.tenantId;
  }

  /** `rows`: the audit log of the tenant. */
  failures(rows: readonly AuditRecord[]): readonly string[] {
    return this.#ruled.history.failures(rows);
  }
}
