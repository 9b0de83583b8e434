// What `grantd sync` does: keeps a mirror until it is ended, verifies one, or prints what an application asks it with.

import { backoffMs } from '../../../src/core/async/clock.ts';
import type { Join, JoinQuery } from '../../../src/rules/join.ts';
import type { CliContext } from '../../cli/src/cli-context.ts';
import { CliFailure, EXIT, reasonOf } from '../../cli/src/failures.ts';
import { createProgress } from '../../cli/src/progress.ts';
import { createPatientReader } from '../../cli/src/retries.ts';
import type { ServiceClient } from '../../cli/src/service-client.ts';
import { JoinSql, SQLITE } from './join-sql.ts';
import { type MirrorMetrics, serveMetrics } from './metrics.ts';
import { PostgresDatabase } from './postgres-database.ts';
import { policyOf, postgresFunctions, quotedName } from './postgres-functions.ts';
import { type MirrorWatch, runMirror } from './run-mirror.ts';
import { ServiceSource } from './service-source.ts';
import { type MirrorDatabase, SqlMirror } from './sql-mirror.ts';
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

/** SQLite is loaded only for a file: Node 22 calls it experimental. */
async function openDatabase(home: MirrorHome): Promise<MirrorDatabase> {
  if ('url' in home) return PostgresDatabase.open(home.url, home.schema);
  const { SqliteDatabase } = await import('./sqlite-database.ts');
  return new SqliteDatabase(home.file);
}

/** What a failure of a database says; what belongs to the service is said already. */
function failureOf(home: MirrorHome, error: unknown): CliFailure {
  if (error instanceof CliFailure) return error;
  return new CliFailure(`${nameOf(home)}: ${reasonOf(error)}`, EXIT.failed, { cause: error });
}

interface SyncFrame {
  readonly source: ServiceSource;
  readonly signal: AbortSignal;
}

/** Until Ctrl-C or SIGTERM, both of which end it well. */
async function untilEnded(
  context: CliContext,
  client: ServiceClient,
  queries: readonly JoinQuery[],
  run: (frame: SyncFrame) => Promise<number>,
): Promise<number> {
  const terminated = new AbortController();
  const terminate = (): void => terminated.abort();
  process.once('SIGTERM', terminate);
  try {
    return await context.untilInterrupted((interrupted) => {
      const signal = AbortSignal.any([interrupted, terminated.signal]);
      const source = new ServiceSource(client, createPatientReader(context, client, signal), queries);
      return run({ source, signal });
    });
  } finally {
    process.removeListener('SIGTERM', terminate);
  }
}

function watchOf(context: CliContext, metrics?: MirrorMetrics): MirrorWatch {
  let [grants, reportedMs] = [0, Number.NEGATIVE_INFINITY];
  const progress = createProgress(context, undefined, 'grants');
  return {
    note: (text) => context.note(text),
    loaded(count) {
      grants += count;
      progress.update(0, grants);
      metrics?.watch.loaded(count);
    },
    followed(page, place) {
      metrics?.watch.followed(page, place);
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
}

export function keepMirror(context: CliContext, client: ServiceClient, options: KeepOptions): Promise<number> {
  const { home, joins, metricsPort } = options;
  return untilEnded(context, client, joins, async ({ source, signal }) => {
    let [failures, isAtWork, isWaiting] = [0, false, false];
    await using metrics = metricsPort === undefined ? undefined : await serveMetrics(metricsPort, context.nowMs);
    const watch = watchOf(context, metrics);
    while (!signal.aborted) {
      let database: MirrorDatabase | undefined;
      try {
        database = await openDatabase(home);
        while (!signal.aborted && !(await database.lock())) {
          if (!isWaiting) context.note(`Another process keeps the mirror in ${nameOf(home)}. Waiting for its end.`);
          isWaiting = true;
          await context.pause(LOCK_PAUSE_MS, signal);
        }
        isAtWork = true;
        failures = 0;
        await runMirror({ source, mirror: new SqlMirror(database), watch, signal, nowMs: context.nowMs });
      } catch (error) {
        const failure = failureOf(home, error);
        if (!isAtWork || failure === error || database?.passes(error) === false) throw failure;
        context.note(`${failure.message}. Trying again until it responds.`);
        await context.pause(backoffMs(BACKOFF, failures), signal);
        failures += 1;
      } finally {
        await database?.close().catch(() => undefined);
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
  return untilEnded(context, client, joins, async ({ source, signal }) => {
    let database: MirrorDatabase | undefined;
    try {
      database = await openDatabase(home);
      const watch = watchOf(context);
      const mirror = new SqlMirror(database);
      const pause = (delayMs: number): Promise<boolean> => context.pause(delayMs, signal);
      const found = await compareMirror({ source, mirror, watch, pause, nowMs: context.nowMs });
      if (found === undefined) return EXIT.interrupted;
      for (const line of found.lines) context.print(line);
      if (found.differences === 0) return EXIT.ok;
      throw new CliFailure(`${found.differences} grants differ as of entry ${found.seq}.`);
    } catch (error) {
      throw failureOf(home, error);
    } finally {
      await database?.close().catch(() => undefined);
    }
  });
}

export interface SqlOptions {
  readonly dialect: 'postgres' | 'sqlite';
  readonly schema: string;
  readonly rls?: boolean;
}

export function printSql(
  context: CliContext,
  client: ServiceClient,
  { join, schema, rls = false, dialect }: SqlOptions & { readonly join: JoinQuery },
): Promise<number> {
  return untilEnded(context, client, [join], async ({ source }) => {
    const joins = await source.joins();
    const [first] = joins?.joins ?? [];
    if (joins === undefined || first === undefined) return EXIT.interrupted;
    const statements =
      dialect === 'postgres'
        ? [...postgresFunctions(quotedName(schema), joins), ...(rls ? [policyOf(quotedName(schema), first)] : [])]
        : sqliteStatements(first.join);
    for (const statement of statements) context.print(`${statement};\n`);
    return EXIT.ok;
  });
}

function sqliteStatements(join: Join): string[] {
  const sql = new JoinSql(join, SQLITE);
  return [
    `-- All objects, each with 2 (it is held) or 1 (a condition decides).\n${sql.objects()}`,
    `-- The value of :object; 0: it is not held.\nSELECT ${sql.value(':object', 'up')} AS value`,
  ];
}
