// Settings for listening addresses, for how processes find each other, and for their certificates.

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

const RPC_TLS = 'Set all three or none. Values given as files are reloaded when the files change.' as const;

export const ADDRESS_SETTINGS = Object.freeze({
  httpAddress: row({
    ...plain,
    name: 'GRANTD_HTTP_ADDRESS',
    roles: ['dev', 'front'],
    form: 'host:port',
    parse: parseAddress,
    default: '0.0.0.0:8080',
    defaults: { dev: '127.0.0.1:8080' },
    description: 'Address on which the public API listens. With port 0, any free port.',
  }),
  opsAddress: row({
    ...plain,
    name: 'GRANTD_OPS_ADDRESS',
    roles: ['dev', 'front', 'shard', 'console'],
    form: 'host:port',
    parse: parseAddress,
    default: '0.0.0.0:8081',
    defaults: { dev: '127.0.0.1:8081' },
    description: 'Address that serves `/livez`, `/readyz` and `/metrics`.',
  }),
  consoleAddress: row({
    ...plain,
    name: 'GRANTD_CONSOLE_ADDRESS',
    roles: ['dev', 'console'],
    form: 'host:port',
    parse: parseAddress,
    default: '0.0.0.0:8090',
    defaults: { dev: '127.0.0.1:8090' },
    description: "Address that serves the console, and the operator's API under `/operator/v1/`.",
  }),
  rpcAddress: optional({
    ...plain,
    name: 'GRANTD_RPC_ADDRESS',
    roles: ['dev', 'shard'],
    form: 'host:port',
    parse: parseAddress,
    defaults: { shard: '0.0.0.0:8082' },
    unset: 'does not listen: fronts and shards are one process',
    description:
      "Address on which a shard's gRPC listens. An address other than loopback needs mutual TLS (`GRANTD_RPC_TLS_CERT`, `GRANTD_RPC_TLS_KEY` and `GRANTD_RPC_TLS_CA`) or `GRANTD_RPC_INSECURE`. If one process runs several shards, they take this port and the following ones; with port 0, each takes any free port.",
  }),
  rpcInsecure: row({
    ...plain,
    name: 'GRANTD_RPC_INSECURE',
    roles: ['dev', 'shard'],
    form: 'true or false',
    parse: parseBoolean,
    default: 'false',
    description:
      "With `true`, a shard may listen without mutual TLS on an address other than loopback. Anyone who can reach the port can then make the operator's calls for every tenant, without a token, and anyone on the network path can read keys and grants. The shard logs a warning at each start.",
  }),
  rpcAdvertise: optional({
    ...plain,
    name: 'GRANTD_RPC_ADVERTISE',
    roles: ['shard'],
    form: 'host:port',
    parse: parseDialAddress,
    unset: 'the host of `GRANTD_RPC_ADDRESS`, or the host name if that is a wildcard, with the bound port',
    description: "The address at which fronts, consoles and other shards reach this shard's gRPC.",
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
      'The name of the shard. It must be unique and stay the same across restarts. `dev` appends the number of each shard: `dev-1`, `dev-2`.',
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
      'How to find shards. One shard that answers is enough: it names the others. `dns` looks the name up every 2 seconds and dials every address. `kubernetes` watches the EndpointSlices of the Service and uses its port `rpc`, or the port named after a colon.',
  }),
  rpcTlsCert: optional({
    name: 'GRANTD_RPC_TLS_CERT',
    roles: ['front', 'shard', 'console'],
    form: 'PEM',
    parse: pemSourceParser('certificate'),
    unset: 'gRPC without TLS',
    file: true,
    secret: false,
    description: `The certificate of this process for gRPC between fronts, consoles and shards, followed by any intermediate certificates. It serves as both server and client certificate. ${RPC_TLS}`,
  }),
  rpcTlsKey: optional({
    name: 'GRANTD_RPC_TLS_KEY',
    roles: ['front', 'shard', 'console'],
    form: 'PEM',
    parse: parseKeySource,
    unset: 'gRPC without TLS',
    file: true,
    secret: true,
    description: 'The private key of `GRANTD_RPC_TLS_CERT`.',
  }),
  rpcTlsCa: optional({
    name: 'GRANTD_RPC_TLS_CA',
    roles: ['front', 'shard', 'console'],
    form: 'PEM',
    parse: pemSourceParser('certificate'),
    unset: 'gRPC without TLS',
    file: true,
    secret: false,
    description: 'The CA certificates that verify the certificate of the other side.',
  }),
  rpcTlsConsoleNames: row({
    ...plain,
    name: 'GRANTD_RPC_TLS_CONSOLE_NAMES',
    roles: ['shard'],
    form: 'comma-separated names',
    parse: parseCertificateNames,
    default: 'grantd-console',
    description:
      'With TLS: clients whose certificate has one of these DNS names may make operator calls. The names must match exactly.',
  }),
  rpcTlsServerName: optional({
    ...plain,
    name: 'GRANTD_RPC_TLS_SERVER_NAME',
    roles: ['front', 'console'],
    form: 'host name',
    parse: parseName,
    unset: 'with `dns`, the name that `GRANTD_DISCOVERY` looks up; with `static`, the host that is dialled',
    description: 'The DNS name that the certificates of the shards must have.',
  }),
});
