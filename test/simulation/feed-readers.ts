// The readers of a change feed, of a tenant of its own in which one client writes: some ask for pages, some follow,
// some under keys that are revoked meanwhile, and some take snapshots of the grants with a cursor. It keeps, whatever
// happens to owners, fronts and the store: what a reader is told is the part of the audit log that fits, in its order,
// without a gap, each change once, and in the end all of it; nothing that came after its revocation is told under a
// key; and a snapshot with what follows from its cursor is the state.

import { type FeedContent, type FeedFilter, feedMatcher, parseFeedContent } from '../../src/core/change-feed.ts';
import type { GrantdError } from '../../src/core/errors.ts';
import type { KeyId } from '../../src/core/ids.ts';
import { EVERY_SUBJECT, isRelationName, type Relation, type Tuple, tupleKey } from '../../src/core/tuples.ts';
import type { FeedBatch, FeedSubscription } from '../../src/front/changes.ts';
import { NO_RULES } from '../../src/rules/rule-set.ts';
import { RulesText } from '../../src/rules/rules-text.ts';
import type { AuditRecord } from '../../src/shard/shard.ts';
import { Caller, type Key, operated, type WorkloadPorts, type WorkloadTenant } from './caller.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { RunningFront } from './simulated-cluster.ts';

const WRITE_PAUSE_MS = [1, 60] as const;
const READ_PAUSE_MS = [1, 150] as const;
const RACE_PAUSE_MS = [200, 1500] as const;
const FOLLOW_PAUSE_MS = [100, 2000] as const;
const SNAPSHOT_PAUSE_MS = [1500, 5000] as const;
const SNAPSHOTS_MAX = 4;
/** Whoever follows and hears nothing for this long begins again: its front may be lost. */
const SILENCE_MS_MAX = 20_000;
const RETRY_MS = 200;
const FILTERS: readonly FeedFilter[] = [
  {},
  { relations: ['viewer'] },
  { actions: ['grant.revoked', 'namespace.created'] },
];

const ARCHIVED: string = 'archived';
const STATES: readonly Relation[] = [ARCHIVED].filter(isRelationName);

/** Written after a reader has read to the end: what was on its way for long. */
const UNKNOWN_WRITES_MAX = 3;

const placeOf = ({ seq, index }: { readonly seq: number; readonly index: number }): string => `${seq}.${index}`;

/** What one reader has been told: places of the changes that fit. */
class Told {
  readonly name: string;
  readonly filter: FeedFilter;
  readonly places: string[] = [];
  cursor: string | undefined;

  constructor(name: string, filter: FeedFilter) {
    this.name = name;
    this.filter = filter;
  }

  take({ changes, cursor }: FeedBatch): void {
    const fits = feedMatcher(this.filter) ?? (() => true);
    this.places.push(...changes.filter(fits).map(placeOf));
    this.cursor = cursor;
  }
}

interface Race {
  readonly keyId: string;
  readonly seqs: number[];
}

interface Snapshot {
  readonly grants: ReadonlySet<string>;
  /** What the feed told from the cursor on. */
  readonly after: Told;
}

interface Feed {
  readonly tenant: WorkloadTenant;
  readonly told: Told[];
  readonly races: Race[];
  readonly snapshots: Snapshot[];
}

/** Common to all that read. */
abstract class FeedCaller extends Caller {
  protected readonly feed: Feed;

  constructor(name: string, frontName: string, ports: WorkloadPorts, random: SeededRandom, feed: Feed) {
    super(name, frontName, ports, random);
    this.feed = feed;
  }

  protected note(error: GrantdError, what: string): void {
    this.undone(error, what, this.feed.tenant.index);
  }

  /** One page. False: it could not be read, or it is not known to be the end. */
  async readPage(told: Told, limit: number, waitMs: number): Promise<boolean> {
    const { tenant } = this.feed;
    const { filter, cursor } = told;
    const answer = await this.ask(tenant, tenant.key, (session, context) =>
      session.readChanges(context, { filter, cursor, limit, waitMs }),
    );
    if (answer.kind === 'error') this.note(answer.error, 'changes');
    if (answer.kind !== 'value') return false;
    told.take(answer.value);
    return answer.value.atEnd;
  }

