// The parsers for the forms of settings. Each takes a non-empty text and returns the typed value, or throws a
// WrongSetting that says what is expected. No error repeats a text that may be a secret.

import { createHash } from 'node:crypto';
import { isIP, SocketAddress } from 'node:net';
import { parseApiKey } from '../core/api-keys.ts';
import { GrantdError } from '../core/errors.ts';
import { parseClusterId, parseTenantId } from '../core/ids.ts';
import { isUnknown } from '../core/json-members.ts';
import {
  DEFAULT_PLAN_NAME,
  GRANTS_MAX_DEFAULT,
  KEYS_MAX_DEFAULT,
  NAMESPACES_MAX_DEFAULT,
  type Plan,
  type Plans,
  READERS_AUTO_MAX_DEFAULT,
  READERS_MAX,
  STREAMS_MAX_DEFAULT,
} from '../core/plans.ts';
import { OPERATOR_ACCESS, type OperatorAccess } from '../core/scopes.ts';
import { isLoopbackHost } from '../core/text/addresses.ts';
import { parseJson } from '../core/text/json.ts';
import { Secret } from './secret.ts';
import { type Origin, WrongSetting } from './setting.ts';

/** How much of a wrong value a message quotes: enough to find it, on one line. */
const QUOTED_LENGTH_MAX = 100;

/** A quoted text in a message, cut if it is long. */
export const quote = (text: string): string =>
  JSON.stringify(text.length > QUOTED_LENGTH_MAX ? `${text.slice(0, QUOTED_LENGTH_MAX)}…` : text);

/** A parser of texts for which `read` returns a value. `wanted` completes "must be …". */
export const parserOf =
  <Value>(read: (text: string) => Value | undefined, wanted: string): ((text: string) => Value) =>
  (text) => {
    const value = read(text);
    if (value === undefined) throw new WrongSetting(`must be ${wanted}; it is ${quote(text)}`);
    return value;
  };

export const matching = (pattern: RegExp, wanted: string): ((text: string) => string) =>
  parserOf((text) => (pattern.test(text) ? text : undefined), wanted);

/** `host:port`; an IPv6 host needs brackets. Port 0 means any free port. */
export const parseAddress = parserOf((text) => {
  const { host = '', port } = /^(?<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  const isHost = !host.startsWith('[') || isIP(host.slice(1, -1)) === 6;
  return isHost && Number(port) <= 65_535 ? text : undefined;
}, 'host:port, like 127.0.0.1:8080 or [::1]:8080');

export const parseTenant = parserOf(parseTenantId, 'a tenant ID: ten_ followed by 26 letters and digits');
export const parseCluster = parserOf(parseClusterId, 'a cluster ID: clu_ followed by 26 letters and digits');
export const parseBoolean = parserOf(
  (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  'true or false',
);

const CLUSTER_NAME_LENGTH_MAX = 64;
export const parseClusterName = parserOf(
  (text) => (text.length > CLUSTER_NAME_LENGTH_MAX || /[\p{C}\p{Zl}\p{Zp}]/u.test(text) ? undefined : text),
  `1 to ${CLUSTER_NAME_LENGTH_MAX} characters without control characters`,
);

const inRange = (value: number, min: number, max: number): number | undefined =>
  value >= min && value <= max ? value : undefined;

export const integerParser = (min: number, max: number): ((text: string) => number) =>
  parserOf(
    (text) => inRange(/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN, min, max),
    `a whole number from ${min} to ${max}`,
  );

const BYTE_UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['Ki', 1024],
  ['Mi', 1024 ** 2],
  ['Gi', 1024 ** 3],
]);

/** Plain bytes, or a whole number of KiB, MiB or GiB; Kubernetes writes these without the B. */
export const bytesParser = (min: number, max: number): ((text: string) => number) =>
  parserOf((text) => {
    const { amount, unit = '' } = /^(?<amount>\d{1,15})(?:(?<unit>[KMG]i)B?)?$/.exec(text)?.groups ?? {};
    return inRange(Number(amount) * (BYTE_UNITS.get(unit) ?? 1), min, max);
  }, `from ${min} to ${max} bytes, as a plain number or like 256MiB or 256Mi (K, M, G)`);

export const choiceParser = <Choice extends string>(choices: readonly Choice[]): ((text: string) => Choice) =>
  parserOf((text) => choices.find((each) => each === text), `one of ${choices.join(', ')}`);

