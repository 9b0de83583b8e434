// Lists joined with a mirror, from one end to the other: a slot commits a random history, a mirror in SQLite follows
// its feed some way behind, and an application asks for the sets of a subject and puts them into the statements of a
// join, at once and again when the mirror has moved on. Each answer is compared with what the rules mean at the moment
// of the sets. All but the network is real, and nothing happens beside: a seed is a history.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { it } from 'node:test';
import { ServiceClient } from '../../../packages/cli/src/service-client.ts';
import type { MirrorSource } from '../../../packages/sync/src/mirror.ts';
import { ServiceSource } from '../../../packages/sync/src/service-source.ts';
import { SqlMirror } from '../../../packages/sync/src/sql-mirror.ts';
import { SqliteDatabase } from '../../../packages/sync/src/sqlite-database.ts';
import { sqliteStatements } from '../../../packages/sync/src/sqlite-statements.ts';
import { compareMirror } from '../../../packages/sync/src/verify-mirror.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import type { TermsRequest } from '../../../src/core/grant-attributes.ts';
import { namespaceOf } from '../../../src/core/tuples.ts';
import type { Join, JoinQuery } from '../../../src/rules/join.ts';
import type { RuleSet } from '../../../src/rules/rule-set.ts';
import type { NaiveSets } from '../../kit/naive-join.ts';
import { type NaiveGrant, type NaiveModel, naiveModel, type Truth } from '../../kit/naive-rules.ts';
import { CONDITION, randomOf } from '../rules/random-rules.ts';
import { conditionText, RuledSlot, relationOf } from '../shard/evaluation/ruled-slot.ts';
import { RELEASE, type SlotOptions } from '../shard/tools.ts';
import { type JoinedWorld, pick, type Random, type WorldKind, worldOf } from './joined-worlds.ts';
import { ServiceOverSlot } from './service-over-slot.ts';
import { SILENT, SteppedMirror } from './stepped-mirror.ts';

const START_MS = Date.UTC(2026, 10, 1);
const PAUSES_MS = [1, 40, 900, 900, 5000, 5000, 60_000, 60_000, 700_000];
/** Moments that are asked about again. */
const KEPT_MAX = 40;
const AGAIN = 6;
const DRAWS = 3;
const CATCH_UP_MAX = 2000;
const ALL_STEPS = 60;
const BY_VALUE: readonly Truth[] = [false, 'undefined', true];
/** What the rules leave open, and grants tie to its own negation. */
/** As a mirror has it. */
const revisionOf = ({ tenant_id: tenant, revision }: Pick<Sets, 'tenant_id' | 'revision'>): string =>
  `${tenant}:${revision}`;
const OPEN: readonly string[] = ['evaluation-cyclic', 'context-incomplete'];

interface Sets extends NaiveSets {
  readonly tenant_id: string;
  readonly revision: string;
  readonly at: { readonly seq: number; readonly time: string };
  readonly through: number;
}

interface Row extends NaiveGrant {
  readonly expiresAtMs: number | undefined;
}

interface Place {
  readonly seq: number | null;
  readonly revision: string | null;
  readonly horizon: number;
}

interface KnownJoin {
  readonly join: Join;
  readonly sql: ReturnType<typeof sqliteStatements>;
  prepared: readonly [objects: StatementSync, value: StatementSync] | undefined;
}

interface Call {
  /** The parameter of conditions. */
  readonly sent: Truth;
  readonly added: readonly NaiveGrant[];
  readonly body: object;
}

/** Sets that an application has, and what the rules meant when they were read. */
interface Moment {
  readonly what: string;
  readonly known: KnownJoin;
  readonly sets: Sets;
  readonly right: NaiveModel;
  /** The same, where what depends on a mirrored condition is undefined. */
  readonly open: () => NaiveModel;
  /** Of containers above an object. */
  readonly levels: (object: string) => number;
  isNew: boolean;
}

