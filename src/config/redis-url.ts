// The URL of Redis: one server, sentinels or a cluster.

import { Secret } from './secret.ts';
import { WrongSetting } from './setting.ts';

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;
const DATABASE_MAX = 1_000_000;
const ADDRESSES_MAX = 100;

export interface RedisUrl {
  readonly kind: 'server' | 'sentinel' | 'cluster';
  /** The server, the sentinels, or some cluster nodes. */
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: Secret | undefined;
  /** The sentinels' name for the master; only for sentinels. */
  readonly masterName: string | undefined;
  readonly database: number;
}

const SHAPE =
  /^redis(?<tls>s?)(?:\+(?<group>sentinel|cluster))?:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<addresses>[^@/?#]+)(?:\/(?<path>[^?#]*))?$/;
const FORMS =
  'redis://host:port/database, redis+sentinel://host:port,host:port/master-name or redis+cluster://host:port,host:port (rediss… for TLS), optionally with user:password@ before the hosts';

function parseAddresses(text: string, port: number): RedisUrl['addresses'] {
  const addresses = text.split(',').map((part) => {
    const match = /^(?:\[(?<bracketed>[0-9A-Fa-f:.]+)\]|(?<plain>[A-Za-z0-9_.-]+))(?::(?<port>\d{1,5}))?$/.exec(part);
    const { bracketed, plain, port: given } = match?.groups ?? {};
    const host = bracketed ?? plain;
    const number = Number(given ?? port);
    // The message does not repeat the part: it may belong to a password that contains an @.
    if (host === undefined || number < 1 || number > 65_535) {
      throw new WrongSetting('must name hosts, each optionally with a port from 1 to 65535');
    }
    return Object.freeze({ host, port: number });
  });
  if (addresses.length > ADDRESSES_MAX) throw new WrongSetting(`must name at most ${ADDRESSES_MAX} hosts`);
  return Object.freeze(addresses);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new WrongSetting('must percent-encode its user and password');
  }
}

function parseDatabase(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  const database = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (!(database <= DATABASE_MAX)) throw new WrongSetting('must name the database by its number');
  return database;
}

/** Errors never repeat the text: it may contain a password. */
export function parseRedisUrl(text: string): RedisUrl {
  const groups = SHAPE.exec(text)?.groups;
  if (groups?.addresses === undefined) {
    throw new WrongSetting(`must be ${FORMS}; percent-encode characters like @ and / in a password`);
  }
  const { group, user, password, path = '' } = groups;
  const kind = group === 'sentinel' || group === 'cluster' ? group : 'server';
  const addresses = parseAddresses(groups.addresses, kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT);
  const [first = '', second, ...rest] = path.split('/');
  if (kind === 'server' && addresses.length > 1) {
    throw new WrongSetting('must name one host; for several, use redis+sentinel:// or redis+cluster://');
  }
  if (kind === 'sentinel' && !/^[A-Za-z0-9_.-]{1,255}$/.test(first)) {
    throw new WrongSetting('must name the master after the sentinels, like redis+sentinel://host:port/master-name');
  }
  if (rest.length > 0 || (kind !== 'sentinel' && second !== undefined)) throw new WrongSetting(`must be ${FORMS}`);
  if (kind === 'cluster' && first !== '')
    throw new WrongSetting('must not name a database: a Redis cluster has only one');
  return Object.freeze({
    kind,
    addresses,
    tls: groups.tls === 's',
    username: user === undefined || user === '' ? undefined : decode(user),
    password: password === undefined || password === '' ? undefined : new Secret(decode(password)),
    masterName: kind === 'sentinel' ? first : undefined,
    database: kind === 'cluster' ? 0 : parseDatabase(kind === 'sentinel' ? second : first),
  });
}
