// The options of a client, with their defaults and bounds.

import type { CallHook, TransportOptions } from './transport.ts';

export interface GrantdOptions {
  /** Where the service is, such as `https://grantd.example.com`. */
  readonly url: string;
  /** An API key. */
  readonly key: string;
  /** For a call with all its retries. By default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Whether checks of one moment are gathered into one request. By default true. */
  readonly batching?: boolean | undefined;
  /** The initial and maximum stock of retries; each call adds a tenth of one. By default 10; 0: no retries. */
  readonly retryBudget?: number | undefined;
  /** A stream of changes without a line for this long counts as interrupted. By default 45 s: the service sends a line
   * at least every 15 s. */
  readonly silenceMs?: number | undefined;
  /** In place of the global one, for instance to use a proxy. */
  readonly fetch?: typeof fetch | undefined;
  /** Wraps every call, for instance in a span. */
  readonly hook?: CallHook | undefined;
  /** Called with each distinct hint of the service for developers, once. By default `console.warn`. */
  readonly onWarning?: ((warning: string) => void) | undefined;
}

const TIMEOUT_MS = 10_000;
/** Of a timer. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;
const RETRY_BUDGET = 10;

function checkedUrl(url: string): string {
  const { protocol, username, password, search, hash } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new TypeError('The option url must begin with https: or http:.');
  if (`${username}${password}${search}${hash}` !== '') {
    throw new TypeError('The option url must have no credentials, query or fragment.');
  }
  return url;
}

function checkedNumber(name: string, value: number, min: number): number {
  if (value >= min && value <= TIMEOUT_MS_MAX) return value;
  throw new TypeError(`The option ${name} must be a number from ${min} to ${TIMEOUT_MS_MAX}.`);
}

/** Throws a TypeError for invalid options. */
export function transportOptions(options: GrantdOptions): TransportOptions {
  const { key, timeoutMs = TIMEOUT_MS, retryBudget = RETRY_BUDGET, silenceMs = 1 } = options;
  if (typeof key !== 'string' || !/^[!-~]+$/.test(key)) throw new TypeError('The option key must be an API key.');
  checkedNumber('silenceMs', silenceMs, 1);
  const fetchIt = options.fetch ?? fetch;
  return {
    url: checkedUrl(options.url),
    key,
    timeoutMs: checkedNumber('timeoutMs', timeoutMs, 1),
    retryBudget: checkedNumber('retryBudget', retryBudget, 0),
    // Without a receiver: the one of a browser refuses any other than its window.
    fetch: (...args) => fetchIt(...args),
    hook: options.hook,
    onWarning: options.onWarning ?? ((warning) => console.warn(`grantd: ${warning}`)),
  };
}
