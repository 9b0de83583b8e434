// Filters of a client on a real Postgres: a tenant, its mirror kept by `grantd sync`, tables of an application, and a
// program that asks them with filters of the client, one question a line. Invariant: each question finds the state that
// it says, since the mirror waits, is stopped, or its sets are from elsewhere.

import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { PostgresDatabase } from '../../../packages/sync/src/postgres-database.ts';
import { PostgresServer } from '../../../tools/engines/postgres.ts';
import type { HttpService } from '../../kit/http-service.ts';
import { ROOT } from '../../kit/source-tree.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { startFaultProxy } from './fault-proxy.ts';

/** Only between quotes is it this one. */
const SCHEMA = 'Mirror';
const PATIENT_MS = 60_000;

/** External ids that mean something to SQL, to the texts of its arrays, or to placeholders. */
const HOSTILE = [
  '"',
  '\\',
  '\\"',
  ',',
  '{}',
  "'",
  "');--",
  '$1',
  '?',
  '%s',
  ':id',
  'NULL',
  'null',
  'é😀',
  'a:b',
  'a#b',
];
const RULES = `
namespace document
  parent: folder
  viewer: user, team#member, user with in_zone
  can_read = viewer or can_read from parent
namespace folder
  viewer: user
  can_read = viewer
namespace page
  viewer: user
namespace team
  member: user
condition in_zone(zone: string) = zone == "eu"
groups: on
`;

const grant = (subject: string, relation: string, object: string) => ({ subject, relation, object });
const GRANTS = [
  ...HOSTILE.map((id) => grant('user:ada', 'viewer', `document:${id}`)),
  ...['plan', 'archived', 'without-row'].map((id) => grant('user:ada', 'viewer', `document:${id}`)),
  grant('folder:f', 'parent', 'document:below'),
  grant('user:ada', 'viewer', 'folder:f'),
  { ...grant('user:ada', 'viewer', 'document:perhaps'), condition: { name: 'in_zone' } },
  grant('team:x#member', 'viewer', 'document:shared'),
  grant('user:bob', 'member', 'team:x'),
  ...[1, 20].map((id) => grant('user:ada', 'viewer', `page:${id}`)),
];
const OF_ADA = [...HOSTILE, 'below', 'plan'];
const DOCUMENTS = [...OF_ADA, 'archived', 'perhaps', 'shared', 'unshared', 'later'];