export interface JoinedCounts {
  /** Of one object each. */
  joins: number;
  true: number;
  undefined: number;
  /** Lists, and those of them that were asked for when the mirror had moved on. */
  lists: number;
  late: number;
  moments: number;
  refused: Record<string, number>;
  /** Sets that were refused. */
  open: number;
}

export const noCounts = (): JoinedCounts => ({
  joins: 0,
  true: 0,
  undefined: 0,
  lists: 0,
  late: 0,
  moments: 0,
  refused: {},
  open: 0,
});

interface Wall {
  ms: number;
}

export interface JoinedRun {
  readonly seed: number;
  readonly kind: WorldKind;
  /** Of the history. */
  readonly steps: number;
  readonly counts: JoinedCounts;
  /** Whether an answer in place of a refusal is a difference, if it is right. */
  readonly demandsRefusals?: boolean;
}

export class JoinDifference extends Error {}

const keyOf = ({ subject, relation, object }: NaiveGrant): string => `${subject} ${relation} ${object}`;

const isMirrored = ({ mirror }: Join, { relation, object }: NaiveGrant): boolean =>
  mirror.some(({ namespace, relations }) => namespace === namespaceOf(object) && relations.includes(relation));

export class JoinedHistory {
  readonly #world: JoinedWorld;
  readonly #random: Random;
  readonly #what: string;
  readonly #counts: JoinedCounts;
  readonly #options: SlotOptions;
  readonly #wall: Wall;
  readonly #demandsRefusals: boolean;
  readonly #database: DatabaseSync;
  readonly #name: string;
  readonly #source: MirrorSource;
  readonly #mirror: SteppedMirror;
  readonly #service: ServiceOverSlot;
  #readPlace: StatementSync | undefined;
  /** No cursor is too old. */
  #isFeedKept = false;
  readonly #rows = new Map<string, Row>();
  readonly #joins = new Map<string, KnownJoin>();
  /** Under the present rules. */
  readonly #presentJoins = new Map<string, KnownJoin>();
  readonly #moments: Moment[] = [];
  #ruled: RuledSlot;
  #ruleSet: RuleSet;