  async readToEnd(told: Told): Promise<void> {
    while (!(await this.readPage(told, 100, 0))) await this.ports.cluster.scheduler.sleep(RETRY_MS);
  }
}

/** Writes, so that there is something to tell: once there are rules, states of objects, too. */
class FeedWriter extends FeedCaller {
  #made = 0;
  #hasRules = false;

  run(endMs: number): Promise<void> {
    return this.repeat(endMs, WRITE_PAUSE_MS);
  }

  protected override async step(): Promise<void> {
    const { tenant } = this.feed;
    const { front } = this;
    if (!this.#hasRules && this.random.chance(0.1)) return this.#writeRules();
    const other = this.ports.cluster.fronts.get(`front-${this.random.whole(0, this.ports.profile.fronts - 1)}`);
    const kind = this.random.weighted({ toggle: 10, several: 3, bulk: 2, namespace: 1 });
    const tuple = this.#tuple();
    const answer = await this.ask(
      tenant,
      tenant.key,
      async (session, context) => {
        if (kind === 'namespace') return session.call('createNamespace', context, `extra${this.#next()}`);
        const revoke = this.random.chance(0.4);
        if (kind === 'toggle') return session.call('writeGrants', context, [{ ...tuple, revoke }]);
        const tuples = [tuple, this.#tuple(), this.#tuple()];
        const distinct = [...new Map(tuples.map((each) => [tupleKey(each), each])).values()];
        if (kind === 'several')
          return session.call(
            'writeGrants',
            context,
            distinct.map((each) => ({ ...each, revoke })),
          );
        return session.call('writeBulk', context, { grants: distinct, revocations: [], preconditions: [] });
      },
      other ?? front,
    );
    if (answer.kind === 'error') this.note(answer.error, kind);
  }

  async #writeRules(): Promise<void> {
    const { tenant } = this.feed;
    const rules = RulesText.of({ ...NO_RULES, states: STATES });
    const answer = await this.ask(tenant, tenant.key, (session, context) =>
      session.call('writeRules', context, { rules, ifMatch: undefined, outsideTypes: undefined }),
    );
    if (answer.kind === 'error') this.note(answer.error, 'rules');
    this.#hasRules = answer.kind === 'value';
  }

  #next(): number {
    this.#made += 1;
    return this.#made;
  }

  #tuple(): Tuple {
    const { index } = this.feed.tenant;
    const number = this.random.chance(0.3) ? this.#next() : this.random.whole(1, 4);
    const [state] = STATES;
    if (this.#hasRules && state !== undefined && this.random.chance(0.3)) {
      return { subject: EVERY_SUBJECT, relation: state, object: `doc${index}:o${number}` };
    }
    return {
      subject: `user${index}:s${this.random.whole(1, 2)}`,
      relation: this.random.chance(0.7) ? 'viewer' : 'editor',
      object: `doc${index}:o${number}`,
    };
  }
}

/** Asks for one page after the other; at the end some of them wait. */
class PageReader extends FeedCaller {
  readonly told = new Told(this.name, this.random.pick(FILTERS));

  run(endMs: number): Promise<void> {
    this.feed.told.push(this.told);
    return this.repeat(endMs, READ_PAUSE_MS);
  }

  protected override async step(): Promise<void> {
    await this.readPage(this.told, this.random.pick([1, 3, 100]), this.random.pick([0, 0, 300, 5000]));
  }
}

/** Follows, now and then too slowly, and begins again where it was when its front, or its subscription, has ended. */
class FollowingReader extends FeedCaller {
  readonly told = new Told(this.name, this.random.pick(FILTERS));
  #front: RunningFront | undefined;
  #subscription: FeedSubscription | undefined;
  /** Only the last subscription counts. */
  #generation = 0;

