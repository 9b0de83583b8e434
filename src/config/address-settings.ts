// The settings that say where a process listens, how the others find it, and with which certificates they speak.

import {
  parseCertificateNames,
  parseDialAddress,
  parseDiscovery,
  parseKeySource,
  parseName,
  pemSourceParser,
} from './cluster-parsers.ts';
import { parseAddress, parseBoolean, parseShardName } from './parsers.ts';
import { optional, plain, row } from './setting.ts';

const RPC_TLS = 'Give all three or none; the files of those given as files are read again when they change.' as const;

export const ADDRESS_SETTINGS = Object.freeze({
  httpAddress: row({
    ...plain,
    name: 'GRANTD_HTTP_ADDRESS',
    roles: ['dev', 'front'],
    form: 'host:port',
    parse: parseAddress,
    default: '0.0.0.0:8080',
    defaults: { dev: '127.0.0.1:8080' },
    description: 'Where the public API listens. Port 0 takes any free one.',
  }),
  opsAddress: row({
    ...plain,
    name: 'GRANTD_OPS_ADDRESS',
    roles: ['dev', 'front', 'shard', 'console'],
    form: 'host:port',
    parse: parseAddress,
    default: '0.0.0.0:8081',
    defaults: { dev: '127.0.0.1:8081' },
    description: 'Where `/livez`, `/readyz` and `/metrics` are served.',
  }),
  consoleAddress: row({
    ...plain,
    name: 'GRANTD_CONSOLE_ADDRESS',
    roles: ['dev', 'console'],
    form: 'host:port',
    parse: parseAddress,
    default: '0.0.0.0:8090',
    defaults: { dev: '127.0.0.1:8090' },
    description: "Where the operator's API is served, under `/operator/v1/`.",
  }),
  rpcAddress: optional({
    ...plain,
    name: 'GRANTD_RPC_ADDRESS',
    roles: ['dev', 'shard'],
    form: 'host:port',
    parse: parseAddress,
    defaults: { shard: '0.0.0.0:8082' },
    unset: 'nowhere: fronts and shards are one process',
    description:
      "Where a shard's gRPC listens. Beyond loopback it needs mutual TLS (`GRANTD_RPC_TLS_CERT` and the two beside it) or `GRANTD_RPC_INSECURE`. With several shards in one process the first takes this port and each further one the next; with port 0 each takes any free one.",
  }),
  rpcInsecure: row({
    ...plain,
    name: 'GRANTD_RPC_INSECURE',
    roles: ['dev', 'shard'],
    form: 'true or false',
    parse: parseBoolean,
    default: 'false',
    description:
      "With `true`, a shard listens beyond loopback without mutual TLS. Whoever reaches its port can then make the operator's calls, for every tenant and without any token, and reads keys and grants on the network. A warning says so at each start.",
  }),
  rpcAdvertise: optional({
    ...plain,
    name: 'GRANTD_RPC_ADVERTISE',
    roles: ['shard'],
    form: 'host:port',
    parse: parseDialAddress,
    unset: 'the host of `GRANTD_RPC_ADDRESS`, or the host name where that is a wildcard, with the port that was bound',
    description: "The address under which fronts, consoles and other shards dial this shard's gRPC.",
  }),
  shardName: optional({
    ...plain,
    name: 'GRANTD_SHARD_NAME',
    roles: ['dev', 'shard'],
    form: 'name',
    parse: parseShardName,
    defaults: { dev: 'dev' },
    unset: 'the host name',
    description:
      'The stable name of the shard: the same over restarts, distinct per shard. In `dev` the number of each shard follows it: `dev-1`, `dev-2`.',
  }),
  discovery: optional({
    ...plain,
    name: 'GRANTD_DISCOVERY',
    roles: ['front', 'console'],
    form: '`static:host:port,…`, `dns:name:port` or `kubernetes:namespace/service`',
    parse: parseDiscovery,
    unset: 'none',
    requiredBy: ['front', 'console'],
    description:
      'Where shards are looked for. One that answers is enough: it names the others. `dns` dials every address of the name, and looks it up every 2 seconds. `kubernetes` watches the EndpointSlices of the Service, at its port `rpc` or the one named after a colon.',
  }),
  rpcTlsCert: optional({
    name: 'GRANTD_RPC_TLS_CERT',
    roles: ['front', 'shard', 'console'],
    form: 'PEM',
    parse: pemSourceParser('certificate'),
    unset: 'gRPC without TLS',
    file: true,
    secret: false,
    description: `The certificate of this process for the gRPC between fronts, consoles and shards, with the intermediate ones after it. It proves both ends. ${RPC_TLS}`,
  }),
  rpcTlsKey: optional({
    name: 'GRANTD_RPC_TLS_KEY',
    roles: ['front', 'shard', 'console'],
    form: 'PEM',
    parse: parseKeySource,
    unset: 'gRPC without TLS',
    file: true,
    secret: true,
    description: 'The private key of that certificate.',
  }),
  rpcTlsCa: optional({
    name: 'GRANTD_RPC_TLS_CA',
    roles: ['front', 'shard', 'console'],
    form: 'PEM',
    parse: pemSourceParser('certificate'),
    unset: 'gRPC without TLS',
    file: true,
    secret: false,
    description: "The authorities by which the other end's certificate is judged.",
  }),
  rpcTlsConsoleNames: row({
    ...plain,
    name: 'GRANTD_RPC_TLS_CONSOLE_NAMES',
    roles: ['shard'],
    form: 'comma-separated names',
    parse: parseCertificateNames,
    default: 'grantd-console',
    description:
      'With TLS: whose certificates may make the calls of an operator. One of the DNS names of the certificate has to be one of these, as a whole.',
  }),
  rpcTlsServerName: optional({
    ...plain,
    name: 'GRANTD_RPC_TLS_SERVER_NAME',
    roles: ['front', 'console'],
    form: 'host name',
    parse: parseName,
    unset: 'the name that `GRANTD_DISCOVERY` looks up with `dns`; with `static`, the host that is dialled',
    description: "The name that the shards' certificates have to be for.",
  }),
});
