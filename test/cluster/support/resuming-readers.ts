// Readers of what changes, killed and started again all the time: of the change feeds of tenants, of copies of their
// grants made from a snapshot and the feed, and of the export of the audit log. In the end each has seen exactly what
// the audit log has. A reader that is killed goes on from the last cursor that it has stored, as a program would.

import assert from 'node:assert/strict';
import { FEED_ACTIONS } from '../../../src/core/change-feed.ts';
import { waitFor } from '../../kit/wait-for.ts';
import type { OperatorClient, TenantWithKey } from './operator-client.ts';

/** Changes that a reader takes before it is killed: most of the time it is killed within a page. */
const CHANGES_PER_LIFE_MAX = 8;
/** A reader that gets nothing is killed after this time, too. */
const LIFE_MS_MAX = 400;
/** Between two attempts while nobody answers. */
const PAUSE_MS = 50;

interface Tuple {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

interface Change {
  readonly seq: number;
  readonly index: number;
  readonly action: string;
  readonly grant?: Tuple;
}

interface AuditEntry {
  readonly tenant_id?: string;
  readonly seq: number;
  readonly index: number;
  readonly change: { readonly action: string };
}

const random = (max: number): number => Math.floor(Math.random() * max);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const placeOf = ({ seq, index }: { readonly seq: number; readonly index: number }): string => `${seq}.${index}`;
const tupleText = ({ subject, relation, object }: Tuple): string => `${subject}\t${relation}\t${object}`;

/** One reader of a feed; `held`: its copy of the grants, if it keeps one. */
class FeedReader {
  /** The places and actions of what it has stored. */
  readonly told: string[] = [];
  readonly held: Set<string> | undefined;
  lives = 0;
  /** Changes that came although they had been stored. */
  repeated = 0;
  #cursor: string | undefined;
  #last: { readonly seq: number; readonly index: number } = { seq: 0, index: -1 };
  readonly #url: () => string;
  readonly #key: string;

  constructor(url: () => string, key: string, snapshot?: { readonly cursor: string; readonly grants: Set<string> }) {
    this.#url = url;
    this.#key = key;
    this.#cursor = snapshot?.cursor;
    this.held = snapshot?.grants;
  }

  /** One life: a stream from the stored cursor on, until it is killed or breaks off. */
  async live(): Promise<void> {
    const killed = new AbortController();
    const timer = setTimeout(() => killed.abort(), random(LIFE_MS_MAX));
    let left = 1 + random(CHANGES_PER_LIFE_MAX);
    try {
      const query = this.#cursor === undefined ? '' : `?cursor=${this.#cursor}`;
      const response = await fetch(`${this.#url()}/v1/changes${query}`, {
        headers: { Authorization: `Bearer ${this.#key}`, Accept: 'application/x-ndjson' },
        signal: killed.signal,
      });
      if (response.status !== 200) {
        assert.ok([429, 503].includes(response.status), `${response.status} ${await response.text()}`);
        throw new Error('Nobody answers now.');
      }
      this.lives += 1;
      let text = '';
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        const lines = text.split('\n');
        text = lines.pop() ?? '';
        for (const line of lines) {
          if (left === 0) return;
          left -= this.#store(JSON.parse(line)) ? 1 : 0;
        }
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      await pause(PAUSE_MS);
    } finally {
      clearTimeout(timer);
      killed.abort();
    }
  }

  /** Whether it was a change. What it did and the cursor after it are stored together. */
  #store(line: { readonly type: string; readonly cursor: string; readonly change?: Change }): boolean {
    this.#cursor = line.cursor;
    const { change } = line;
    if (change === undefined) return false;
    const { seq, index, action, grant } = change;
    if (seq < this.#last.seq || (seq === this.#last.seq && index <= this.#last.index)) {
      this.repeated += 1;
      return true;
    }
    this.#last = { seq, index };
    this.told.push(`${placeOf(change)} ${action}`);
    if (grant !== undefined && action === 'grant.created') this.held?.add(tupleText(grant));
    if (grant !== undefined && (action === 'grant.revoked' || action === 'grant.expired')) {
      this.held?.delete(tupleText(grant));
    }
    return true;
  }
}

/** The reader of the export: killed, it loses a page that it has not stored. */
class ExportReader {
  readonly told = new Map<string, string[]>();
  lives = 0;
  readonly #operator: OperatorClient;
  #cursor: string | undefined;

  constructor(operator: OperatorClient) {
    this.#operator = operator;
  }

