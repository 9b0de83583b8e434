// The parsers of cluster settings: where Cassandra and the shards are, and their certificates. As in parsers.ts, no
// error repeats a text that may be a secret.

import { isIP } from 'node:net';
import { isLoopbackHost, splitAddress } from '../core/text/addresses.ts';
import { matching, parseAddress, quote } from './parsers.ts';
import { Secret } from './secret.ts';
import { type Origin, WrongSetting } from './setting.ts';

/** Far more than in any cluster. */
const NAMES_MAX = 1000;

const WILDCARD_HOSTS: ReadonlySet<string> = new Set(['0.0.0.0', '0', '[::]', '[::0]', '[0:0:0:0:0:0:0:0]']);

/** Whether an address means every address of the machine, so that it cannot be dialled. */
export function isWildcard(address: string): boolean {
  return WILDCARD_HOSTS.has(address.slice(0, address.lastIndexOf(':')));
}

/**
 * Whether an address is certainly reachable only from this machine. Other spellings of such addresses count as
 * uncertain.
 */
export function isLoopback(address: string): boolean {
  return isLoopbackHost(splitAddress(address).host);
}

/** `host:port` that another machine can dial. */
export function parseDialAddress(text: string): string {
  const address = parseAddress(text);
  if (isWildcard(address) || address.endsWith(':0')) {
    throw new WrongSetting(`must be a host:port that others can dial, not a wildcard or port 0; it is ${quote(text)}`);
  }
  return address;
}

export type DiscoverySource =
  | { readonly kind: 'static'; readonly addresses: readonly string[] }
  | { readonly kind: 'dns'; readonly name: string; readonly port: number }
  /** The port: its name in the Service, or its number. */
  | { readonly kind: 'kubernetes'; readonly namespace: string; readonly service: string; readonly port: string };

function splitList(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length > NAMES_MAX) throw new WrongSetting(`must list at most ${NAMES_MAX} names`);
  return parts;
}

function parseDns(text: string): DiscoverySource {
  const match = /^(?<name>[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}):(?<port>\d{1,5})$/.exec(text);
  const port = Number(match?.groups?.port);
  if (match?.groups?.name === undefined || !(port >= 1 && port <= 65_535)) {
    throw new WrongSetting(
      `must name a host and a port after dns:, like dns:grantd-shard:8082; it is ${quote(`dns:${text}`)}`,
    );
  }
  return Object.freeze({ kind: 'dns', name: match.groups.name, port });
}

/** The form of names of namespaces, Services and their ports in Kubernetes. */
const KUBERNETES_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** The default name of a shard's gRPC port in its Service. */
const KUBERNETES_PORT = 'rpc';

function parseKubernetes(text: string): DiscoverySource {
  const [, namespace = '', service = '', port = KUBERNETES_PORT] = /^([^/]*)\/([^:]*)(?::(.*))?$/.exec(text) ?? [];
  if (![namespace, service, port].every((name) => KUBERNETES_NAME.test(name))) {
    throw new WrongSetting(
      `must name a namespace and a Service after kubernetes:, like kubernetes:grantd/grantd-shards, and optionally a port, like kubernetes:grantd/grantd-shards:rpc; it is ${quote(`kubernetes:${text}`)}`,
    );
  }
  return Object.freeze({ kind: 'kubernetes', namespace, service, port });
}

/** `static:host:port,…`, `dns:name:port` or `kubernetes:namespace/service`. */
export function parseDiscovery(text: string): DiscoverySource {
  const kind = text.slice(0, text.indexOf(':') + 1);
  const rest = text.slice(kind.length);
  if (kind === 'static:') {
    return Object.freeze({
      kind: 'static',
      addresses: Object.freeze([...new Set(splitList(rest).map(parseDialAddress))]),
    });
  }
  if (kind === 'dns:') return parseDns(rest);
  if (kind === 'kubernetes:') return parseKubernetes(rest);
  throw new WrongSetting(
    `must be static:host:port,…, dns:name:port or kubernetes:namespace/service; it is ${quote(text)}`,
  );
}

