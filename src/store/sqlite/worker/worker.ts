// A worker thread of the SQLite store: opens its connection, reports whether the database can be used, then executes
// calls until it is asked to close. Three threads run this file: the writer, the reader (so that a read never waits for
// an fsync) and the checkpointer (so that moving the write-ahead log into the database does not stall appends).

import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { assert } from '../../../core/assert.ts';
import type { Meta } from '../../store.ts';
import { DATABASE_FILE } from '../data-directory.ts';
import { openDatabase } from '../database.ts';
import type { FromWorker, Reply, Request, ToWorker, WorkerSettings } from '../messages.ts';
import { DatabaseRefusal, migrate } from '../migrate.ts';
import { MIGRATIONS } from '../migrations.ts';
import { describeError, failureOf, openReasonOf } from '../sqlite-errors.ts';
import { createReadHandlers } from './read-calls.ts';
import { Writer } from './writer.ts';

/** For this long, results gather in one message while the next calls run. */
const REPLY_SLICE_MS = 2;

interface Executor {
  accept(requests: readonly Request[]): void;
  /** Does a bounded part of the work. False when nothing is left. */
  runRound(): boolean;
}

type Handler = (...args: never[]) => unknown;

/** Runs calls one by one, in order. */
class SerialExecutor implements Executor {
  readonly #handlers: Readonly<Record<string, Handler>>;
  readonly #reply: (replies: readonly Reply[]) => void;
  #requests: Request[] = [];

  constructor(handlers: Readonly<Record<string, Handler>>, reply: (replies: readonly Reply[]) => void) {
    this.#handlers = handlers;
    this.#reply = reply;
  }

  accept(requests: readonly Request[]): void {
    this.#requests.push(...requests);
  }

  runRound(): boolean {
    const replies: Reply[] = [];
    const endMs = performance.now() + REPLY_SLICE_MS;
    for (const { id, name, args } of this.#requests) {
      try {
        const handle = this.#handlers[name];
        if (handle === undefined) throw new Error(`There is no call ${name}.`);
        replies.push({ id, result: handle(...(args as never[])) });
      } catch (error) {
        replies.push({ id, failure: failureOf(error) });
      }
      if (performance.now() >= endMs) break;
    }
    this.#requests = this.#requests.slice(replies.length);
    if (replies.length > 0) this.#reply(replies);
    return this.#requests.length > 0;
  }
}

function prepareSchema(database: DatabaseSync, settings: WorkerSettings): Meta | undefined {
  if (settings.pagesMax !== undefined) database.exec(`PRAGMA max_page_count = ${Math.trunc(settings.pagesMax)}`);
  migrate(database, MIGRATIONS, settings.startedAtMs);
  const meta = createReadHandlers(database).readMeta();
  if (meta !== undefined && meta.slots !== settings.slots) {
    throw new DatabaseRefusal(`it was made with ${meta.slots} slots, ${settings.slots} are configured`);
  }
  return meta;
}

function createCheckpointHandlers(database: DatabaseSync): Readonly<Record<string, Handler>> {
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  return {
    checkpoint: () => {
      checkpoint.all();
    },
  };
}

function createExecutor(
  database: DatabaseSync,
  settings: WorkerSettings,
  reply: (replies: readonly Reply[]) => void,
): Executor {
  switch (settings.mode) {
    case 'writer':
      return new Writer(database, reply);
    case 'reader':
      return new SerialExecutor(createReadHandlers(database), reply);
    case 'checkpointer':
      return new SerialExecutor(createCheckpointHandlers(database), reply);
  }
}

function serve(port: MessagePort, settings: WorkerSettings): void {
  const send = (message: FromWorker) => port.postMessage(message);
  const database = openDatabase(join(settings.directory, DATABASE_FILE), settings.mode);
  let closing = false;
  try {
    const meta = settings.mode === 'writer' ? prepareSchema(database, settings) : undefined;
    const executor = createExecutor(database, settings, (replies) => send({ kind: 'replies', replies }));
    const take = (message: ToWorker) => {
      if (message.kind === 'calls') executor.accept(message.requests);
      else closing = true;
    };
    port.on('message', (message: ToWorker) => {
      take(message);
      do {
        // Everything that has arrived so far joins the next round.
        for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
          take(next.message as ToWorker);
        }
      } while (executor.runRound());
      if (!closing) return;
      database.close();
      port.close();
    });
    send({ kind: 'ready', meta });
  } catch (error) {
    database.close();
    throw error;
  }
}

assert(parentPort !== null, 'this file runs as a worker thread');
try {
  serve(parentPort, workerData as WorkerSettings);
} catch (error) {
  const message = error instanceof DatabaseRefusal ? error.message : openReasonOf(error);
  parentPort.postMessage({ kind: 'refused', message, cause: describeError(error) } satisfies FromWorker);
}
