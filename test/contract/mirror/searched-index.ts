// An index of a real OpenSearch, with the documents of an application, whose sets are kept from a scripted history.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import type { JoinSet, MirroredGrant } from '../../../packages/sync/src/mirror.ts';
import { runMirror } from '../../../packages/sync/src/run-mirror.ts';
import { SearchIndex } from '../../../packages/sync/src/search-index.ts';
import { searchQuery } from '../../../packages/sync/src/search-sets.ts';
import { SearchSink } from '../../../packages/sync/src/search-sink.ts';
import { SqlMirror } from '../../../packages/sync/src/sql-mirror.ts';
import { SqliteDatabase } from '../../../packages/sync/src/sqlite-database.ts';
import type { Join } from '../../../src/rules/join.ts';
import { type OpenSearchServer, startOpenSearch } from '../../../tools/engines/opensearch.ts';
import { useDirectory } from '../../kit/directory.ts';
import { NaiveJoin, type NaiveSets, searchTerms } from '../../kit/naive-join.ts';
import { joinsOf, ScriptedHistory } from './scripted-history.ts';

const PAIRS = ['document:parent', 'document:viewer', 'folder:parent', 'folder:viewer'];
const IDS = ['1', "it's", 'ü'];
const setsOf = (sets: Partial<NaiveSets>): NaiveSets => ({ subjects: [], held: [], perhaps: [], own: '', ...sets });
/** Each in few sets: so what is missing is seen. */
export const SUBJECTS: readonly NaiveSets[] = [
  ...['user:ada', 'user:bob', 'team:x#member'].map((subject) => setsOf({ subjects: [subject] })),
  setsOf({ subjects: ['user:eve'], perhaps: ['team:x#member'] }),
];
/** Mostly folders that move, and what is granted on them. */
const TEXTS = {
  objects: ['document:1', "document:it's", 'document:ü', 'folder:1', 'folder:2', 'folder:3'],
  subjects: ['user:ada', 'user:bob', 'team:x#member', 'folder:1', 'folder:2', 'folder:3'],
};

/** A server for the tests of a suite, with paths of files for their mirrors. */
export function useOpenSearch() {
  let server: OpenSearchServer | undefined;
  const directory = useDirectory();
  before(async () => {
    server = await startOpenSearch();
  });
  after(() => server?.[Symbol.asyncDispose]());
  return {
    get url(): string {
      return server?.url ?? '';
    },
    file: (name: string): string => join(directory, `${name}.db`),
  };
}

export const historyOf = (seed: number, commits: number): ScriptedHistory =>
  new ScriptedHistory(seed, commits, joinSet('r1'), TEXTS);

/** Two folders, of which ada and bob are viewers, and one that `move` puts into one of them, with a document. */
export function folders(): { readonly history: ScriptedHistory; move(): void } {
  const history = new ScriptedHistory(1, 0, joinSet('r1'), { objects: ['note:1'], subjects: ['user:eve'] });
  const places = [2, 3].map((folder) => `folder:1 parent folder:${folder}`);
  history.commitTexts(['folder:2 viewer user:ada', 'folder:3 viewer user:bob', 'document:1 parent folder:1']);
  return {
    history,
    move() {
      places.reverse();
      history.commitTexts(places.slice(1), places.slice(0, 1));
    },
  };
}

const from = [{ relation: 'parent', names: ['viewer'] }];

/** Viewers, also of the folders above, but not those that a document has as its parent. */
export function joinSet(revision: string, change: Partial<Join> = {}): JoinSet {
  const { joins } = joinsOf(revision, PAIRS);
  return {
    revision,
    joins: joins.map(({ id, join }) => ({
      id,
      join: {
        ...join,
        atoms: { a: { relations: ['viewer'], own: [], from }, b: { relations: ['parent'], own: [], from: [] } },
        formula: { all_of: ['a'], none_of: ['b'] },
        nesting: [{ namespace: 'folder', name: 'viewer', relations: ['viewer'], own: [], from }],
        ...change,
      },
    })),
  };
}

export interface Keeper {
  readonly file: string;
  readonly history: ScriptedHistory;
  readonly holder?: string;
  readonly fetch?: typeof fetch;
  readonly nowMs?: () => number;
  /** After each page that is applied, and written. */
  readonly onPage?: (seq: number) => Promise<void>;
}

export class SearchedIndex {
  readonly name: string;
  readonly url: string;

  constructor(url: string, name: string) {
    this.url = url;
    this.name = name;
  }

  async call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  }

  /** An index with documents that the application has. */
  async create(): Promise<void> {
    await this.call('PUT', `/${this.name}`, { settings: { number_of_replicas: 0 } });
    for (const id of IDS)
      await this.call('PUT', `/${this.name}/_doc/${encodeURIComponent(id)}?refresh=true`, { title: id });
  }

  async search(sets: NaiveSets, { joins }: JoinSet): Promise<readonly string[]> {
    const terms = searchTerms(sets);
    const [first] = joins;
    assert.ok(first);
    const filled: unknown = JSON.parse(JSON.stringify(searchQuery(first)), (_, value: unknown) =>
      value === '$sets' ? terms.sets : value === '$sure' ? terms.sure : value,
    );
    await this.call('POST', `/${this.name}/_refresh`);
    const { hits } = await this.call('POST', `/${this.name}/_search`, {
      query: { bool: { filter: [filled] } },
      size: 100,
    });
    return (hits as { hits: { _id: string }[] }).hits.map(({ _id }) => _id).sort();
  }

  async compare(history: ScriptedHistory, seq: number, what: string): Promise<void> {
    const grants = history.stateAt(seq, PAIRS).map(({ conditional, ...grant }: MirroredGrant) => ({
      ...grant,
      ...(conditional && { condition: 'undefined' as const }),
    }));
    for (const sets of SUBJECTS) {
      const [first] = history.joinSet.joins;
      assert.ok(first);
      const naive = new NaiveJoin(first.join, grants, sets);
      const wanted = IDS.filter((id) => naive.truthOf(`document:${id}`) !== false);
      assert.deepEqual(await this.search(sets, history.joinSet), wanted.sort(), `${what}, entry ${seq}`);
    }
  }

  /** To the end of the history. */
  async keep({ history, holder = 'first', onPage, ...options }: Keeper): Promise<string> {
    const database = new SqliteDatabase(options.file);
    const mirror = new SqlMirror(database);
    const ended = new AbortController();
    let notes = '';
    const note = (text: string): void => {
      notes += `${text}\n`;
    };
    const nowMs = options.nowMs ?? Date.now;
    const index = new SearchIndex({ url: this.url, index: this.name, ...(options.fetch && { fetch: options.fetch }) });
    const sink = new SearchSink(index, { holder, nowMs, note, written: () => undefined });
    history.onEnd = () => ended.abort();
    history.beforePage = async () => {
      const state = await mirror.state();
      if (state !== undefined) await onPage?.(state.seq);
    };
    const watch = { note: () => undefined, loaded: () => undefined, followed: () => undefined };
    try {
      await runMirror({ source: history, mirror, sink, signal: ended.signal, nowMs, watch });
    } finally {
      await database.close();
    }
    return notes;
  }

  /** The document with its place. */
  async place(): Promise<Readonly<Record<string, unknown>>> {
    const { _source } = await this.call('GET', `/grantd-sync/_doc/${this.name}`);
    return _source as Record<string, unknown>;
  }
}
