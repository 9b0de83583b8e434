// An index of OpenSearch or Elasticsearch, over what their APIs have in common: the sets in its documents, and the
// place that they have reached, which is a document of an index of its own. Invariant: nothing is written over what has
// been written since it was read.

import { boundBody } from '../../../src/core/bounded-body.ts';
import { type CliFailure, reasonOf } from '../../cli/src/failures.ts';
import { asRecord, type JsonRecord, parseJson, recordsOf, textOf } from '../../cli/src/output/json-view.ts';
import { SyncFailure } from './mirror.ts';
import { FIELD } from './search-sets.ts';

export interface SearchAddress {
  readonly url: string;
  readonly index: string;
  /** The header; undefined: none. */
  readonly authorization?: string | undefined;
  readonly fetch?: typeof fetch;
}

/** As it was read: another write makes it another one. */
interface Version {
  readonly seqNo: number;
  readonly primaryTerm: number;
}

export interface IndexedDocument extends Version {
  readonly id: string;
  /** Undefined: it has no sets. */
  readonly generation: unknown;
  readonly seq: number;
}

export interface SearchPlace {
  readonly generation: string;
  readonly seq: number;
  readonly revision: string;
  /** Whether every document has sets of this generation. */
  readonly ready: boolean;
  readonly holder: string;
  /** From which the sets follow, in JSON. */
  readonly joins: string;
  readonly queries: Readonly<Record<string, unknown>>;
}

const PLACES = 'grantd-sync';
const TIMEOUT_MS = 30_000;
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;
const BULK_LENGTH_MAX = 4 * 1024 * 1024;
/** Also of what is wrong. */
const EXISTS = 400;
const CONFLICT = 409;
const MISSING = 404;
const PASSING: readonly number[] = [408, 429, 500, 502, 503, 504];

interface Reply {
  readonly status: number;
  readonly body: JsonRecord;
}

const versionOf = ({ _seq_no, _primary_term }: JsonRecord): Version => ({
  seqNo: Number(_seq_no),
  primaryTerm: Number(_primary_term),
});

const errorOf = ({ error }: JsonRecord): JsonRecord =>
  typeof error === 'object' && error !== null ? asRecord(error) : {};

export class SearchIndex {
  readonly name: string;
  readonly #address: SearchAddress;
  readonly #path: string;
  #hasAnswered = false;

  constructor(address: SearchAddress) {
    this.name = address.index;
    this.#address = address;
    this.#path = `/${encodeURIComponent(address.index)}`;
  }

  /** Without it, long texts would not be found. `fields`: by join. */
  async prepare(fields: Readonly<Record<string, readonly string[]>>): Promise<void> {
    const keyword = { type: 'keyword' };
    const joins = Object.entries(fields).map(([id, names]) => {
      return [id, { properties: Object.fromEntries(names.map((name) => [name, keyword])) }] as const;
    });
    const properties = { generation: keyword, seq: { type: 'long' }, ...Object.fromEntries(joins) };
    await this.#call('PUT', `${this.#path}/_mapping`, { properties: { [FIELD]: { properties } } });
    const { status, body } = await this.#call('PUT', `/${PLACES}`, { mappings: { enabled: false } }, [EXISTS]);
    if (status === EXISTS && errorOf(body).type !== 'resource_already_exists_exception')
      throw this.#failure(status, body);
  }

  /** Some documents without sets of the generation. */
  async findOthers(generation: string, count: number): Promise<readonly string[]> {
    const query = { bool: { must_not: [{ term: { [`${FIELD}.generation`]: generation } }] } };
    const { body } = await this.#call('POST', `${this.#path}/_search`, { query, size: count, _source: false });
    return recordsOf(asRecord(body.hits), 'hits').map((hit) => textOf(hit, '_id'));
  }

  /** Of these, those that are there now. */
  async read(ids: readonly string[]): Promise<readonly IndexedDocument[]> {
    const filter = `_source_includes=${FIELD}.generation,${FIELD}.seq`;
    const { body } = await this.#call('POST', `${this.#path}/_mget?${filter}`, { ids });
    return recordsOf(body, 'docs')
      .filter(({ found }) => found === true)
      .map((document) => {
        const { generation, seq } = asRecord(asRecord(document._source ?? {})[FIELD] ?? {});
        return { id: textOf(document, '_id'), ...versionOf(document), generation, seq: Number(seq ?? 0) };
      });
  }

