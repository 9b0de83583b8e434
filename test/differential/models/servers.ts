// OpenFGA and SpiceDB in memory, with their limits as they are by default, apart from the time limits of OpenFGA: it
// returns what it has found of a list when the time is over, which on a busy machine would look like a difference.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answersOk, BackgroundProcess } from '../../../bench/server/background-process.ts';
import { freePorts } from '../../../tools/engines/free-port.ts';
import type { Limited } from '../question.ts';
import { type JsonAnswer, NoAnswer, post } from '../system.ts';

const START_SECONDS_MAX = 120;
const OPENFGA_SETTINGS: readonly string[] = [
  '--playground-enabled=false',
  '--log-level=none',
  '--metrics-enabled=false',
  '--listObjects-deadline=100s',
  '--listUsers-deadline=100s',
  '--request-timeout=110s',
];

/** An empty server. */
export interface PeerServer {
  readonly url: string;
  readonly parts: AsyncDisposableStack;
}

export async function startOpenfga(program: string): Promise<PeerServer> {
  await using parts = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'grantd-openfga-'));
  parts.defer(() => rmSync(directory, { recursive: true, force: true }));
  const [http = '', grpc = ''] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
  const server = new BackgroundProcess({
    name: 'openfga',
    command: [
      program,
      'run',
      '--http-addr',
      http,
      '--grpc-addr',
      grpc,
      '--datastore-engine=memory',
      ...OPENFGA_SETTINGS,
    ],
    logFile: join(directory, 'openfga.log'),
  });
  parts.defer(() => server.stop());
  await server.waitUntil(() => answersOk(`http://${http}/healthz`), START_SECONDS_MAX);
  return { url: `http://${http}`, parts: parts.move() };
}

const KEY = 'the-key-of-the-differential-test';
const CONSISTENCY = { consistency: { fullyConsistent: true } };
/** Of address space: lists over cycles of grants could otherwise take all memory of the machine. */
const MEMORY_BYTES_MAX = 4 * 1024 ** 3;
/** It goes round in cycles of grants until it reaches its limit of depth: if there are several, that takes forever. */
const ASK_MS_MAX = 10_000;
export const TOO_LATE: Limited = { limit: 'no answer in 10 s' };
const SPICEDB_SETTINGS: readonly string[] = [
  '--skip-release-check',
  '--telemetry-endpoint=',
  '--log-level=error',
  '--metrics-enabled=false',
  '--datastore-engine=memory',
  '--dispatch-cluster-enabled=false',
  '--grpc-max-conn-age=24h',
  '--streaming-api-response-delay-timeout=100s',
];

/** A line of a streamed answer. */
export interface Line<Found> {
  readonly result?: Found;
  readonly error?: { readonly message?: string };
}

export const isDepthError = (text: string): boolean => /maximum depth|max depth/i.test(text);

export async function startSpicedb(program: string): Promise<PeerServer> {
  await using parts = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'grantd-spicedb-'));
  parts.defer(() => rmSync(directory, { recursive: true, force: true }));
  const [http = '', grpc = ''] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
  const addresses = ['--grpc-addr', grpc, '--http-enabled', '--http-addr', http, '--grpc-preshared-key', KEY];
  const server = new BackgroundProcess({
    name: 'spicedb',
    command: ['prlimit', `--as=${MEMORY_BYTES_MAX}`, program, 'serve', ...addresses, ...SPICEDB_SETTINGS],
    logFile: join(directory, 'spicedb.log'),
  });
  parts.defer(() => server.stop());
  const url = `http://${http}`;
  const writesSchema = (): Promise<boolean> =>
    callSpicedb(url, 'schema/write', { schema: 'definition user {}' }).then(
      ({ status }) => status === 200,
      () => false,
    );
  await server.waitUntil(writesSchema, START_SECONDS_MAX);
  return { url, parts: parts.move() };
}

export const callSpicedb = (url: string, path: string, body: object): Promise<JsonAnswer> =>
  post(`${url}/v1/${path}`, body, { key: KEY });

/** A question. Undefined: there was no answer in time. */
export async function askSpicedb(url: string, path: string, body: object): Promise<JsonAnswer | undefined> {
  try {
    return await post(`${url}/v1/permissions/${path}`, { ...CONSISTENCY, ...body }, { key: KEY, boundMs: ASK_MS_MAX });
  } catch (error) {
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}
