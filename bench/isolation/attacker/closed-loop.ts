// Connections that each send the next request when they have the response to the last one, for as long as the attack
// runs.

import { Connection } from '../../load/connection.ts';
import type { AttackRun } from './attack-run.ts';

const REOPEN_MS = 50;
/** Twice the deadline of a request. */
const RESPONSE_MS_MAX = 20_000;

export interface ClosedLoopOptions {
  readonly url: string;
  readonly connections: number;
  /** For all connections together. Default: bounded only by time. */
  readonly requestsMax?: number;
  /** Waits for all responses, whatever the duration of the attack. */
  readonly isOnce?: boolean;
  /** The whole request with that number. */
  readonly requestOf: (number: number) => string;
  /** Default: counts statuses. */
  readonly onResponse?: (status: number, body: string, number: number) => void;
}

/** The bytes of a whole request, one per character, as a connection sends them. */
export function bodyRequest(method: string, path: string, key: string, body: string): string {
  const bytes = Buffer.from(body);
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: grantd',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${bytes.length}`,
    '',
    '',
  ].join('\r\n');
  return `${head}${bytes.toString('latin1')}`;
}

export const postRequest = (path: string, key: string, body: string): string => bodyRequest('POST', path, key, body);

/**
 * Resolves when every allowed request has a response or is lost, or the attack is over and there has been a response.
 */
export function runClosedLoop(run: AttackRun, options: ClosedLoopOptions): Promise<void> {
  const { url, connections, requestsMax = Number.POSITIVE_INFINITY, isOnce = false, requestOf } = options;
  const { hostname: host, port } = new URL(url);
  const onResponse = options.onResponse ?? ((status: number): void => run.count(status));
  const done = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  let sent = 0;
  let open = 0;
  const sendNext = (connection: Connection): void => {
    if ((run.isOver && !isOnce) || sent >= requestsMax) {
      connection.destroy();
      open -= 1;
      if (open === 0) done.resolve();
      return;
    }
    connection.request = sent;
    sent += 1;
    connection.send(requestOf(connection.request));
  };
  const openOne = (): void => {
    let isLost = false;
    const connection = new Connection(
      { host, port: Number(port) },
      {
        onOpen: sendNext,
        onAnswer: (answered, status, body) => {
          onResponse(status, body, answered.request);
          first.resolve();
          sendNext(answered);
        },
        onError: () => {
          if (isLost) return;
          isLost = true;
          run.count('reset');
          connection.destroy();
          setTimeout(openOne, REOPEN_MS);
        },
      },
    );
  };
  open = connections;
  for (let index = 0; index < connections; index += 1) openOne();
  if (!isOnce) return Promise.race([done.promise, Promise.all([run.over, first.promise]).then(() => {})]);
  // A request that never gets a response, not even a refusal, is a defect too.
  const late = setTimeout(() => {
    run.reject(`after ${RESPONSE_MS_MAX} ms, ${open} connections have no response`);
    done.resolve();
  }, RESPONSE_MS_MAX);
  return done.promise.finally(() => clearTimeout(late));
}