interface Question {
  readonly table?: 'documents' | 'pages';
  readonly subject: string;
  readonly name?: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

interface Expected {
  readonly ids?: readonly string[];
  readonly form?: 'objects' | 'rows';
  /** The reason of an error of the mirror; the SQLSTATE of another one; the type of one of the client. */
  readonly mirror?: string;
  readonly sqlstate?: string;
  readonly error?: string;
}

const objects = (...ids: readonly string[]): Expected => ({ ids, form: 'objects' });
const rows = (...ids: readonly string[]): Expected => ({ ids, form: 'rows' });
const pages = { table: 'pages', subject: 'user:ada', name: 'page.viewer' } as const;
const many = { objectsMax: 1 };
const AT_ONCE = { waitMs: 0 };
const asMember = { contextGrants: [grant('user:eve', 'member', 'team:x')] };

/** Of a mirror that follows. */
const FOLLOWED: readonly (readonly [Question, Expected])[] = [
  [{ subject: 'user:ada' }, objects(...OF_ADA)],
  [{ subject: 'user:ada', options: many }, rows(...OF_ADA)],
  [{ subject: 'user:ada', options: { candidates: true } }, objects(...OF_ADA, 'perhaps')],
  [{ subject: 'user:ada', options: { ...many, candidates: true } }, rows(...OF_ADA, 'perhaps')],
  [{ subject: 'user:bob' }, objects('shared')],
  [{ subject: 'user:eve', options: asMember }, objects('shared')],
  [{ subject: 'user:nobody' }, objects()],
  [{ subject: 'team:x#member' }, objects('shared')],
  [{ ...pages, options: { idType: 'bigint' } }, objects('1', '20')],
  [{ ...pages, options: { idType: 'bigint', ...many } }, rows('1', '20')],
  [{ ...pages, options: { id: "jsonb_build_object('id', d.id) ->> 'id'", ...many } }, rows('1', '20')],
  [{ subject: 'user:ada', options: { idType: 'bigint' } }, { sqlstate: '42883' }],
  [{ subject: 'user:ada', options: { schema: 'no"such".schema' } }, { sqlstate: '3F000' }],
  [{ subject: 'user:ada', options: { schema: 'NUL\0' } }, { error: 'invalid-request' }],
  [{ subject: 'user:ada', options: { deep: ['folder'] } }, { sqlstate: '42883' }],
  [{ subject: 'user:ada', name: 'document' }, { error: 'invalid-request' }],
  [{ subject: 'user:ada', name: "doc'ument.can_read" }, { error: 'invalid-request' }],
  [{ subject: 'user:ada', name: `document.${'a'.repeat(60)}` }, { error: 'invalid-request' }],
  [{ subject: 'ada' }, { error: 'invalid-subject' }],
];

/** Sets of a moment that is over, or for other rules. */
const setsAt = (subject: string, of: { readonly tenant_id: string; readonly revision: string }) => ({
  ...{ subjects: [subject], held: [], perhaps: [], own: `${subject}#self`, through: 0, ...of },
  at: { seq: 0, time: '2026-01-15T09:30:00.000Z' },
});
const WRONG_SETS = [
  { subject: 'user:once-stale', times: 1, expected: objects(), asked: 2 },
  { subject: 'user:once-other', times: 2, other: { revision: 'other' }, expected: objects(), asked: 3 },
  { subject: 'user:stale', times: 9, expected: { mirror: 'stale' }, asked: 3 },
  { subject: 'user:other', times: 9, other: { revision: 'other' }, expected: { mirror: 'other-rules' }, asked: 3 },
  // The mirror is that of another tenant, whose rules are the same.
  { subject: 'user:tenant', times: 9, other: { tenant_id: 'ten_b' }, expected: { mirror: 'other-rules' }, asked: 3 },
];
const wrongSets = (of: { readonly tenant_id: string; readonly revision: string }) =>
  WRONG_SETS.map(({ subject, times, other }) => ({
    ...{ method: 'POST', path: '/v1/sets', body_contains: `"${subject}"`, times, do: 'respond', status: 200 },
    ...{ headers: { 'content-type': 'application/json' }, json: setsAt(subject, { ...of, ...other }) },
  }));

export interface FilterRunner {
  readonly service: HttpService;
  readonly command: readonly [string, ...string[]];
  readonly environment?: Readonly<Record<string, string>>;
  /** The address of the database as the driver takes it. */
  readonly address?: (url: string) => string;
}

type Lines = ChildProcessByStdio<Writable, Readable, null>;

async function ask(program: Lines, lines: AsyncIterator<string>, question: Question): Promise<Expected> {
  const { subject, table = 'documents', name = 'document.can_read', options = {} } = question;
  const whole = { id: 'd.id', schema: SCHEMA, waitMs: PATIENT_MS, ...options };
  program.stdin.write(`${JSON.stringify({ table, subject, name, options: whole })}\n`);
  const { value } = await lines.next();
  assert.ok(value !== undefined, 'the program has ended');
  const { ids, ...answer }: Expected = JSON.parse(value);
  return ids === undefined ? answer : { ...answer, ids: ids.toSorted() };
}

async function prepare(service: HttpService, database: PostgresDatabase) {
  const { tenantId, key } = await service.createTenant();
  const rules = await service.send({
    ...{ method: 'PUT', path: '/v1/rules', key, body: RULES },
    headers: { 'content-type': 'text/vnd.grantd.rules' },
  });
  assert.equal(rules.status, 200, rules.text);
  const granted = await service.send({ method: 'POST', path: '/v1/grants/bulk', key, body: { grants: GRANTS } });
  assert.equal(granted.status, 200, granted.text);
  const table = (name: string, type: string): string => `CREATE TABLE ${name} (id ${type}, archived boolean)`;
  await database.run(table('documents', 'text'));
  await database.run(table('pages', 'bigint'));
  await database.run("INSERT INTO documents SELECT id, id = 'archived' FROM unnest($1::text[]) AS id", DOCUMENTS);
  await database.run('INSERT INTO pages SELECT id, false FROM unnest($1::bigint[]) AS id', ['1', '2', '20']);
  return { key, of: { tenant_id: tenantId, revision: String(rules.headers.etag).slice(1, -1) } };
}

/** Asks the program, and judges its answers. */
export async function runFilters(runner: FilterRunner): Promise<void> {
  const { service, command, environment = {}, address = (url) => url } = runner;
  await using stack = new AsyncDisposableStack();
  const server = await PostgresServer.start();
  stack.defer(() => server.stop());
  const database = await PostgresDatabase.open(server.url, 'public');
  stack.defer(() => database.close());
  const { key, of } = await prepare(service, database);
  const proxy = await startFaultProxy(service.baseUrl, wrongSets(of));
  stack.defer(() => proxy.close());
  const env = (baseUrl: string) => ({ ...process.env, GRANTD_URL: baseUrl, GRANTD_KEY: key });
  const joins = ['document.can_read', 'page.viewer'].flatMap((each) => ['--join', each]);
  const mirror = spawn(
    process.execPath,
    [join(ROOT, 'src', 'main.ts'), 'sync', 'postgres', ...joins, '--schema', SCHEMA, '--url', server.url],
    { env: env(service.baseUrl), stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const end = async (child: Lines | typeof mirror): Promise<void> => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  stack.defer(() => end(mirror));
  const [program, ...args] = command;
  const asked = spawn(program, args, {
    env: { ...env(proxy.url), ...environment, FILTER_DATABASE: address(server.url) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  stack.defer(() => end(asked));
  const lines = createInterface({ input: asked.stdout })[Symbol.asyncIterator]();
  const judge = async (question: Question, expected: Expected): Promise<void> => {
    const wanted = expected.ids === undefined ? expected : { ...expected, ids: expected.ids.toSorted() };
    assert.deepEqual(await ask(asked, lines, question), wanted, JSON.stringify(question));
  };

  await waitFor('the mirror', async () => {
    const found = database.run(`SELECT seq FROM "${SCHEMA}".place WHERE seq IS NOT NULL`);
    return (await found.catch(() => [])).length === 1;
  });
  for (const [question, expected] of FOLLOWED) await judge(question, expected);
  for (const { subject, expected, asked: times } of WRONG_SETS) {
    const before = proxy.seen.length;
    await judge({ subject, options: AT_ONCE }, expected);
    assert.equal(proxy.seen.length - before, times, subject);
  }

  mirror.kill('SIGSTOP');
  const later = { method: 'POST', path: '/v1/grants', key, body: grant('user:ada', 'viewer', 'document:later') };
  assert.equal((await service.send(later)).status, 201);
  await judge({ subject: 'user:ada', options: AT_ONCE }, { mirror: 'behind' });
  mirror.kill('SIGCONT');
  await judge({ subject: 'user:ada' }, objects(...OF_ADA, 'later'));
  await end(mirror);
  await database.run(`UPDATE "${SCHEMA}".place SET seq = NULL`);
  await judge({ subject: 'user:ada', options: AT_ONCE }, { mirror: 'not-ready' });
}
