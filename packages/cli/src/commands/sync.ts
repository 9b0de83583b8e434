// `grantd sync`: keeps a mirror of grants beside an application's own data. All but its options is in the package
// @grantd/sync, which only this command loads.

import { readFileSync } from 'node:fs';
import type { SqlOptions } from '@grantd/sync/commands';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { isNamespaceName } from '../../../../src/core/tuples.ts';
import type { JoinQuery } from '../../../../src/rules/join.ts';
import { isRuleName } from '../../../../src/rules/rule-set.ts';
import type { CliContext } from '../cli-context.ts';
import { addExamples, TENANT_OPTION } from '../command-parts.ts';
import { CliFailure, EXIT, loadInstalled, reasonOf } from '../failures.ts';

interface SyncOptions {
  readonly join: readonly JoinQuery[];
  readonly tenant?: string;
  readonly url?: string;
  readonly schema?: string;
  readonly file?: string;
  readonly metricsPort?: number;
}

interface SearchOptions extends SyncOptions {
  readonly url: string;
  readonly file: string;
  readonly index: string;
  readonly authorizationFile?: string;
}

const load = () =>
  loadInstalled(
    () => import('@grantd/sync/commands'),
    'The package of mirrors is not installed. In a checkout, run "npm ci".',
  );

/** `document.can_read`, or `document.can_read+folder`: with the grants on folders. */
function parseJoin(text: string): JoinQuery {
  const [first = '', ...deep] = text.split('+');
  const dot = first.lastIndexOf('.');
  const [namespace, name] = [first.slice(0, Math.max(dot, 0)), first.slice(dot + 1)];
  if (isNamespaceName(namespace) && isRuleName(name) && deep.every(isNamespaceName)) return { namespace, name, deep };
  throw new InvalidArgumentError(
    'It must be namespace.name, and what is mirrored too behind a +: document.can_read+folder.',
  );
}

const addJoin = (text: string, previous: readonly JoinQuery[] = []): readonly JoinQuery[] => [
  ...previous,
  parseJoin(text),
];

/** Not parsed with the options: what is wrong with one of those is shown with it, and an address has a password. */
function checkedUrl(text: string): string {
  if (URL.canParse(text) && /^postgres(ql)?:\/\//.test(text)) return text;
  throw new CliFailure('--url must be an address postgres://user@host/database.', EXIT.usage);
}

/** One with a password would be shown in the list of processes. */
function parseSearchUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '') return text;
  throw new InvalidArgumentError('It must be an address https://host:9200, without a user.');
}

function authorizationIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CliFailure(`${file}: ${reasonOf(error)}`);
  }
}

function parseSchema(text: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a name of letters, digits and _.');
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('It must be a port.');
}

const ofJoins = (command: Command): Command =>
  command
    .addOption(
      new Option('--join <namespace.name>', 'a name to list objects by; may be repeated')
        .argParser(addJoin)
        .makeOptionMandatory(),
    )
    .option(...TENANT_OPTION);

const SCHEMA = ['--schema <name>', 'the schema of the mirror', parseSchema, 'grantd'] as const;
const METRICS = ['--metrics-port <port>', 'serve metrics for Prometheus at this port', parsePort] as const;
const FILE = ['--file <path>', 'the file of the mirror'] as const;
const URL_OPTION = ['--url <url>', 'the database; its password rather in PGPASSWORD or ~/.pgpass'] as const;

export function registerSyncCommands(program: Command, context: CliContext): void {
  const sync = program
    .command('sync')
    .description("mirror grants beside an application's own data, to join lists with them");
  const run = (what: 'keepMirror' | 'verifyMirror') =>
    context.action(async ({ join: joins, tenant, url, schema = 'grantd', file, metricsPort }: SyncOptions) => {
      if (url === undefined && file === undefined) throw new CliFailure('Pass --url or --file.', EXIT.usage);
      const commands = await load();
      const home = url === undefined ? { file: file ?? '' } : { url: checkedUrl(url), schema };
      return commands[what](context, context.connectTenant(tenant), { home, joins, metricsPort });
    });
  const [first, second] = ['document.can_read', 'document.can_edit'];
  const [database, file] = ['--url postgres://app@db/app', '--file mirror.db'];
  const postgres = ofJoins(sync.command('postgres').description('keep a mirror in Postgres until interrupted'))
    .requiredOption(...URL_OPTION)
    .option(...SCHEMA)
    .option(...METRICS);
  addExamples(postgres, `sync postgres --join ${first} --join ${second} ${database}`).action(run('keepMirror'));
  const sqlite = ofJoins(sync.command('sqlite').description('keep a mirror in a file of SQLite until interrupted'))
    .requiredOption(...FILE)
    .option(...METRICS);
  addExamples(sqlite, `sync sqlite --join ${first} ${file}`).action(run('keepMirror'));
  registerSearch(sync, context);
  const verify = ofJoins(sync.command('verify').description('compare a mirror with a new snapshot, as of one moment'))
    .option(...URL_OPTION)
    .option(...SCHEMA)
    .addOption(new Option(...FILE).conflicts('url'));
  const verifying = [database, file].map((each) => `sync verify --join ${first} ${each}`);
  addExamples(verify, ...verifying).action(run('verifyMirror'));
  const sql = sync
    .command('sql')
    .description('print the functions or statements with which a mirror is asked')
    .argument('<namespace.name>', 'the name to list objects by', parseJoin)
    .addOption(
      new Option('--dialect <name>', 'the database').choices(['postgres', 'sqlite', 'opensearch']).default('postgres'),
    )
    .option(...SCHEMA)
    .option('--rls', 'also print a policy for row level security in Postgres')
    .option(...TENANT_OPTION);
  addExamples(
    sql,
    `sync sql ${first} --rls`,
    ...['sqlite', 'opensearch'].map((each) => `sync sql ${first} --dialect ${each}`),
  ).action(
    context.action(async (join: JoinQuery, { tenant, ...options }: SqlOptions & { readonly tenant?: string }) => {
      const { printSql } = await load();
      return printSql(context, context.connectTenant(tenant), { ...options, join });
    }),
  );
}

function registerSearch(sync: Command, context: CliContext): void {
  const search = ofJoins(
    sync
      .command('opensearch')
      .description('keep sets in the documents of OpenSearch or Elasticsearch until interrupted'),
  )
    .requiredOption('--url <url>', 'the address of the search engine', parseSearchUrl)
    .requiredOption('--index <name>', 'the index with the documents')
    .requiredOption(...FILE)
    .option('--authorization-file <path>', 'a file with the header Authorization')
    .option(...METRICS);
  const example =
    'sync opensearch --join document.can_read --url https://search:9200 --index documents --file mirror.db';
  addExamples(search, example).action(
    context.action(async (options: SearchOptions) => {
      const { join: joins, tenant, url, file, index, authorizationFile, metricsPort } = options;
      if (new Set(joins.map(({ namespace }) => namespace)).size > 1) {
        throw new CliFailure('The documents of an index are objects of one namespace.', EXIT.usage);
      }
      const authorization = authorizationFile === undefined ? undefined : authorizationIn(authorizationFile);
      const { keepMirror } = await load();
      const keep = { home: { file }, joins, metricsPort, search: { url, index, authorization } };
      return keepMirror(context, context.connectTenant(tenant), keep);
    }),
  );
}