function demandUrl(text: string, refused: RegExp, form: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && url.username === '' && url.password === '' && !refused.test(text);
  if (isPlain && ['http:', 'https:'].includes(url.protocol)) return;
  throw new WrongSetting(
    `must be an http or https URL without ${form}; it is ${quote(text.replace(/\/\/[^/]*@/, '//…@'))}`,
  );
}

/** An address that a page links to: it may have a query, but no password. */
export function parseLinkUrl(text: string): string {
  demandUrl(text, /[#\s]/, 'user or fragment, like https://grafana.example.com/d/grantd');
  return text;
}

/** Without a trailing `/`, so that paths can be appended. */
export function parseUrl(text: string): string {
  demandUrl(text, /[?#\s]/, 'user, query or fragment, like https://grantd.example.com');
  return text.replace(/\/+$/, '');
}

export const parseShardName = matching(
  /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/,
  '1 to 63 lower-case letters, digits, "-" or ".", as in a host name',
);

export function parsePath(text: string): string {
  if (text.includes('\0')) throw new WrongSetting('must be a path without NUL characters');
  return text;
}

/** Names of well-known ranges. */
const PROXY_NAMES: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal']);

const IPV4_MAPPED_BITS = 96;

/**
 * An IPv4 range in IPv6 notation with an IPv4 prefix length: it looks like one network, but matches nearly every
 * address.
 */
const isMappedByMistake = (address: string, prefix: number): boolean =>
  prefix < IPV4_MAPPED_BITS && new SocketAddress({ address, family: 'ipv6' }).address.startsWith('::ffff:');

/** Comma-separated addresses, ranges (CIDR) and names of ranges. */
export function parseTrustedProxies(text: string): readonly string[] {
  const proxies = text.split(',').map((part) => part.trim());
  for (const proxy of proxies) {
    const [address = '', prefix, ...rest] = proxy.split('/');
    const version = isIP(address);
    const prefixFits =
      prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
    if (!PROXY_NAMES.has(proxy) && (version === 0 || !prefixFits || rest.length > 0)) {
      throw new WrongSetting(
        `must be comma-separated IP addresses or ranges like 10.0.0.0/8, or loopback, linklocal, uniquelocal; ${quote(proxy)} is not one`,
      );
    }
    if (version === 6 && prefix !== undefined && isMappedByMistake(address, Number(prefix))) {
      throw new WrongSetting(`must write IPv4 ranges in IPv4 notation, like 10.0.0.0/8; it has ${quote(proxy)}`);
    }
  }
  return Object.freeze(proxies);
}

export const OPERATOR_TOKEN_LENGTH_MIN = 32;
/** The operator's commands may also use an access token of an identity provider; half of what a header may have. */
const OPERATOR_TOKEN_LENGTH_MAX = 8192;

/** Printable ASCII without spaces, so that it fits into a header unchanged. */
export function parseOperatorToken(text: string): Secret {
  if (
    !/^[\x21-\x7e]+$/.test(text) ||
    text.length < OPERATOR_TOKEN_LENGTH_MIN ||
    text.length > OPERATOR_TOKEN_LENGTH_MAX
  ) {
    throw new WrongSetting(
      `must be ${OPERATOR_TOKEN_LENGTH_MIN} to ${OPERATOR_TOKEN_LENGTH_MAX} printable ASCII characters without spaces; it has ${text.length} characters`,
    );
  }
  return new Secret(text);
}

/** An API key, as far as its text shows. */
export function parseKeyText(text: string): Secret {
  if (parseApiKey(text) === undefined) {
    throw new WrongSetting(`must be a whole API key: gk1_ and 81 more characters; it has ${text.length} characters`);
  }
  return new Secret(text);
}

export interface NamedToken {
  /** Appears in the audit log as `operator:<name>`. */
  readonly name: string;
  /** SHA-256 of the token: 64 hexadecimal characters, lower case. */
  readonly sha256: string;
  readonly access: OperatorAccess;
}

/** The name of the token of GRANTD_OPERATOR_TOKEN in the audit log. */
export const OPERATOR_NAME_DEFAULT = 'operator';

export function namedToken(name: string, token: Secret): NamedToken {
  return { name, sha256: createHash('sha256').update(token.reveal(), 'utf8').digest('hex'), access: 'full' };
}

const NAMED_TOKENS_MAX = 1000;

/**
 * Lines `name:sha256`, or `name:sha256:read-only`; empty lines and lines that start with `#` are ignored. Errors never
 * repeat a line: it may be a token by mistake.
 */
export function parseNamedTokens(text: string): readonly NamedToken[] {
  const tokens: NamedToken[] = [];
  const names = new Set([OPERATOR_NAME_DEFAULT]);
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const match = /^(?<name>[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}):(?<sha256>[0-9A-Fa-f]{64})(?::(?<given>.*))?$/.exec(line);
    const { name, sha256, given = 'full' } = match?.groups ?? {};
    const access = OPERATOR_ACCESS.find((each) => each === given);
    if (name === undefined || sha256 === undefined || access === undefined) {
      throw new WrongSetting(
        `must contain lines of the form name:sha256, with 64 hexadecimal characters, optionally followed by :read-only or :full; line ${index + 1} does not match`,
      );
    }
    if (names.has(name)) {
      throw new WrongSetting(
        `must give each name only once, and never "${OPERATOR_NAME_DEFAULT}"; line ${index + 1} gives ${quote(name)} again`,
      );
    }
    if (tokens.length === NAMED_TOKENS_MAX) throw new WrongSetting(`must contain at most ${NAMED_TOKENS_MAX} tokens`);
    names.add(name);
    tokens.push(Object.freeze({ name, sha256: sha256.toLowerCase(), access }));
  }
  return Object.freeze(tokens);
}

export interface NamedTokens {
  readonly tokens: readonly NamedToken[];
  /** The file that contains them, which may change; undefined: they were given as text. */
  readonly path: string | undefined;
}

export function parseTokenSource(text: string, { path }: Origin): NamedTokens {
  return Object.freeze({ tokens: parseNamedTokens(text), path });
}

const PLAN_FIELDS = [
  'requests',
  'window_seconds',
  'namespaces_max',
  'keys_max',
  'grants_max',
  'streams_max',
  'readers',
  'readers_max',
];
const PLANS_MAX = 100;
const REQUESTS_MAX = 1_000_000_000;
const WINDOW_SECONDS_MAX = 86_400;
const BOUND_MAX = 100_000;
const GRANTS_BOUND_MAX = 1_000_000_000_000;

/** `standing`: the current plan of that name. */
function parsePlan(name: string, value: unknown, standing: Plan | undefined): Plan {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new WrongSetting(`must give the plan ${quote(name)} as an object`);
  }
  const fields = new Map<string, unknown>(Object.entries(value));
  for (const field of fields.keys()) {
    if (!PLAN_FIELDS.includes(field))
      throw new WrongSetting(
        `gives the plan ${quote(name)} a field ${quote(field)}, which ${isUnknown(field, PLAN_FIELDS)}`,
      );
  }
  const read = (
    field: string,
    max: number,
    fallback: number | undefined,
    min = 1,
    wanted = `a "${field}" that is a whole number from ${min} to ${max}`,
  ): number => {
    const given = fields.has(field) ? fields.get(field) : fallback;
    if (typeof given !== 'number' || !Number.isInteger(given) || given < min || given > max) {
      throw new WrongSetting(`must give the plan ${quote(name)} ${wanted}`);
    }
    return given;
  };
  const readGrantsMax = (): number | undefined => {
    if (!fields.has('grants_max')) return standing === undefined ? GRANTS_MAX_DEFAULT : standing.grantsMax;
    return fields.get('grants_max') === null ? undefined : read('grants_max', GRANTS_BOUND_MAX, undefined);
  };
  const wantedReaders = `"readers" that are a whole number from 0 to ${READERS_MAX}, or "auto"`;
  return Object.freeze({
    name,
    requests: fields.get('requests') === null ? undefined : read('requests', REQUESTS_MAX, undefined),
    windowSeconds: read('window_seconds', WINDOW_SECONDS_MAX, undefined),
    namespacesMax: read('namespaces_max', BOUND_MAX, NAMESPACES_MAX_DEFAULT),
    keysMax: read('keys_max', BOUND_MAX, KEYS_MAX_DEFAULT),
    grantsMax: readGrantsMax(),
    streamsMax: read('streams_max', BOUND_MAX, standing?.streamsMax ?? STREAMS_MAX_DEFAULT),
    readers: fields.get('readers') === 'auto' ? 'auto' : read('readers', READERS_MAX, 0, 0, wantedReaders),
    readersMax: read('readers_max', READERS_MAX, READERS_AUTO_MAX_DEFAULT, 0),
  });
}

/** Merges the plans of a JSON text into `builtIn`. A plan with a built-in name replaces that plan as a whole. */
export function plansParser(builtIn: Plans): (text: string) => Plans {
  return (text) => {
    let parsed: unknown;
    try {
      parsed = parseJson(text, 'it');
    } catch (error) {
      throw new WrongSetting(`must be JSON: ${GrantdError.from(error).message.replace(/\.$/, '')}`);
    }
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      throw new WrongSetting('must be a JSON object of plans by name');
    }
    const plans = new Map(builtIn);
    for (const [name, value] of Object.entries(parsed)) {
      if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)) {
        throw new WrongSetting(
          `must name plans with 1 to 64 lower-case letters, digits, "_" or "-"; ${quote(name)} is not such a name`,
        );
      }
      plans.set(name, parsePlan(name, value, builtIn.get(name)));
    }
    if (plans.size > PLANS_MAX) throw new WrongSetting(`must contain at most ${PLANS_MAX} plans`);
    if (plans.get(DEFAULT_PLAN_NAME) === undefined) throw new WrongSetting(`must keep the plan "${DEFAULT_PLAN_NAME}"`);
    return plans;
  };
}