  private constructor(
    { seed, kind, counts, demandsRefusals = true }: JoinedRun,
    wall: Wall,
    slot: [RuledSlot, SlotOptions],
  ) {
    this.#world = worldOf(seed, kind);
    this.#random = randomOf(seed + 500_000);
    this.#what = `seed ${seed}, ${kind}`;
    this.#counts = counts;
    this.#demandsRefusals = demandsRefusals;
    this.#wall = wall;
    [this.#ruled, this.#options] = slot;
    [this.#ruleSet] = this.#world.ruleSets;
    this.#name = `file:${randomUUID()}?mode=memory&cache=shared`;
    this.#database = new DatabaseSync(this.#name);
    const limits = randomOf(seed);
    this.#service = new ServiceOverSlot(
      () => ({ connection: this.#ruled.slot.connection, handle: this.#ruled.handle }),
      (url) => {
        // Pages that end within an entry.
        if (url.searchParams.has('limit')) url.searchParams.set('limit', String(1 + limits(5)));
        if (url.pathname === '/v1/changes' && limits(300) === 0 && !this.#isFeedKept)
          throw new GrantdError('cursor-too-old', 'It is lost.');
      },
    );
    const client = new ServiceClient(
      { api: 'public', url: 'http://grantd.test', secret: '' },
      { fetch: this.#service.fetch },
    );
    const attempt = <Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result> =>
      call(new AbortController().signal);
    const reader = { attempt, read: () => Promise.reject(new Error('not used')), pause: async () => true };
    this.#source = new ServiceSource(client, reader, this.#world.queries);
    this.#mirror = new SteppedMirror(this.#name, this.#source, {
      nowMs: () => this.#wall.ms,
      // Each process, but some, is killed at a statement.
      statements: () => (limits(3) === 0 ? Number.POSITIVE_INFINITY : 10 + limits(400)),
    });
  }

  /** Throws a `JoinDifference` if a list is not what the rules mean. */
  static async run(run: JoinedRun): Promise<void> {
    const wall: Wall = { ms: START_MS };
    const isPieced = run.seed % 3 === 0;
    const options: SlotOptions = {
      wallMs: () => wall.ms,
      ...(isPieced && { pageLimits: { rowsPerRead: 1, readsBeforeWhole: 1_000_000 } }),
    };
    const history = new JoinedHistory(run, wall, [await RuledSlot.open({ rules: [] }, [], options), options]);
    try {
      await history.#run(run.steps);
    } finally {
      await history.#mirror.end();
      history.#ruled.slot.kill();
      history.#database.close();
    }
  }

  async #run(steps: number): Promise<void> {
    const { grants, ruleSets } = this.#world;
    await this.#ruled.setRuleSet(ruleSets[0]);
    await this.#write(grants.filter(() => this.#random(5) > 0));
    await this.#mirror.start();
    for (let step = 0; step < steps; step += 1) {
      await this.#step();
      await this.#ask();
      await this.#follow();
      this.#join();
    }
    await this.#catchUp();
    await this.#verify();
  }

  /** Some way behind, and then nearer, or all the way. */
  async #follow(): Promise<void> {
    const way = this.#random(6);
    if (way > 1) return;
    for (let count = way === 0 ? this.#random(8) : ALL_STEPS; count > 0 && !this.#hasAll(); count -= 1) {
      await this.#mirror.step();
      if (this.#random(3) === 0) this.#join();
    }
  }

  #hasAll(): boolean {
    const { seq, revision } = this.#place();
    const newest = this.#moments.at(-1)?.sets;
    return newest === undefined || (seq !== null && seq >= newest.at.seq && revision === revisionOf(newest));
  }

  /** The mirror has everything, so it answers about each moment that it has still. */
  async #catchUp(): Promise<void> {
    for (let count = 0; count < 10; count += 1) await this.#ask();
    for (let steps = 0; !this.#hasAll(); steps += 1) {
      assert.ok(steps < CATCH_UP_MAX, `${this.#what}: the mirror gets to everything, and not to ${this.#place().seq}`);
      await this.#mirror.step();
    }
    for (const moment of this.#moments) {
      const refusal = this.#compare(moment);
      assert.ok(refusal !== 'behind' && refusal !== 'not-ready', `${moment.what}: ${refusal}`);
    }
  }