  async live(): Promise<void> {
    const from = this.#cursor === undefined ? '' : `&cursor=${this.#cursor}`;
    const page = await this.#operator.read(`/audit-log?wait=1${from}`);
    this.lives += 1;
    // A page that was received and not stored.
    if (random(2) === 0) return;
    this.#cursor = page.next_cursor;
    for (const entry of page.entries as readonly AuditEntry[]) {
      const told = this.told.get(entry.tenant_id ?? '') ?? [];
      this.told.set(entry.tenant_id ?? '', told);
      told.push(`${placeOf(entry)} ${entry.change.action}`);
    }
  }
}

export class ResumingReaders {
  readonly #operator: OperatorClient;
  readonly #tenants: readonly TenantWithKey[];
  readonly #feeds: readonly FeedReader[];
  readonly #copies: readonly FeedReader[];
  readonly #export: ExportReader;
  readonly #running: Promise<unknown>;
  #stopped = false;

  /** `url`: where a life begins. */
  static async start(
    operator: OperatorClient,
    url: () => string,
    tenants: readonly TenantWithKey[],
  ): Promise<ResumingReaders> {
    const copies = await Promise.all(
      tenants.map(async ({ tenantId, key }) => {
        const { text, cursor } = await operator.readExport(tenantId);
        return new FeedReader(url, key, { cursor, grants: new Set(text.split('\n').filter((line) => line !== '')) });
      }),
    );
    return new ResumingReaders(operator, url, tenants, copies);
  }

  private constructor(
    operator: OperatorClient,
    url: () => string,
    tenants: readonly TenantWithKey[],
    copies: readonly FeedReader[],
  ) {
    this.#operator = operator;
    this.#tenants = tenants;
    this.#copies = copies;
    this.#feeds = tenants.map(({ key }) => new FeedReader(url, key));
    this.#export = new ExportReader(operator);
    this.#running = Promise.all([...this.#feeds, ...this.#copies, this.#export].map((reader) => this.#run(reader)));
    // Reported when it is waited for.
    this.#running.catch(() => {});
  }

  async #run(reader: FeedReader | ExportReader): Promise<void> {
    while (!this.#stopped) await reader.live();
  }

  /** How often readers of feeds were killed and started again. */
  get lives(): number {
    return [...this.#feeds, ...this.#copies].reduce((sum, { lives }) => sum + lives, 0);
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Call it once nobody writes any more: waits until all have caught up, and compares. Returns what to report. */
  async compare(): Promise<string> {
    const logs = new Map<string, readonly string[]>();
    for (const { tenantId } of this.#tenants) logs.set(tenantId, await this.#auditLog(tenantId));
    const isTold = (place: string): boolean => FEED_ACTIONS.some((action) => place.endsWith(` ${action}`));
    const feeds = this.#tenants.map(({ tenantId }) => (logs.get(tenantId) ?? []).filter(isTold));
    const hasEnd = (reader: FeedReader | undefined, feed: readonly string[]) => reader?.told.at(-1) === feed.at(-1);
    let failure: unknown;
    this.#running.catch((error) => {
      failure = error;
    });
    await waitFor('all readers to catch up', () => {
      if (failure !== undefined) throw failure;
      return (
        feeds.every((feed, at) => hasEnd(this.#feeds[at], feed) && hasEnd(this.#copies[at], feed)) &&
        [...logs].every(([tenantId, log]) => this.#export.told.get(tenantId)?.at(-1) === log.at(-1))
      );
    });
    this.stop();
    await this.#running;
    for (const [at, { tenantId }] of this.#tenants.entries()) {
      assert.deepEqual(this.#feeds[at]?.told, feeds[at], `the feed of ${tenantId}`);
      assert.deepEqual(this.#export.told.get(tenantId), logs.get(tenantId), `the export of ${tenantId}`);
      const { text } = await this.#operator.readExport(tenantId);
      const grants = text.split('\n').filter((line) => line !== '');
      assert.deepEqual([...(this.#copies[at]?.held ?? [])].sort(), grants.toSorted(), `the copy of ${tenantId}`);
    }
    const changes = feeds.reduce((sum, feed) => sum + feed.length, 0);
    const repeated = [...this.#feeds, ...this.#copies].reduce((sum, reader) => sum + reader.repeated, 0);
    return `${this.lives} lives of readers of ${this.#tenants.length} feeds, ${changes} changes, ${repeated} repeated; ${this.#export.lives} lives of the export`;
  }

  async #auditLog(tenantId: string): Promise<readonly string[]> {
    const places: string[] = [];
    let cursor = '';
    do {
      const page = await this.#operator.read(`/tenants/${tenantId}/audit-log?limit=1000${cursor}`);
      places.push(...page.entries.map((entry: AuditEntry) => `${placeOf(entry)} ${entry.change.action}`));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    return places;
  }
}