// ---- the identity provider ----

const TEXT_LENGTH_MAX = 256;
const TEXTS_MAX = 100;

/** Kept to the letter, since tokens repeat it: some issuers end in `/`. */
export function parseIssuer(text: string): string {
  parseUrl(text);
  const { protocol, hostname } = new URL(text);
  if (protocol !== 'https:' && !isLoopbackHost(hostname)) {
    throw new WrongSetting(`must begin with https:// unless the host is loopback; it is ${quote(text)}`);
  }
  if (text.includes('/.well-known/')) {
    throw new WrongSetting('must be the issuer itself, without /.well-known/openid-configuration');
  }
  return text;
}

/** Client ids, audiences and names of claims. */
export const parseToken = matching(
  new RegExp(`^[\\x21-\\x7e]{1,${TEXT_LENGTH_MAX}}$`),
  `1 to ${TEXT_LENGTH_MAX} printable ASCII characters without spaces`,
);

export const parseTexts = parserOf((text): readonly string[] | undefined => {
  const names = text.split(',').map((part) => part.trim());
  const isWrong = names.length > TEXTS_MAX || names.some((name) => name === '' || name.length > TEXT_LENGTH_MAX);
  return isWrong ? undefined : Object.freeze(names);
}, `at most ${TEXTS_MAX} values of 1 to ${TEXT_LENGTH_MAX} characters, separated by commas`);

