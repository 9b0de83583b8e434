// The service as a mirror reads it, over its API, however long it is away. What it says of the rules becomes SQL, so it
// is looked at here.

import { PAGE_LIMIT_MAX } from '../../../src/core/limits.ts';
import { parseTimestamp } from '../../../src/core/text/timestamps.ts';
import type { Join, JoinQuery } from '../../../src/rules/join.ts';
import { CliFailure, EXIT, ProblemFailure, reasonOf } from '../../cli/src/failures.ts';
import {
  asRecord,
  type JsonRecord,
  optionalTextOf,
  parseJson,
  recordsOf,
  textOf,
} from '../../cli/src/output/json-view.ts';
import type { PatientReader } from '../../cli/src/retries.ts';
import type { ServiceClient, ServiceRequest } from '../../cli/src/service-client.ts';
import {
  type ChangesPage,
  CursorLost,
  type JoinSet,
  type MirroredGrant,
  type MirrorSource,
  RelationGone,
  type SnapshotPage,
} from './mirror.ts';
import { functionId, ID_LENGTH_MAX } from './postgres-functions.ts';

/** By the code of a problem: whether the cursor is another store's, or another tenant's. */
const LOST: ReadonlyMap<string, boolean> = new Map([
  ['cursor-too-old', false],
  ['invalid-cursor', true],
]);
const NAME = /^[A-Za-z0-9_.:*-]*$/;

/** The text of a join: no name in it can end a text of SQL. */
function joinIn(text: string): Join & { readonly tenant_id: string; readonly revision: string } {
  return JSON.parse(text, (key, value: unknown) => {
    const isSafe = typeof value === 'object' || typeof value === 'boolean' || Number.isInteger(value);
    if (NAME.test(key) && (isSafe || (typeof value === 'string' && NAME.test(value)))) return value;
    throw new CliFailure('The service responded with a join that has a name which is none.');
  });
}

function grantOf(record: JsonRecord): MirroredGrant {
  const expiresAt = optionalTextOf(record, 'expires_at');
  return {
    object: textOf(record, 'object'),
    relation: textOf(record, 'relation'),
    subject: textOf(record, 'subject'),
    expires_at: expiresAt === undefined ? null : (parseTimestamp(expiresAt) ?? null),
    conditional: record.condition !== undefined && record.condition !== null,
  };
}

function numberOf(record: JsonRecord, name: string): number {
  const value = record[name];
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new CliFailure(`The service has no "${name}" in its response: this command needs a newer one.`);
}

export class ServiceSource implements MirrorSource {
  readonly #client: ServiceClient;
  readonly #reader: PatientReader;
  readonly #queries: readonly JoinQuery[];

  constructor(client: ServiceClient, reader: PatientReader, queries: readonly JoinQuery[]) {
    this.#client = client;
    this.#reader = reader;
    this.#queries = queries;
    const ids = queries.map(functionId);
    const wrong = ids.find((id, index) => id.length > ID_LENGTH_MAX || ids.indexOf(id) !== index);
    if (wrong === undefined) return;
    const why = `Each join has functions of a name of its own, of at most ${ID_LENGTH_MAX} characters`;
    throw new CliFailure(`${why}, which ${wrong} is not.`, EXIT.usage);
  }

  async joins(): Promise<JoinSet | undefined> {
    for (;;) {
      const joins: { readonly id: string; readonly join: Join }[] = [];
      const revisions = new Set<string>();
      for (const each of this.#queries) {
        const { namespace, name, deep } = each;
        const query = { namespace, name, ...(deep.length > 0 && { deep: deep.join(',') }) };
        const text = await this.#reader.attempt((signal) =>
          this.#client.readText({ method: 'GET', path: '/join', query }, signal),
        );
        if (text === undefined) return undefined;
        const { tenant_id: tenant, revision, ...join } = joinIn(text);
        joins.push({ id: functionId(each), join });
        revisions.add(`${tenant}:${revision}`);
      }
      const [revision, ...others] = revisions;
      // Rules may change between two of them.
      if (revision !== undefined && others.length === 0) return { revision, joins };
    }
  }

  async snapshot(pairs: readonly string[], cursor: string | undefined): Promise<SnapshotPage | undefined> {
    const query = { on: pairs.join(','), limit: String(PAGE_LIMIT_MAX), cursor };
    const page = await this.#page({ method: 'GET', path: '/grants', query });
    return (
      page && {
        grants: recordsOf(page.body, 'grants').map(grantOf),
        seq: numberOf(page.body, 'seq'),
        feed: page.feed,
        next: optionalTextOf(page.body, 'next_cursor'),
      }
    );
  }

  async changes(
    pairs: readonly string[],
    cursor: string,
    { waitSeconds, signal }: Parameters<MirrorSource['changes']>[2],
  ): Promise<ChangesPage | undefined> {
    const query = { on: pairs.join(','), limit: String(PAGE_LIMIT_MAX), cursor, wait: String(waitSeconds) };
    const page = await this.#page({ method: 'GET', path: '/changes', query }, signal);
    if (page === undefined) return undefined;
    const changes = recordsOf(page.body, 'changes');
    const at = changes.at(-1)?.at;
    return {
      changes: changes
        .filter(({ grant }) => grant !== undefined)
        .map((change) => ({
          seq: numberOf(change, 'seq'),
          grant: grantOf(asRecord(change.grant)),
          isThere: change.action === 'grant.created' || change.action === 'grant.updated',
        })),
      seq: numberOf(page.body, 'seq'),
      cursor: textOf(page.body, 'next_cursor'),
      rules: changes.some(({ action }) => action === 'rules.updated'),
      atMs: typeof at === 'string' ? parseTimestamp(at) : undefined,
    };
  }

  async #page(request: ServiceRequest, signal?: AbortSignal) {
    try {
      const read = await this.#reader.attempt((ended) => this.#client.readTagged(request, ended), signal);
      return read && { body: asRecord(parseJson(read.text)), feed: read.feed };
    } catch (error) {
      const isForeign = error instanceof ProblemFailure ? LOST.get(error.code) : undefined;
      if (isForeign !== undefined) throw new CursorLost(reasonOf(error), isForeign);
      if (error instanceof ProblemFailure && error.code === 'invalid-relation') throw new RelationGone(error.detail);
      throw error;
    }
  }
}