  /** Resolves to those that others have written since. `isShown`: a search finds them as they are from then on. */
  async write(
    updates: readonly { readonly document: IndexedDocument; readonly sets: object }[],
    isShown: boolean,
  ): Promise<readonly string[]> {
    const conflicts: string[] = [];
    let lines = '';
    const send = async (): Promise<void> => {
      if (lines === '') return;
      const { body } = await this.#call('POST', `${this.#path}/_bulk?refresh=${isShown}`, lines);
      lines = '';
      for (const item of recordsOf(body, 'items')) {
        const update = asRecord(item.update);
        const status = Number(update.status);
        if (status === CONFLICT) conflicts.push(textOf(update, '_id'));
        else if (status >= 400 && status !== MISSING) throw this.#failure(status, update);
      }
    };
    for (const { document, sets } of updates) {
      const { id, seqNo, primaryTerm } = document;
      const update = { _id: id, if_seq_no: seqNo, if_primary_term: primaryTerm };
      lines += `${JSON.stringify({ update })}\n${JSON.stringify({ doc: { [FIELD]: sets } })}\n`;
      if (lines.length > BULK_LENGTH_MAX) await send();
    }
    await send();
    return conflicts;
  }

  async place(): Promise<{ readonly place: SearchPlace; readonly version: Version | undefined } | undefined> {
    const { status, body } = await this.#call('GET', this.#placePath('_doc'), undefined, [MISSING]);
    if (status === MISSING) return undefined;
    const source = asRecord(body._source);
    const text = (name: string): string => textOf(source, name);
    const place = {
      ...{ generation: text('generation'), revision: text('revision'), holder: text('holder'), joins: text('joins') },
      ...{ seq: Number(source.seq), ready: source.ready === true, queries: asRecord(source.queries) },
    };
    return { place, version: versionOf(body) };
  }

  /** Undefined: another process has moved it since. */
  async move(place: SearchPlace, version: Version | undefined): Promise<Version | undefined> {
    const path =
      version === undefined
        ? this.#placePath('_create')
        : `${this.#placePath('_doc')}?if_seq_no=${version.seqNo}&if_primary_term=${version.primaryTerm}`;
    const { status, body } = await this.#call('PUT', path, place, [CONFLICT]);
    return status === CONFLICT ? undefined : versionOf(body);
  }

  #placePath(operation: string): string {
    return `/${PLACES}/${operation}/${encodeURIComponent(this.name)}`;
  }

  /** `expected`: statuses of failures that are responses. */
  async #call(method: string, path: string, body?: object | string, expected: readonly number[] = []): Promise<Reply> {
    const { url, authorization, fetch: call = fetch } = this.#address;
    const [type, text] =
      typeof body === 'string' ? ['application/x-ndjson', body] : ['application/json', JSON.stringify(body)];
    let response: Response;
    let reply: string;
    try {
      response = await call(url.replace(/\/$/, '') + path, {
        method,
        headers: { 'Content-Type': type, ...(authorization !== undefined && { Authorization: authorization }) },
        ...(body !== undefined && { body: text }),
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      reply = await boundBody(response, RESPONSE_BYTES_MAX).text();
    } catch (error) {
      throw new SyncFailure(`${new URL(url).host}: ${reasonOf(error)}`, this.#hasAnswered, error);
    }
    const { status } = response;
    if (status >= 300 && !expected.includes(status)) {
      throw this.#failure(status, reply.startsWith('{') ? asRecord(parseJson(reply)) : {});
    }
    this.#hasAnswered = true;
    return { status, body: asRecord(parseJson(reply)) };
  }

  #failure(status: number, body: JsonRecord): CliFailure {
    const { host } = new URL(this.#address.url);
    const { reason } = errorOf(body);
    const why = typeof reason === 'string' ? `: ${reason}` : '';
    return new SyncFailure(`${host}, index ${this.name}: status ${status}${why}`, PASSING.includes(status));
  }
}