/** Comma-separated hosts, with or without ports; an IPv6 host with a port needs brackets. */
export function parseContactPoints(text: string): readonly string[] {
  const points = splitList(text);
  for (const point of points) {
    const isHost = isIP(point) !== 0 || /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}$/.test(point);
    if (isHost) continue;
    try {
      parseDialAddress(point);
    } catch {
      throw new WrongSetting(`must be comma-separated hosts, each optionally with a port; ${quote(point)} is not one`);
    }
  }
  return Object.freeze([...new Set(points)]);
}

/** A name that Cassandra accepts without quotes. */
export const parseKeyspace = matching(
  /^[a-z][a-z0-9_]{0,47}$/,
  '1 to 48 lower-case letters, digits and "_", starting with a letter',
);

/** A name that others have chosen: anything printable. */
export const parseName = matching(/^[\x20-\x7e]{1,255}$/, '1 to 255 printable ASCII characters');

/** Comma-separated names as in certificates. */
export function parseCertificateNames(text: string): readonly string[] {
  const names = splitList(text);
  for (const name of names) {
    if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}$/.test(name)) {
      throw new WrongSetting(`must be comma-separated DNS names; ${quote(name)} is not one`);
    }
  }
  return Object.freeze(names);
}

export const parseSecretText = (text: string): Secret => new Secret(text);

export type PemKind = 'certificate' | 'private key';

const PEM_PATTERNS: Readonly<Record<PemKind, RegExp>> = {
  certificate: /-----BEGIN CERTIFICATE-----/,
  'private key': /-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/,
};

/** A PEM string. Errors never repeat it: it may be a key in place of a certificate. */
export function pemParser(kind: PemKind): (text: string) => string {
  return (text) => {
    if (!PEM_PATTERNS[kind].test(text)) throw new WrongSetting(`must be a ${kind} in PEM form`);
    return text;
  };
}

/**
 * A PEM string, or the absolute or relative path of its file. A file is read again when it changes, so its path is
 * kept.
 */
export function pemSourceParser(kind: PemKind): (text: string, origin: Origin) => string {
  const parse = pemParser(kind);
  return (text, { path }) => {
    const pem = parse(text);
    return path ?? pem;
  };
}

/** A key as PEM or as a path, for which see `pemSourceParser`; either form counts as a secret. */
export const parseKeySource = (text: string, origin: Origin): Secret =>
  new Secret(pemSourceParser('private key')(text, origin));

// ---- the store ----

/** For a single process, `grantd dev`. */
const EMBEDDED_STORE = 'sqlite';
/** For processes that share the store. */
const SHARED_STORES = ['cassandra'] as const;
export type StoreKind = typeof EMBEDDED_STORE | (typeof SHARED_STORES)[number];

export function parseStore(text: string, { role }: Origin): StoreKind {
  const shared = SHARED_STORES.find((each) => each === text);
  if (shared === undefined && text !== EMBEDDED_STORE) {
    throw new WrongSetting(`must be ${[EMBEDDED_STORE, ...SHARED_STORES].join(' or ')}; it is ${quote(text)}`);
  }
  if (role === 'dev' && shared !== undefined) {
    throw new WrongSetting(
      `is ${shared}, but grantd dev supports only the embedded store; with ${shared}, run grantd migrate, shard, front and console`,
    );
  }
  if (role !== 'dev' && shared === undefined) {
    throw new WrongSetting(
      `is ${EMBEDDED_STORE}, the embedded store, which only grantd dev supports; for grantd ${role}, set ${SHARED_STORES.join(' or ')}`,
    );
  }
  return shared ?? EMBEDDED_STORE;
}

export const parsePrivateKey = (text: string): Secret => new Secret(pemParser('private key')(text));
