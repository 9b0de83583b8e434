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
import type { FromWorker, Reply, Request, ToWorker, WorkerSettings, WriterFindings } from '../messages.ts';
import { DatabaseRefusal, migrate } from '../migrate.ts';
import { MIGRATIONS } from '../migrations.ts';
import { Damage, describeError, failureOf } from '../sqlite-errors.ts';
import { describeRefusal, examineStart } from '../start-check.ts';
import { Acknowledgements, LOOK_MS } from './acknowledgements.ts';
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

/**
 * Runs calls one by one, in order. None once damage is known: an owner asks a reader whether a write whose outcome it
 * does not know was done, and takes what it finds there for acknowledged.
 */
class SerialExecutor implements Executor {
  readonly #handlers: Readonly<Record<string, Handler>>;
  readonly #reply: (replies: readonly Reply[]) => void;
  readonly #damage: Damage;
  #requests: Request[] = [];

  constructor(handlers: Readonly<Record<string, Handler>>, reply: (replies: readonly Reply[]) => void, damage: Damage) {
    this.#handlers = handlers;
    this.#reply = reply;
    this.#damage = damage;
  }

  accept(requests: readonly Request[]): void {
    this.#requests.push(...requests);
  }

  runRound(): boolean {
    const replies: Reply[] = [];
    const endMs = performance.now() + REPLY_SLICE_MS;
    for (const { id, name, args } of this.#requests) {
      try {
        this.#damage.requireNone();
        const handle = this.#handlers[name];
        if (handle === undefined) throw new Error(`There is no call ${name}.`);
        replies.push({ id, result: handle(...(args as never[])) });
      } catch (error) {
        this.#damage.note(error);
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

interface OpenWorker {
  readonly executor: Executor;
  readonly found: WriterFindings;
  /** Once nothing is left to do. */
  close(): void;
}

type Send = (replies: readonly Reply[]) => void;

/** Examines the files before anything changes them, and only then opens them to write. */
function openWriter(settings: WorkerSettings, damage: Damage, send: Send): OpenWorker {
  const { directory, isFirst, acceptLoss, startedAtMs } = settings;
  const path = join(directory, DATABASE_FILE);
  const examined = examineStart(directory, MIGRATIONS, { isFirst, acceptLoss });
  const database = openDatabase(path, 'writer');
  try {
    const meta = prepareSchema(database, settings);
    const witness = Acknowledgements.open(database, directory, examined, startedAtMs);
    const writer = new Writer(database, send, { witness, damage });
    const look = setInterval(() => {
      try {
        witness.look();
        witness.sync();
      } catch (error) {
        damage.note(error);
      }
    }, LOOK_MS);
    const close = () => {
      clearInterval(look);
      witness.close(writer);
    };
    return { executor: writer, found: { meta, accepted: examined.accepted }, close };
  } catch (error) {
    database.close();
    throw error;
  }
}

function openOther(settings: WorkerSettings, damage: Damage, send: Send): OpenWorker {
  const database = openDatabase(join(settings.directory, DATABASE_FILE), settings.mode);
  try {
    const handlers = settings.mode === 'reader' ? createReadHandlers(database) : createCheckpointHandlers(database);
    const executor = new SerialExecutor(handlers, send, damage);
    return { executor, found: { meta: undefined, accepted: [] }, close: () => database.close() };
  } catch (error) {
    database.close();
    throw error;
  }
}

function serve(port: MessagePort, settings: WorkerSettings): void {
  const send = (message: FromWorker) => port.postMessage(message);
  const open = settings.mode === 'writer' ? openWriter : openOther;
  const damage = new Damage(settings.damage);
  const { executor, found, close } = open(settings, damage, (replies) => send({ kind: 'replies', replies }));
  let closing = false;
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
    port.close();
    close();
  });
  send({ kind: 'ready', found });
}

assert(parentPort !== null, 'this file runs as a worker thread');
try {
  serve(parentPort, workerData as WorkerSettings);
} catch (error) {
  const cause = describeError(error);
  parentPort.postMessage({ kind: 'refused', message: describeRefusal(error), cause } satisfies FromWorker);
}
