// The process of followers: it reads streams of changes as cheaply as it can, and makes the changes.

import { connect, type Socket } from 'node:net';
import { percentile } from '../statistics.ts';
import { Connection } from './connection.ts';
import type { FollowJob, FollowResult, FromFollowProcess } from './follow-job.ts';

/** Streams that are being opened at the same time. */
const OPENING_MAX = 50;
/** Connections for writes: with one, a write would wait for the one before. */
const WRITERS = 32;
const EVENT = Buffer.from('event: change\n');
const END_MS_MAX = 60_000;

const streams = new Set<Socket>();
/** When changes have arrived, on the clock of this process. */
let arrivals: number[] = [];
let onArrival = (): void => {};
let failed: ((error: Error) => void) | undefined;

function fail(error: Error): void {
  failed?.(error);
}

function openStream(url: URL, key: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname, port: Number(url.port) });
    const lines = [
      'GET /v1/changes?since=now HTTP/1.1',
      `Host: ${url.host}`,
      `Authorization: Bearer ${key}`,
      'Accept: text/event-stream',
    ];
    socket.once('connect', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
    socket.once('error', reject);
    socket.once('data', (head: Buffer) => {
      if (!head.toString('latin1').startsWith('HTTP/1.1 200')) {
        reject(new Error(`A stream was refused: ${head.toString('latin1')}`));
        return;
      }
      socket.on('data', (bytes: Buffer) => {
        if (!bytes.includes(EVENT)) return;
        arrivals.push(performance.now());
        onArrival();
      });
      resolve();
    });
    socket.on('end', () => fail(new Error('A stream has ended.')));
    streams.add(socket);
  });
}

async function open(job: Extract<FollowJob, { kind: 'open' }>): Promise<void> {
  const url = new URL(job.url);
  for (let opened = 0; opened < job.streams; opened += OPENING_MAX) {
    const count = Math.min(OPENING_MAX, job.streams - opened);
    await Promise.all(Array.from({ length: count }, () => openStream(url, job.key)));
  }
}

function requestText(job: { readonly url: string; readonly key: string }, number: number): string {
  const body = JSON.stringify({ subject: `user:f-${number}`, relation: 'viewer', object: `document:f-${number}` });
  return [
    'POST /v1/grants HTTP/1.1',
    `Host: ${new URL(job.url).host}`,
    `Authorization: Bearer ${job.key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

interface Writer {
  /** Resolves with the time of the response. */
  write(text: string): Promise<number>;
  close(): void;
}

/** One connection for each write in flight. */
async function openWriter(url: URL, connections: number): Promise<Writer> {
  const idle: Connection[] = [];
  const all: Connection[] = [];
  const waiting = new Map<Connection, (atMs: number) => void>();
  const queue: { readonly text: string; readonly done: (atMs: number) => void }[] = [];
  const sendNext = (): void => {
    const connection = queue.length === 0 ? undefined : idle.pop();
    const next = connection === undefined ? undefined : queue.shift();
    if (connection === undefined || next === undefined) return;
    waiting.set(connection, next.done);
    connection.send(next.text);
  };
  const { promise, resolve } = Promise.withResolvers<void>();
  for (let count = 0; count < connections; count += 1) {
    const connection = new Connection(
      { host: url.hostname, port: Number(url.port) },
      {
        onOpen: (opened) => {
          idle.push(opened);
          if (idle.length === connections) resolve();
        },
        onAnswer: (answered, status, body) => {
          if (status !== 201) fail(new Error(`A grant was refused: ${status} ${body}`));
          waiting.get(answered)?.(performance.now());
          idle.push(answered);
          sendNext();
        },
        onError: fail,
      },
    );
    all.push(connection);
  }
  await promise;
  return {
    write: (text) =>
      new Promise((done) => {
        queue.push({ text, done });
        sendNext();
      }),
    close() {
      for (const connection of all) connection.destroy();
    },
  };
}

async function deliver(job: Extract<FollowJob, { kind: 'deliver' }>): Promise<readonly number[]> {
  const writer = await openWriter(new URL(job.url), 1);
  const deliveriesMs: number[] = [];
  try {
    for (let number = job.first; number < job.first + job.changes; number += 1) {
      arrivals = [];
      const { promise, resolve } = Promise.withResolvers<void>();
      onArrival = () => {
        if (arrivals.length === streams.size) resolve();
      };
      const ackedMs = await writer.write(requestText(job, number));
      if (arrivals.length < streams.size) await promise;
      for (const arrivedMs of arrivals) deliveriesMs.push(arrivedMs - ackedMs);
      await new Promise((ended) => setTimeout(ended, job.pauseMs));
    }
  } finally {
    onArrival = () => {};
    writer.close();
  }
  return deliveriesMs;
}

async function write(job: Extract<FollowJob, { kind: 'write' }>): Promise<void> {
  const writer = await openWriter(new URL(job.url), WRITERS);
  const startedMs = performance.now();
  const writes: Promise<number>[] = [];
  while (writes.length < job.changes) {
    const due = Math.min(job.changes, ((performance.now() - startedMs) * job.perSecond) / 1000);
    while (writes.length < due) writes.push(writer.write(requestText(job, job.first + writes.length)));
    await new Promise((ended) => setTimeout(ended, 2));
  }
  await Promise.all(writes);
  writer.close();
}

async function run(job: FollowJob): Promise<FollowResult> {
  const startedMs = performance.now();
  let deliveriesMs: readonly number[] = [];
  switch (job.kind) {
    case 'open':
      await open(job);
      break;
    case 'deliver':
      deliveriesMs = await deliver(job);
      break;
    case 'write':
      await write(job);
      break;
    case 'close':
      failed = undefined;
      for (const socket of streams) socket.destroy();
      streams.clear();
      break;
  }
  const ascending = Float64Array.from(deliveriesMs).sort();
  return {
    seconds: (performance.now() - startedMs) / 1000,
    deliveryMs: {
      p50: percentile(ascending, 0.5),
      p99: percentile(ascending, 0.99),
      max: percentile(ascending, 1),
    },
  };
}

const reply = (message: FromFollowProcess): void => {
  process.send?.(message);
};

process.on('message', (job: FollowJob) => {
  const ended = new Promise<never>((_resolve, reject) => {
    failed = reject;
  });
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new Error(`"${job.kind}" takes too long.`)), END_MS_MAX).unref();
  });
  Promise.race([run(job), ended, late]).then(
    (result) => reply({ kind: 'done', result }),
    (error: unknown) => reply({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit());