export const parseLogInScope = parserOf((text) => {
  const scopes = text.split(' ');
  const areScopes = scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  return areScopes && scopes.includes('openid') ? text : undefined;
}, 'scopes separated by single spaces, one of them openid');

// ---- traces and the decision log ----

const PAIRS_MAX = 64;
/** RFC 9110 section 5.1. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\x20-\x7e]*$/;

/**
 * `key=value,key=value`, percent-encoded: the form of W3C Baggage. Errors never repeat the text: it may be a secret.
 */
export function parsePairs(text: string): Readonly<Record<string, string>> {
  const pairs: [string, string][] = [];
  for (const part of text.split(',').filter((each) => each.trim() !== '')) {
    const end = part.indexOf('=');
    const key = part.slice(0, Math.max(end, 0)).trim();
    if (key === '') throw new WrongSetting('must be comma-separated pairs of the form key=value');
    try {
      pairs.push([decodeURIComponent(key), decodeURIComponent(part.slice(end + 1).trim())]);
    } catch {
      throw new WrongSetting('must be percent-encoded: two hexadecimal digits must follow each "%"');
    }
  }
  if (pairs.length > PAIRS_MAX) throw new WrongSetting(`must contain at most ${PAIRS_MAX} pairs`);
  return Object.freeze(Object.fromEntries(pairs));
}

export function parseHeaders(text: string): Secret {
  for (const [name, value] of Object.entries(parsePairs(text))) {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) {
      throw new WrongSetting('must name HTTP headers with values of printable ASCII characters');
    }
  }
  return new Secret(text);
}

export const parseRatio = parserOf(
  (text) => inRange(/^(\d+(\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN, 0, 1),
  'a number from 0 to 1',
);

/** Each is looked up for every request. */
const TENANTS_MAX = 1000;

export function parseTenants(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length > TENANTS_MAX) throw new WrongSetting(`must contain at most ${TENANTS_MAX} tenant ids`);
  return Object.freeze(parts.map(parseTenant));
}
