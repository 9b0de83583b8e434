// What `grantd sync` does: keeps a mirror until it is ended, verifies one, or prints what an application asks it with.

import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { backoffMs } from '../../../src/core/async/clock.ts';
import type { JoinQuery } from '../../../src/rules/join.ts';
import type { CliContext } from '../../cli/src/cli-context.ts';
import { CliFailure, EXIT, reasonOf } from '../../cli/src/failures.ts';
import { createProgress, type Progress } from '../../cli/src/progress.ts';
import { createPatientReader } from '../../cli/src/retries.ts';
import type { ServiceClient } from '../../cli/src/service-client.ts';
import { type MirrorMetrics, serveMetrics } from './metrics.ts';
import { SyncFailure } from './mirror.ts';
import { PostgresDatabase } from './postgres-database.ts';
import { policyOf, postgresFunctions, quotedName } from './postgres-functions.ts';
import { type MirrorWatch, runMirror } from './run-mirror.ts';
import { type SearchAddress, SearchIndex } from './search-index.ts';
import { searchQuery } from './search-sets.ts';
import { SearchSink } from './search-sink.ts';
import { ServiceSource } from './service-source.ts';
import { type MirrorDatabase, SqlMirror } from './sql-mirror.ts';
import { sqliteStatements } from './sqlite-statements.ts';
import { compareMirror } from './verify-mirror.ts';

/** A database of Postgres, or a file of SQLite. */
export type MirrorHome = { readonly url: string; readonly schema: string } | { readonly file: string };

const BACKOFF = { firstMs: 500, maxMs: 10_000 };
const LOCK_PAUSE_MS = 1000;
const REPORT_INTERVAL_MS = 60_000;

/** Without a password. */
function nameOf(home: MirrorHome): string {
  if ('file' in home) return home.file;
  const { host, pathname } = new URL(home.url);
  return `${host}${pathname}`;
}

/** What belongs to the service fails as it does anywhere. */
async function withDatabase<Result>(
  home: MirrorHome,
  run: (database: MirrorDatabase) => Promise<Result>,
): Promise<Result> {
  let database: MirrorDatabase | undefined;
  try {
    // SQLite is loaded only for a file: Node 22 calls it experimental.
    database =
      'url' in home
        ? await PostgresDatabase.open(home.url, home.schema)
        : new (await import('./sqlite-database.ts')).SqliteDatabase(home.file);
    return await run(database);
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw new SyncFailure(`${nameOf(home)}: ${reasonOf(error)}`, database?.troubleOf(error) !== 'lasting', error);
  } finally {
    await database?.close().catch(() => undefined);
  }
}

type SyncRun = (source: ServiceSource, signal: AbortSignal) => Promise<number>;

/** Until Ctrl-C or SIGTERM, both of which end it well. */
async function untilEnded(
  context: CliContext,
  client: ServiceClient,
  queries: readonly JoinQuery[],
  run: SyncRun,
): Promise<number> {
  const terminated = new AbortController();
  const terminate = (): void => terminated.abort();
  process.once('SIGTERM', terminate);
  try {
    return await context.untilInterrupted((interrupted) => {
      const signal = AbortSignal.any([interrupted, terminated.signal]);
      return run(new ServiceSource(client, createPatientReader(context, client, signal), queries), signal);
    });
  } finally {
    process.removeListener('SIGTERM', terminate);
  }
}

function watchOf(context: CliContext, metrics?: MirrorMetrics): MirrorWatch {
  let [grants, reportedMs] = [0, Number.NEGATIVE_INFINITY];
  let progress: Progress | undefined;
  return {
    note: (text) => context.note(text),
    loaded(count) {
      grants += count;
      progress ??= createProgress(context, undefined, 'grants');
      progress.update(0, grants);
      metrics?.watch.loaded(count);
    },
    followed(page, place) {
      metrics?.watch.followed(page, place);
      // A later snapshot is another one.
      [grants, progress] = [0, undefined];
      const [{ atMs }, { seq }] = [page, place];
      const nowMs = context.nowMs();
      if (nowMs - reportedMs < REPORT_INTERVAL_MS) return;
      reportedMs = nowMs;
      const behindMs = atMs === undefined ? 0 : Math.max(0, nowMs - atMs);
      context.note(`The mirror has everything up to entry ${seq}, ${(behindMs / 1000).toFixed(1)} s behind.`);
    },
  };
}

