// HTTP to the API server of Kubernetes: a read and a watch, both bounded and both ended by a signal. Its address, its
// authority and the credentials come from @kubernetes/client-node, loaded again for every request: tokens, certificates
// and a kubeconfig change while the process runs.
//
// This code makes the requests itself, because those of the library (2.0.1) do not fit a process that runs for months.
// Its informer ends for good at the first list or watch that fails. Its Watch ends after 30 seconds of real time
// without an event, drops the body of an error response, swallows an event that cannot be handled, and has no bound for
// a line. Each request creates a pool of connections that is never closed.

import { type IncomingMessage, request as requestPlain } from 'node:http';
import { type RequestOptions, request as requestTls } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { untilAborted } from '../../core/async/clock.ts';
import { ApiFailure, failureOfStatus, statusMessage } from './endpoint-slices.ts';

/** About 20,000 endpoints, far more than any cluster of shards has. */
const BODY_LENGTH_MAX = 16 * 1024 * 1024;
/** An object in etcd has 1.5 MiB at most. */
const LINE_LENGTH_MAX = 4 * 1024 * 1024;
const STATUS_LENGTH_MAX = 64 * 1024;
/** The value of the Go clients: detects a dead link sooner than a silent watch would. */
const KEEP_ALIVE_MS = 30_000;

export interface ApiServer {
  /** The JSON value at `path`. */
  read(path: string, signal: AbortSignal): Promise<unknown>;
  /**
   * Resolves once the server has accepted the watch; then yields every line as a JSON value, until the server ends it.
   */
  watch(path: string, signal: AbortSignal): Promise<AsyncIterable<unknown>>;
}

export type LoadKubeConfig = () => Promise<KubeConfig>;

/** KubeConfig's default if it finds no configuration. */
const NOTHING_FOUND = 'http://localhost:8080';

/** KUBECONFIG or the user's kubeconfig, otherwise the service account of the pod. */
const loadByDefault: LoadKubeConfig = async () => {
  // Loaded only here: it takes a second and tens of megabytes, which no other process should pay for.
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromDefault();
  if (config.getCurrentCluster()?.server === NOTHING_FOUND) {
    throw new ApiFailure('invalid', 'No service account token is mounted, and KUBECONFIG is not set.');
  }
  return config;
};

/** Errors of the system name files and programs; other errors may quote what was read, which is secret. */
function describeSystemError(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(describeSystemError))].join('; ');
  if (!(error instanceof Error)) return 'unknown error';
  return 'code' in error && typeof error.code === 'string' ? error.message : error.name;
}

async function prepare(load: LoadKubeConfig): Promise<{ readonly server: string; readonly options: RequestOptions }> {
  try {
    const config = await load();
    const server = config.getCurrentCluster()?.server;
    if (server === undefined) throw new ApiFailure('invalid', 'The kubeconfig has no current context.');
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    // A token from a file has a trailing line break, which is not allowed in a header.
    const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [name, String(value).trim()]);
    return {
      server,
      options: { ...options, headers: { ...Object.fromEntries(headers), accept: 'application/json' } },
    };
  } catch (error) {
    if (error instanceof ApiFailure) throw error;
    throw new ApiFailure('invalid', `The Kubernetes client configuration is not usable: ${describeSystemError(error)}`);
  }
}

/** The failure for any error; if the signal ended the request, its reason. */
function failureOf(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof ApiFailure) return error;
  return new ApiFailure('unreachable', describeSystemError(error));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiFailure('invalid', 'The response is not JSON.');
  }
}

async function readText(response: IncomingMessage, lengthMax: number): Promise<string> {
  let text = '';
  for await (const chunk of response) {
    text += chunk;
    if (text.length > lengthMax)
      throw new ApiFailure('invalid', `The response is longer than ${lengthMax} characters.`);
  }
  return text;
}

async function refusal(response: IncomingMessage): Promise<ApiFailure> {
  const status = response.statusCode ?? 0;
  let message: string | undefined;
  try {
    message = statusMessage(JSON.parse(await readText(response, STATUS_LENGTH_MAX)));
  } catch {
    // The body would be useful, but the status is enough.
  }
  return failureOfStatus(status, message ?? `The API server responds with status ${status}.`);
}

async function* readLines(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<unknown> {
  try {
    let rest = '';
    for await (const chunk of response) {
      const [first = '', ...others] = String(chunk).split('\n');
      const lines = [rest + first, ...others];
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield parseJson(line);
      if (rest.length > LINE_LENGTH_MAX) throw new ApiFailure('invalid', 'A line of the watch is too long.');
    }
  } catch (error) {
    const failure = failureOf(error, signal);
    throw failure instanceof ApiFailure && failure.kind === 'unreachable'
      ? new ApiFailure('interrupted', `The watch was interrupted: ${failure.message}`)
      : failure;
  }
}

/** `load`: by default, the environment of the process says where the API server is. */
export function createApiServer(load: LoadKubeConfig = loadByDefault): ApiServer {
  /** The response, if its status is 200. */
  async function open(path: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { server, options } = await untilAborted(prepare(load), signal);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const send = server.startsWith('http:') ? requestPlain : requestTls;
      const request = send(server + path, { ...options, signal }, resolve);
      request.setSocketKeepAlive(true, KEEP_ALIVE_MS);
      request.on('error', reject);
      request.end();
    });
    response.setEncoding('utf8');
    if (response.statusCode !== 200) throw await refusal(response);
    return response;
  }

  return {
    async read(path, signal) {
      try {
        return parseJson(await readText(await open(path, signal), BODY_LENGTH_MAX));
      } catch (error) {
        throw failureOf(error, signal);
      }
    },
    async watch(path, signal) {
      try {
        return readLines(await open(path, signal), signal);
      } catch (error) {
        throw failureOf(error, signal);
      }
    },
  };
}