  /** While grants are written between the pages of its snapshot, and the mirror follows. */
  async #verify(): Promise<void> {
    this.#isFeedKept = true;
    const { joins, snapshot, changes } = this.#source;
    const source: MirrorSource = {
      joins: () => joins.call(this.#source),
      changes: (...asked) => changes.call(this.#source, ...asked),
      snapshot: async (...asked) => {
        if (this.#random(4) === 0) await this.#write([this.#world.draw(this.#random)]);
        return snapshot.call(this.#source, ...asked);
      },
    };
    const database = new SqliteDatabase(this.#name);
    const found = await compareMirror({
      source,
      mirror: new SqlMirror(database),
      watch: SILENT,
      pause: () => this.#mirror.step().then(() => true),
      nowMs: () => this.#wall.ms,
    }).finally(() => database.close());
    if (found?.differences !== 0) throw new JoinDifference(`${this.#what}: verified, ${found?.lines.join('\n')}`);
  }

  // ---- what happens ----

  async #step(): Promise<void> {
    const random = this.#random;
    switch (random(30)) {
      case 0:
        return this.#changeRules();
      case 1:
        return this.#changeOwner();
      case 2:
        this.#wall.ms += pick(random, PAUSES_MS);
        return;
      case 3:
        return this.#ruled.slot.collect();
      case 4:
      case 5:
        return this.#revokeSome();
      case 6:
        return this.#revokeSome();
      case 7:
      case 8:
      case 9:
        return this.#move();
      case 10:
      case 11:
        return this.#changeSameGrant();
      case 12:
      case 13:
      case 14:
        return this.#writeBulk();
      default:
        return this.#write(Array.from({ length: 1 + random(3) }, () => this.#world.draw(random)));
    }
  }

  #terms(): Pick<Row, 'expiresAtMs'> {
    const ends = this.#random(4) === 0 ? this.#wall.ms + pick(this.#random, PAUSES_MS) : undefined;
    return { expiresAtMs: ends };
  }

  #request({ subject, relation, object, condition, expiresAtMs }: Row) {
    const terms: TermsRequest = {
      expiresAtMs: expiresAtMs ?? null,
      condition: condition === undefined ? null : conditionText(condition),
    };
    return { subject, relation: relationOf(relation), object, ...terms };
  }

  /** Each is an operation of its own. */
  async #writeRows(rows: readonly (Row & { readonly revoke?: true })[]): Promise<void> {
    const { slot, handle } = this.#ruled;
    const writes = rows.map(({ revoke, ...row }) => {
      if (revoke !== true) return { ...this.#request(row), revoke: false };
      const { subject, relation, object } = row;
      return { subject, relation: relationOf(relation), object, revoke };
    });
    const results = await slot.connection.writeGrants(handle, slot.attempt(), writes);
    for (const [index, { kind }] of results.entries()) {
      const { revoke, ...row } = rows[index] ?? assert.fail('a result of each write');
      if (kind === 'refused') continue;
      if (revoke === true) this.#rows.delete(keyOf(row));
      else this.#rows.set(keyOf(row), row);
    }
  }

  #write(grants: readonly NaiveGrant[]): Promise<void> {
    return this.#writeRows(grants.map((grant) => ({ ...grant, ...this.#terms() })));
  }

  #some(count: number): readonly Row[] {
    const rows = [...this.#rows.values()];
    return rows.length === 0 ? [] : Array.from({ length: count }, () => pick(this.#random, rows));
  }

  #revokeSome(): Promise<void> {
    return this.#writeRows(this.#some(1 + this.#random(3)).map((row) => ({ ...row, revoke: true as const })));
  }

  /** Several times in one entry, perhaps. */
  #changeSameGrant(): Promise<void> {
    const [grant = this.#world.draw(this.#random)] = this.#some(this.#random(2));
    const ways = Array.from({ length: 2 + this.#random(3) }, () => ({ ...grant, ...this.#terms() }));
    return this.#writeRows(ways.map((row) => (this.#random(2) === 0 ? row : { ...row, revoke: true as const })));
  }

  /** A container, from one place to another at once. */
  async #move(): Promise<void> {
    const random = this.#random;
    const placed = [...this.#rows.values()].filter(({ relation }) => relation === 'parent');
    if (placed.length === 0) return;
    const from = pick(random, placed);
    const to = { ...pick(random, placed), object: from.object, expiresAtMs: undefined };
    if (keyOf(from) !== keyOf(to)) await this.#bulk([to], [from]);
  }

  #writeBulk(): Promise<void> {
    const drawn = Array.from({ length: 1 + this.#random(5) }, () => ({
      ...this.#world.draw(this.#random),
      ...this.#terms(),
    }));
    const rows = new Map(drawn.map((row) => [keyOf(row), row]));
    const revoked = new Map(this.#some(this.#random(4)).map((row) => [keyOf(row), row]));
    return this.#bulk(
      [...rows.values()],
      [...revoked.values()].filter((row) => !rows.has(keyOf(row))),
    );
  }

  async #bulk(rows: readonly Row[], revoked: readonly Row[]): Promise<void> {
    const { slot, handle } = this.#ruled;
    const { kind } = await slot.connection.writeBulk(handle, slot.attempt(), {
      grants: rows.map((row) => this.#request(row)),
      revocations: revoked.map(({ subject, relation, object }) => ({
        subject,
        relation: relationOf(relation),
        object,
      })),
      preconditions: [],
    });
    if (kind !== 'written') return;
    for (const row of revoked) this.#rows.delete(keyOf(row));
    for (const row of rows) this.#rows.set(keyOf(row), row);
  }

  async #changeRules(): Promise<void> {
    this.#ruleSet = pick(this.#random, this.#world.ruleSets);
    await this.#ruled.setRuleSet(this.#ruleSet);
    this.#presentJoins.clear();
  }

