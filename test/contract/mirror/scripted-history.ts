// A history of grants, and the service as a mirror reads it: commits go on while pages are read, a page ends within an
// entry or brings a change again, and now and then rules change or the feed is lost.

import {
  type ChangesPage,
  CursorLost,
  type JoinSet,
  type MirrorChange,
  type MirroredGrant,
  type MirrorSource,
  RelationGone,
  type SnapshotPage,
} from '../../../packages/sync/src/mirror.ts';
import { namespaceOf } from '../../../src/core/tuples.ts';
import { randomOf } from '../../unit/rules/random-rules.ts';

/** What grants are drawn from. */
export interface HistoryTexts {
  readonly objects: readonly string[];
  readonly subjects: readonly string[];
}

const TEXTS: HistoryTexts = {
  objects: ['document:1', "document:it's", 'document:ü', 'folder:1', 'note:1'],
  subjects: ['user:ada', 'user:*', 'team:x#member', '*', 'folder:1'],
};
const RELATIONS = ['viewer', 'parent'];
const SNAPSHOT_LIMIT = 3;

const keyOf = ({ object, relation, subject }: MirroredGrant): string => [object, relation, subject].join(' ');
const compare = (left: string, right: string): number => (left < right ? -1 : left === right ? 0 : 1);

export const joinsOf = (revision: string, pairs: readonly string[]): JoinSet => ({
  revision,
  joins: [
    {
      id: 'document.can_read',
      join: {
        namespace: 'document',
        name: 'can_read',
        groups: true,
        public: ['user'],
        mirror: pairs.map((pair) => ({ namespace: namespaceOf(pair), relations: [pair.slice(pair.indexOf(':') + 1)] })),
        atoms: { a: { relations: ['viewer'], own: [], from: [] } },
        formula: 'a',
        nesting: [],
        ask: [],
        depth_max: 25,
      },
    },
  ],
});

export class ScriptedHistory implements MirrorSource {
  readonly #texts: HistoryTexts;
  readonly #random: (count: number) => number;
  readonly #changes: (MirrorChange & { readonly rules?: true })[] = [];
  readonly #states: { readonly seq: number; readonly grants: readonly MirroredGrant[] }[] = [{ seq: 0, grants: [] }];
  readonly #grants = new Map<string, MirroredGrant>();
  joinSet: JoinSet;
  seq = 0;
  /** Commits to come. */
  left: number;
  snapshots = 0;
  /** The next page of changes is refused; `foreign`: as that of another tenant or store. */
  lost: 'old' | 'foreign' | undefined;
  /** Pairs that rules no longer have. */
  gone: readonly string[] = [];
  /** Awaited before each page of changes: nothing is in a transaction then. */
  beforePage: () => Promise<void> = async () => undefined;
  /** Called when nothing more will come. */
  onEnd: () => void = () => undefined;
  #idle = 0;

  constructor(seed: number, commits: number, joins: JoinSet, texts: HistoryTexts = TEXTS) {
    this.#texts = texts;
    this.#random = randomOf(seed);
    this.joinSet = joins;
    this.left = commits;
    for (let count = 0; count < 5; count += 1) this.commit();
  }

  /** The grants after an entry. */
  stateAt(seq: number, pairs: readonly string[]): readonly MirroredGrant[] {
    const state = this.#states.findLast((each) => each.seq <= seq);
    return (state?.grants ?? []).filter((grant) => pairs.includes(`${namespaceOf(grant.object)}:${grant.relation}`));
  }

  /** The last entry up to `seq` that changed one of the pairs. */
  through(seq: number, pairs: readonly string[]): number {
    return this.#changes.findLast((each) => each.seq <= seq && this.#passes(each, pairs))?.seq ?? 0;
  }

  changeRules(joins: JoinSet): void {
    this.joinSet = joins;
    this.seq += 1;
    const grant = { object: '', relation: '', subject: '', expires_at: null, conditional: false };
    this.#changes.push({ seq: this.seq, grant, isThere: false, rules: true });
  }