export interface KeepOptions {
  readonly home: MirrorHome;
  readonly joins: readonly JoinQuery[];
  readonly metricsPort?: number | undefined;
  readonly search?: SearchAddress | undefined;
}

export function keepMirror(context: CliContext, client: ServiceClient, options: KeepOptions): Promise<number> {
  const { home, joins, metricsPort, search } = options;
  return untilEnded(context, client, joins, async (source, signal) => {
    let [failures, isAtWork, isWaiting] = [0, false, false];
    await using metrics = metricsPort === undefined ? undefined : await serveMetrics(metricsPort, context.nowMs);
    const watch = watchOf(context, metrics);
    const sink =
      search &&
      new SearchSink(new SearchIndex(search), {
        holder: `${hostname()}:${resolve(nameOf(home))}`,
        nowMs: context.nowMs,
        note: watch.note,
        written: (documents) => metrics?.written(documents),
      });
    const run = async (database: MirrorDatabase): Promise<void> => {
      while (!signal.aborted && !(await database.lock())) {
        if (!isWaiting) context.note(`Another process keeps the mirror in ${nameOf(home)}. Waiting for its end.`);
        isWaiting = true;
        await context.pause(LOCK_PAUSE_MS, signal);
      }
      [isAtWork, failures] = [true, 0];
      await runMirror({ source, mirror: new SqlMirror(database), watch, sink, signal, nowMs: context.nowMs });
    };
    while (!signal.aborted) {
      try {
        await withDatabase(home, run);
      } catch (error) {
        if (!(isAtWork && error instanceof SyncFailure && error.passes)) throw error;
        context.note(`${error.message}. Trying again until it responds.`);
        await context.pause(backoffMs(BACKOFF, failures), signal);
        failures += 1;
      }
    }
    context.note('Ended. The mirror stays as it is, and is continued from here.');
    return EXIT.ok;
  });
}

export function verifyMirror(
  context: CliContext,
  client: ServiceClient,
  { home, joins }: KeepOptions,
): Promise<number> {
  return untilEnded(context, client, joins, (source, signal) =>
    withDatabase(home, async (database) => {
      const found = await compareMirror({
        source,
        mirror: new SqlMirror(database),
        watch: watchOf(context),
        pause: (delayMs) => context.pause(delayMs, signal),
        nowMs: context.nowMs,
      });
      if (found === undefined) return EXIT.interrupted;
      for (const line of found.lines) context.print(line);
      if (found.differences === 0) return EXIT.ok;
      throw new CliFailure(`${found.differences} grants differ as of entry ${found.seq}.`);
    }),
  );
}

export interface SqlOptions {
  readonly dialect: 'postgres' | 'sqlite' | 'opensearch';
  readonly schema: string;
  readonly rls?: boolean;
}

export function printSql(
  context: CliContext,
  client: ServiceClient,
  { join, schema, rls = false, dialect }: SqlOptions & { readonly join: JoinQuery },
): Promise<number> {
  return untilEnded(context, client, [join], async (source) => {
    const joins = await source.joins();
    const [first] = joins?.joins ?? [];
    if (joins === undefined || first === undefined) return EXIT.interrupted;
    if (dialect === 'opensearch') {
      context.print(JSON.stringify(searchQuery(first), undefined, 2));
      return EXIT.ok;
    }
    const { objects, value } = sqliteStatements(first.join);
    const statements =
      dialect === 'postgres'
        ? [...postgresFunctions(quotedName(schema), joins), ...(rls ? [policyOf(quotedName(schema), first)] : [])]
        : [
            `-- All objects, each with 2 (it is held) or 1 (a condition decides).\n${objects}`,
            `-- The value of :object; 0: it is not held.\n${value}`,
          ];
    for (const statement of statements) context.print(`${statement};\n`);
    return EXIT.ok;
  });
}