  async #changeOwner(): Promise<void> {
    const ruled = this.#ruled;
    if (this.#random(2) === 0) return ruled.goCold();
    if (this.#random(2) === 0) await ruled.slot.tenure.release(RELEASE);
    ruled.slot = await ruled.slot.restart(this.#options);
    ruled.handle = await ruled.slot.handle(ruled.tenantId);
  }

  // ---- what is asked ----

  /** The join under the present rules, and its statements, as an application keeps them. */
  async #joinOf({ namespace, name, deep }: JoinQuery): Promise<KnownJoin> {
    const query = String(new URLSearchParams({ namespace, name, ...(deep.length > 0 && { deep: deep.join(',') }) }));
    const present = this.#presentJoins.get(query);
    if (present !== undefined) return present;
    const { status, text } = await this.#service.answer('GET', `/v1/join?${query}`);
    assert.equal(status, 200, text);
    const { tenant_id: _, revision, ...join } = JSON.parse(text) as Join & Pick<Sets, 'tenant_id' | 'revision'>;
    const key = `${revision} ${query}`;
    const known = this.#joins.get(key) ?? { join, sql: sqliteStatements(join), prepared: undefined };
    this.#joins.set(key, known);
    this.#presentJoins.set(query, known);
    return known;
  }

  /** What a call brings along, and the grants that it sees. */
  #drawCall({ join }: KnownJoin): Call {
    const random = this.#random;
    const hasConditions = this.#ruleSet.conditions.length > 0;
    const sent = hasConditions ? pick<Truth>(random, ['undefined', true, false]) : 'undefined';
    const drawn = Array.from({ length: random(4) === 0 ? 1 + random(2) : 0 }, () => this.#world.draw(random));
    const added = drawn.filter((grant) => !isMirrored(join, grant));
    const contextGrants = added.map(({ condition, ...grant }) => ({ ...grant, ...conditionOf(condition) }));
    return {
      sent,
      added,
      body: {
        ...(sent === 'undefined' ? {} : { context: { allowed: sent } }),
        ...(added.length === 0 ? {} : { context_grants: contextGrants }),
      },
    };
  }

  /** Of most questions, one to which something is the answer. */
  #drawQuestion(): { readonly query: JoinQuery; readonly subject: string } {
    const random = this.#random;
    const rows = [...this.#rows.values()];
    for (let draws = random(4) * DRAWS; ; draws -= 1) {
      const [subject, query] = [pick(random, this.#world.subjects), pick(random, this.#world.queries)];
      if (draws <= 0) return { query, subject };
      const model = naiveModel(this.#ruleSet, rows, subject);
      const { namespace, name } = query;
      const here = this.#world.objects.filter((object) => namespaceOf(object) === namespace);
      if (here.some((object) => model.truthOf(name, object) !== false)) return { query, subject };
    }
  }

  /** The sets of a subject, with what the rules mean now. */
  async #ask(): Promise<void> {
    const { query, subject } = this.#drawQuestion();
    const known = await this.#joinOf(query);
    const call = this.#drawCall(known);
    const { namespace, name, deep } = query;
    const request = { subject, join: { namespace, name, deep }, ...call.body, perhaps: this.#random(2) === 0 };
    const { status, text } = await this.#service.answer('POST', '/v1/sets', request);
    const json: unknown = JSON.parse(text);
    const what = `${this.#what}: ${JSON.stringify(request)}`;
    if (status !== 200) {
      const { title } = json as { readonly title: string };
      assert.ok(OPEN.includes(title) || (title === 'type-not-allowed' && call.added.length > 0), `${what}: ${title}`);
      this.#counts.open += 1;
      return;
    }
    const sets = json as Sets;
    const atMs = Date.parse(sets.at.time);
    const live = [...this.#rows.values()].filter(({ expiresAtMs = Number.POSITIVE_INFINITY }) => expiresAtMs > atMs);
    const resolved = (grant: NaiveGrant): NaiveGrant =>
      grant.condition === 'undefined' ? { ...grant, condition: call.sent } : grant;
    const unknown = (grant: NaiveGrant): NaiveGrant =>
      grant.condition !== undefined && isMirrored(known.join, grant)
        ? { ...grant, condition: 'undefined' }
        : resolved(grant);
    const ruleSet = this.#ruleSet;
    this.#moments.push({
      what: `${what}, as of ${sets.at.seq}`,
      known,
      sets,
      right: naiveModel(ruleSet, [...live, ...call.added].map(resolved), subject),
      open: () => naiveModel(ruleSet, [...live, ...call.added].map(unknown), subject),
      levels: this.#world.kind === 'deep' ? levelsOf(live) : () => 0,
      isNew: true,
    });
    this.#counts.moments += 1;
  }

  /** New moments, and some of the others, against the mirror as it is. */
  #join(): void {
    const others = this.#moments.filter(({ isNew }) => !isNew);
    const again = Array.from({ length: Math.min(AGAIN, others.length) }, () => pick(this.#random, others));
    for (const moment of new Set([...this.#moments.filter(({ isNew }) => isNew), ...again])) this.#compare(moment);
    for (const moment of this.#moments) moment.isNew = false;
    while (this.#moments.length > KEPT_MAX) this.#moments.splice(this.#random(this.#moments.length), 1);
  }

  #place(): Place {
    this.#readPlace ??= this.#database.prepare('SELECT seq, revision, horizon FROM grantd_place');
    return this.#readPlace.get() as unknown as Place;
  }

  /** Undefined: the mirror may answer. */
  #expectedRefusal({ at, through, ...sets }: Sets): string | undefined {
    const place = this.#place();
    if (place.seq === null) return 'not-ready';
    if (place.revision !== revisionOf(sets)) return 'other-rules';
    if (place.horizon > at.seq) return 'stale';
    return place.seq < through ? 'behind' : undefined;
  }

  /** With what the mirror refused it, if it did. */
  #compare(moment: Moment): string | undefined {
    const { sets, known, what } = moment;
    const refusal = this.#expectedRefusal(sets);
    const answer = this.#answer(moment);
    if (typeof answer === 'string') {
      if (refusal === undefined) throw new JoinDifference(`${what}: refused, ${answer}`);
      if (!answer.includes(`'${refusal}: `) && this.#demandsRefusals)
        throw new JoinDifference(`${what}: ${answer} instead of ${refusal}`);
      this.#counts.refused[refusal] = (this.#counts.refused[refusal] ?? 0) + 1;
      return refusal;
    }
    const { seq } = this.#place();
    const objects = this.#world.objects.filter((object) => namespaceOf(object) === known.join.namespace);
    for (const object of new Set([...objects, ...answer.keys()])) this.#judge(moment, object, answer.get(object) ?? 0);
    if (refusal !== undefined && this.#demandsRefusals)
      throw new JoinDifference(`${what}: answered, though ${refusal}`);
    this.#counts.lists += 1;
    if (seq !== null && seq > sets.at.seq) this.#counts.late += 1;
    return undefined;
  }

  #judge({ what, known, right, open, levels }: Moment, object: string, value: number): void {
    const { name } = known.join;
    const found = BY_VALUE[value];
    const wanted = namespaceOf(object) === known.join.namespace && right.truthOf(name, object);
    this.#counts.joins += 1;
    if (found === true || found === 'undefined') this.#counts[`${found}`] += 1;
    const isRight =
      found === 'undefined'
        ? open().truthOf(name, object) === 'undefined' || levels(object) > known.join.depth_max
        : found === wanted;
    if (!isRight) throw new JoinDifference(`${what}: ${object} is ${found}, not ${wanted}`);
  }

  /** The objects with their values; or the error. */
  #answer({ known, sets }: Moment): ReadonlyMap<string, number> | string {
    const { subjects, held, perhaps, own, at, through } = sets;
    const values = {
      ':subjects': JSON.stringify(subjects),
      ':held': JSON.stringify(held),
      ':perhaps': JSON.stringify(perhaps),
      ':own_object': own.slice(0, Math.max(0, own.lastIndexOf('#'))),
      ':own_name': own.slice(own.lastIndexOf('#') + 1),
      ':at_seq': at.seq,
      ':at_time': Date.parse(at.time),
      ':through': through,
      ':revision': revisionOf(sets),
    };
    try {
      const [objects, value] = this.#prepared(known);
      const answer = new Map(objects.all(values).map((row) => [String(row.object), Number(row.value)]));
      // Upwards from one of the objects.
      const object = pick(
        this.#random,
        this.#world.objects.filter((each) => namespaceOf(each) === known.join.namespace),
      );
      const [one] = value.all({ ...values, ':object': object });
      const both = [answer.get(object) ?? 0, Number(one?.value)];
      if (both[0] !== both[1])
        throw new JoinDifference(`${object} is ${both[0]} in the list, and ${both[1]} by itself`);
      return answer;
    } catch (error) {
      if (error instanceof JoinDifference || !(error instanceof Error)) throw error;
      return error.message.replace(/^no such table: .*/, "'not-ready: it has not begun'");
    }
  }

  #prepared(known: KnownJoin): readonly [StatementSync, StatementSync] {
    if (known.prepared !== undefined) return known.prepared;
    const prepared = [known.sql.objects, known.sql.value].map((sql) => {
      const statement = this.#database.prepare(sql);
      statement.setAllowUnknownNamedParameters(true);
      return statement;
    });
    const [objects = assert.fail(), value = assert.fail()] = prepared;
    known.prepared = [objects, value];
    return known.prepared;
  }
}

const conditionOf = (condition: Truth | undefined) => {
  if (condition === undefined) return {};
  const fixed = condition === 'undefined' ? {} : { context: { allowed: condition } };
  return { condition: { name: CONDITION.name, ...fixed } };
};

/** How many levels of containers are above an object, at most so many as there are containers. */
function levelsOf(grants: readonly NaiveGrant[]): (object: string) => number {
  const parents = Map.groupBy(
    grants.filter(({ relation }) => relation === 'parent'),
    ({ object }) => object,
  );
  return (object) => {
    const seen = new Set<string>();
    let [levels, level] = [0, [object]];
    for (; level.length > 0; levels += 1) {
      const above = level.flatMap((each) => (parents.get(each) ?? []).map(({ subject }) => subject));
      level = [...new Set(above)].filter((each) => !seen.has(each));
      for (const each of level) seen.add(each);
    }
    return levels - 1;
  };
}

export const WORLD_KINDS: readonly WorldKind[] = ['union', 'conditions', 'whole', 'trees', 'deep'];

/** Of a few seeds, none may have what a condition decides. */
const MANY = 20;

/** So many histories of each kind. */
export function testJoinedLists(seeds: number, steps: number): void {
  for (const kind of WORLD_KINDS) {
    it(`lists joined with a mirror are what the rules mean at the moment of the sets: ${kind}`, async (t) => {
      const counts = noCounts();
      for (let seed = 1; seed <= seeds; seed += 1) await JoinedHistory.run({ seed, kind, steps, counts });
      t.diagnostic(JSON.stringify(counts));
      for (const each of ['true', 'late', 'moments'] as const) assert.ok(counts[each] > 0, each);
      if (seeds < MANY) return;
      assert.equal(counts.undefined > 0, kind !== 'union');
      assert.ok(counts.open < counts.moments / 4);
    });
  }
}