  commit(): void {
    const random = this.#random;
    const pick = (texts: readonly string[]): string => texts[random(texts.length)] ?? '';
    this.seq += 1 + random(3);
    for (let count = random(5); count > 0; count -= 1) {
      const terms = { expires_at: random(3) === 0 ? 1000 + random(9) : null, conditional: random(4) === 0 };
      const { objects, subjects } = this.#texts;
      const drawn = { object: pick(objects), relation: pick(RELATIONS), subject: pick(subjects), ...terms };
      this.#change(drawn, random(2) === 0 || !this.#grants.has(keyOf(drawn)));
    }
    this.#states.push({ seq: this.seq, grants: [...this.#grants.values()] });
  }

  /** An entry with these grants, and without those. */
  commitTexts(granted: readonly string[], revoked: readonly string[] = []): void {
    this.seq += 1;
    for (const [index, text] of [...granted, ...revoked].entries()) {
      const [object = '', relation = '', subject = ''] = text.split(' ');
      this.#change({ object, relation, subject, expires_at: null, conditional: false }, index < granted.length);
    }
    this.#states.push({ seq: this.seq, grants: [...this.#grants.values()] });
  }

  #change(grant: MirroredGrant, isThere: boolean): void {
    if (isThere) this.#grants.set(keyOf(grant), grant);
    else this.#grants.delete(keyOf(grant));
    this.#changes.push({ seq: this.seq, grant, isThere });
  }

  #commitSome(): void {
    for (let count = Math.min(this.left, this.#random(3)); count > 0; count -= 1) {
      this.commit();
      this.left -= 1;
    }
  }

  async joins(): Promise<JoinSet> {
    return this.joinSet;
  }

  async snapshot(pairs: readonly string[], cursor: string | undefined): Promise<SnapshotPage> {
    this.#idle = 0;
    if (cursor === undefined) this.snapshots += 1;
    else this.#commitSome();
    const rest = this.stateAt(this.seq, pairs)
      .toSorted((left, right) => compare(keyOf(left), keyOf(right)))
      .filter((grant) => cursor === undefined || keyOf(grant) > cursor);
    const grants = rest.slice(0, SNAPSHOT_LIMIT);
    const last = grants.at(-1);
    const next = rest.length > SNAPSHOT_LIMIT && last !== undefined ? keyOf(last) : undefined;
    return { grants, seq: this.seq, feed: String(this.#changes.length), next };
  }

  async changes(pairs: readonly string[], cursor: string): Promise<ChangesPage | undefined> {
    const random = this.#random;
    await this.beforePage();
    if (pairs.some((pair) => this.gone.includes(pair))) throw new RelationGone(this.gone.join());
    if (this.lost !== undefined) {
      const isForeign = this.lost === 'foreign';
      this.lost = undefined;
      throw new CursorLost('It is lost.', isForeign);
    }
    this.#commitSome();
    // What was lost on the way comes again.
    const from = Math.max(0, Number(cursor) - (random(4) === 0 ? random(6) : 0));
    const end = Math.min(this.#changes.length, from + 1 + random(6));
    const page = this.#changes.slice(from, end);
    const isEnd = end === this.#changes.length;
    this.#idle = isEnd && this.left === 0 && from === end ? this.#idle + 1 : 0;
    if (this.#idle > 1) {
      this.onEnd();
      return undefined;
    }
    const nextSeq = this.#changes[end]?.seq ?? this.seq + 1;
    return {
      changes: page.filter((change) => this.#passes(change, pairs)),
      seq: nextSeq - 1,
      cursor: String(end),
      rules: page.some(({ rules }) => rules === true),
      atMs: undefined,
    };
  }

  #passes({ grant, rules }: MirrorChange & { readonly rules?: true }, pairs: readonly string[]): boolean {
    return rules !== true && pairs.includes(`${namespaceOf(grant.object)}:${grant.relation}`);
  }
}