  run(endMs: number): Promise<void> {
    this.feed.told.push(this.told);
    return this.repeat(endMs, FOLLOW_PAUSE_MS).then(() => this.#leave());
  }

  protected override async step(): Promise<void> {
    const { scheduler } = this.ports.cluster;
    const silentMs = scheduler.nowMs - this.#heardAtMs;
    const isLost = this.#front === undefined || this.#front !== this.front || silentMs > SILENCE_MS_MAX;
    if (!isLost && !this.random.chance(0.05)) return;
    this.#leave();
    await this.#follow();
  }

  #heardAtMs = 0;

  async #follow(): Promise<void> {
    const { told, front } = this;
    const { tenant } = this.feed;
    const { scheduler } = this.ports.cluster;
    const generation = this.#generation;
    const isOld = (): boolean => generation !== this.#generation;
    this.#front = front;
    this.#heardAtMs = scheduler.nowMs;
    const answer = await this.ask(tenant, tenant.key, (session) =>
      session.followChanges({ cursor: told.cursor }, told.filter, {
        take: (batch) => {
          if (isOld()) return true;
          told.take(batch);
          this.#heardAtMs = scheduler.nowMs;
          if (!this.random.chance(0.1)) return true;
          scheduler.after(this.random.between(1, 3000), () => front?.process.deliver(() => this.#resume(generation)));
          return false;
        },
        end: (error) => {
          if (error !== undefined) this.note(error, 'follow');
          if (!isOld()) this.#leave();
        },
      }),
    );
    if (answer.kind === 'error') this.note(answer.error, 'follow');
    if (answer.kind === 'value' && !isOld()) this.#subscription = answer.value;
    else if (!isOld()) this.#leave();
  }

  #resume(generation: number): void {
    if (generation === this.#generation) this.#subscription?.resume();
  }

  #leave(): void {
    const { process } = this.#front ?? {};
    const subscription = this.#subscription;
    process?.deliver(() => subscription?.close());
    this.#generation += 1;
    this.#front = undefined;
    this.#subscription = undefined;
  }
}

/** Follows under a key that is revoked, perhaps over another front. */
class KeyRacer extends FeedCaller {
  #made = 0;

  run(endMs: number): Promise<void> {
    return this.repeat(endMs, RACE_PAUSE_MS);
  }

  protected override async step(): Promise<void> {
    const { tenant, races } = this.feed;
    const { scheduler } = this.ports.cluster;
    this.#made += 1;
    const name = `${this.name}-${this.#made}`;
    const made = await this.ask(tenant, tenant.key, (session, context) =>
      session.createKey(context, { name, scopes: 7, expiresAtMs: undefined }),
    );
    if (made.kind !== 'value') return;
    const { record, text } = made.value;
    const race: Race = { keyId: record.keyId, seqs: [] };
    races.push(race);
    const key: Key = { keyId: record.keyId, text };
    const followed = await this.ask(tenant, key, (session) =>
      session.followChanges(
        { since: 'now' },
        {},
        {
          take: ({ changes }) => {
            race.seqs.push(...changes.map(({ seq }) => seq));
            return true;
          },
          end: (error) => {
            if (error !== undefined) this.note(error, 'follow');
          },
        },
      ),
    );
    await scheduler.sleep(this.random.between(0, 1500));
    await this.ask(tenant, tenant.key, (session, context) => session.call('revokeKey', context, record.keyId as KeyId));
    await scheduler.sleep(this.random.between(0, 1500));
    if (followed.kind === 'value') this.front?.process.deliver(() => followed.value.close());
  }
}

/** Exports all grants, and remembers the cursor of the first page. */
class SnapshotTaker extends FeedCaller {
  run(endMs: number): Promise<void> {
    return this.repeat(endMs, SNAPSHOT_PAUSE_MS);
  }

  protected override async step(): Promise<void> {
    const { tenant, snapshots } = this.feed;
    if (snapshots.length >= SNAPSHOTS_MAX) return;
    const grants = new Set<string>();
    let start: string | undefined;
    for (let cursor: string | undefined; ; ) {
      const query = { limit: 3, cursor };
      const answer = await this.ask(tenant, { operator: this.name }, (session, context) =>
        operated(session).call('exportGrants', context, query),
      );
      if (answer.kind !== 'value') return;
      start ??= answer.value.feedCursor;
      for (const grant of answer.value.items) grants.add(tupleKey(grant));
      cursor = answer.value.nextCursor;
      if (cursor === undefined) break;
    }
    if (start === undefined) {
      this.ports.report('a page of an export has no cursor of the feed');
      return;
    }
    const after = new Told(`after a snapshot of ${this.name}`, {});
    after.cursor = start;
    snapshots.push({ grants, after });
  }
}

export class FeedReaders {
  readonly #feed: Feed;
  readonly #ports: WorkloadPorts;
  readonly #callers: readonly (FeedCaller & { run(endMs: number): Promise<void> })[];
  readonly #last: PageReader;

