// The options of a client, with their defaults and bounds.

import { userAgent } from './agent.ts';
import type { Logger } from './log.ts';
import { invalidOption, type KnownOf, knownMembers } from './members.ts';
import type { CallHook, TransportOptions } from './transport.ts';

export interface GrantdOptions {
  /** Where the service is, such as `https://grantd.example.com`. By default `GRANTD_URL`, with `GRANTD_KEY`. */
  readonly url?: string | undefined;
  /** An API key. By default `GRANTD_KEY` of the environment, together with `GRANTD_URL`. */
  readonly key?: string | undefined;
  /** For a call with all its retries. By default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Whether checks of one moment are gathered into one request. By default true. */
  readonly batching?: boolean | undefined;
  /** How often one call is repeated at most. By default 5; 0: never. */
  readonly maxRetries?: number | undefined;
  /** The initial and maximum stock of retries of all calls; each call adds a tenth of one. By default 10; 0: none. */
  readonly retryBudget?: number | undefined;
  /** The bounds of the random pause before a retry: of the first, which doubles from retry to retry, and of any. By
   * default 50 ms and 2 s. */
  readonly backoff?: { readonly firstMs?: number | undefined; readonly maxMs?: number | undefined } | undefined;
  /** A stream of changes without a line for this long counts as interrupted. By default 45 s: the service sends a line
   * at least every 15 s. */
  readonly silenceMs?: number | undefined;
  /** Sent with each request. Those that the client sets itself are refused. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Added to the header User-Agent, such as `documents/1.2`. */
  readonly userAgent?: string | undefined;
  /** In place of the global one, for instance to use a proxy. */
  readonly fetch?: typeof fetch | undefined;
  /** Wraps every call, for instance in a span. */
  readonly hook?: CallHook | undefined;
  /** Gets an entry for each attempt of a call, such as `console`. By default there is no log. */
  readonly logger?: Logger | undefined;
  /** Called with each distinct hint of the service for developers, once. By default `console.warn`. */
  readonly onWarning?: ((warning: string) => void) | undefined;
}

const OPTIONS: KnownOf<GrantdOptions> = {
  url: true,
  key: true,
  timeoutMs: true,
  batching: true,
  maxRetries: true,
  retryBudget: true,
  backoff: { firstMs: true, maxMs: true },
  silenceMs: true,
  headers: true,
  userAgent: true,
  fetch: true,
  hook: true,
  logger: true,
  onWarning: true,
};

/** Throws a TypeError for an option that does not exist. */
export const knownOptions = (options: GrantdOptions): GrantdOptions =>
  knownMembers(options, OPTIONS, 'options', invalidOption);

const TIMEOUT_MS = 10_000;
/** The longest time of a timer. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;
const RETRIES_MAX = 5;
const RETRY_BUDGET = 10;
const BACKOFF_MS = 50;
const BACKOFF_MS_MAX = 2000;

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[!-~](?:[ -~]*[!-~])?$/;
const USER_AGENT = /^[!-~][ -~]{0,255}$/;

/** What the client, the connection or `fetch` decides. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

interface Environment {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

/** Undefined also if it is empty, or if the runtime has no environment or keeps it from the program. */
function variable(name: string): string | undefined {
  try {
    return (globalThis as Environment).process?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}

/** Both from one place: the key of the environment is for the address that the environment names. */
function addressAndKey(options: GrantdOptions) {
  if ((options.url === undefined) !== (options.key === undefined)) {
    const [given, other] = options.url === undefined ? ['key', 'url'] : ['url', 'key'];
    throw new TypeError(
      `The option ${given} is given without ${other}: give both, or neither and set GRANTD_URL and GRANTD_KEY in the environment.`,
    );
  }
  const { url = variable('GRANTD_URL'), key = variable('GRANTD_KEY') } = options;
  if (url !== undefined && key !== undefined) return { url, key };
  const missing = [...(url === undefined ? ['url'] : []), ...(key === undefined ? ['key'] : [])].join(' and no ');
  throw new TypeError(
    `There is no ${missing}: give the options url and key, or set GRANTD_URL and GRANTD_KEY in the environment.`,
  );
}

function checkedUrl(url: string): string {
  if (!URL.canParse(url)) throw new TypeError('The option url must be a URL, such as https://grantd.example.com.');
  const { protocol, username, password, search, hash } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new TypeError('The option url must begin with https: or http:.');
  if (`${username}${password}${search}${hash}` !== '') {
    throw new TypeError('The option url must have no credentials, query or fragment.');
  }
  return url;
}

function checkedKey(key: string): string {
  if (typeof key === 'string' && /^[!-~]+$/.test(key)) return key;
  throw new TypeError('The option key must be an API key.');
}

function checkedNumber(name: string, value: number, min: number): number {
  if (value >= min && value <= TIMEOUT_MS_MAX) return value;
  throw new TypeError(`The option ${name} must be a number from ${min} to ${TIMEOUT_MS_MAX}.`);
}

function checkedBackoff({ backoff = {} }: GrantdOptions): TransportOptions['backoff'] {
  const maxMs = checkedNumber('backoff.maxMs', backoff.maxMs ?? BACKOFF_MS_MAX, 0);
  const firstMs = checkedNumber('backoff.firstMs', backoff.firstMs ?? Math.min(BACKOFF_MS, maxMs), 0);
  if (firstMs > maxMs)
    throw new TypeError(`The option backoff.firstMs is ${firstMs}, more than backoff.maxMs: ${maxMs}.`);
  return { firstMs, maxMs };
}

function checkedHeaders(headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name))
      throw new TypeError(`The option headers has ${JSON.stringify(name)}, which is not the name of a header.`);
    if (OWN_HEADERS.has(name.toLowerCase())) {
      throw new TypeError(`The option headers may not have ${name}: the client sets it itself.`);
    }
    if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
      throw new TypeError(`The value of the header ${name} in the option headers is not one line of printable ASCII.`);
    }
  }
  return headers;
}

function checkedAgent(addition: string | undefined): string {
  if (addition === undefined || (typeof addition === 'string' && USER_AGENT.test(addition))) return userAgent(addition);
  throw new TypeError('The option userAgent must be up to 256 characters of printable ASCII.');
}

/** Throws a TypeError for invalid options. */
export function transportOptions(options: GrantdOptions): TransportOptions {
  const { timeoutMs = TIMEOUT_MS, maxRetries = RETRIES_MAX, retryBudget = RETRY_BUDGET, silenceMs = 1 } = options;
  const { url, key } = addressAndKey(options);
  checkedNumber('silenceMs', silenceMs, 1);
  const fetchIt = options.fetch ?? fetch;
  return {
    url: checkedUrl(url),
    key: checkedKey(key),
    timeoutMs: checkedNumber('timeoutMs', timeoutMs, 1),
    maxRetries: checkedNumber('maxRetries', maxRetries, 0),
    retryBudget: checkedNumber('retryBudget', retryBudget, 0),
    backoff: checkedBackoff(options),
    headers: { ...checkedHeaders(options.headers), 'user-agent': checkedAgent(options.userAgent) },
    // Without a receiver: the one of a browser refuses any other than its window.
    fetch: (...args) => fetchIt(...args),
    hook: options.hook,
    logger: options.logger,
    onWarning: options.onWarning ?? ((warning) => console.warn(`grantd: ${warning}`)),
  };
}