  constructor(tenant: WorkloadTenant, ports: WorkloadPorts, random: SeededRandom) {
    const feed: Feed = { tenant, told: [], races: [], snapshots: [] };
    this.#feed = feed;
    this.#ports = ports;
    const of = (name: string) => [ports, random.fork(name), feed] as const;
    const fronts = Array.from({ length: ports.profile.fronts }, (_, index) => `front-${index}`);
    this.#last = new PageReader('last-reader', 'front-0', ...of('last'));
    this.#callers = [
      new FeedWriter('feed-writer', 'front-0', ...of('writer')),
      new SnapshotTaker('snapshot-taker', 'console', ...of('snapshots')),
      ...fronts.flatMap((front) => [
        new PageReader(`page-reader ${front}`, front, ...of(`pages ${front}`)),
        new FollowingReader(`follower ${front}`, front, ...of(`follower ${front}`)),
        new KeyRacer(`key-racer ${front}`, front, ...of(`races ${front}`)),
      ]),
    ];
  }

  get answered(): number {
    return this.#feed.told.reduce((sum, { places }) => sum + places.length, 0);
  }

  async run(endMs: number): Promise<void> {
    await Promise.all(this.#callers.map((caller) => caller.run(endMs)));
  }

  /** Once everything is whole again, every reader gets to the end. */
  async readToEnd(): Promise<void> {
    for (const told of this.#feed.told) await this.#last.readToEnd(told);
    for (const { after } of this.#feed.snapshots) await this.#last.readToEnd(after);
  }

  /** `rows`: the audit log, read after that. */
  judge(rows: readonly AuditRecord[]): void {
    const changes = rows.flatMap((row) => {
      const change = parseFeedContent(row.change);
      return change === undefined ? [] : [{ place: placeOf(row), change }];
    });
    for (const { name, filter, places } of this.#feed.told) {
      const fits = feedMatcher(filter) ?? (() => true);
      const expected = changes.filter(fits).map(({ place }) => place);
      this.#compare(name, places, expected);
    }
    this.#judgeSnapshots(changes);
    for (const { keyId, seqs } of this.#feed.races) {
      const revoked = rows.find(({ change }) => change.startsWith('{"action":"key.revoked"') && change.includes(keyId));
      const late = seqs.find((seq) => revoked !== undefined && seq >= revoked.seq);
      if (late === undefined) continue;
      this.#ports.report(`under the key ${keyId}, revoked at ${revoked?.seq}, a change of seq ${late} was told`);
    }
  }

  /** A write whose outcome nobody waits for may come after the reader has ended. */
  #compare(name: string, places: readonly string[], expected: readonly string[]): void {
    const differs = places.findIndex((place, index) => place !== expected[index]);
    if (differs < 0 && places.length >= expected.length - UNKNOWN_WRITES_MAX) return;
    const at = differs < 0 ? places.length : differs;
    this.#ports.report(
      `${name} was told ${places.length} changes of ${expected.length}; change ${at} is ${places[at]} and not ${expected[at]}`,
    );
  }

  /** Each snapshot with what the feed told after it is the state that the log makes by then. */
  #judgeSnapshots(changes: readonly PlacedChange[]): void {
    const byPlace = new Map(changes.map((each, index) => [each.place, { ...each, index }]));
    for (const { grants, after } of this.#feed.snapshots) {
      const told = after.places.map((place) => byPlace.get(place)).filter((each) => each !== undefined);
      const last = told.at(-1);
      if (last === undefined) continue;
      const state = apply(new Set(grants), told);
      const expected = apply(new Set(), changes.slice(0, last.index + 1));
      const [different] = state.symmetricDifference(expected);
      if (different !== undefined) this.#ports.report(`${after.name}, the feed makes another state: ${different}`);
    }
  }
}

interface PlacedChange {
  readonly place: string;
  readonly change: FeedContent;
}

/** The grants after these changes. */
function apply(state: Set<string>, changes: readonly PlacedChange[]): ReadonlySet<string> {
  for (const { change } of changes) {
    if (!('grant' in change)) continue;
    if (change.action === 'grant.created' || change.action === 'grant.updated') state.add(tupleKey(change.grant));
    else state.delete(tupleKey(change.grant));
  }
  return state;
}
