// The driver, set up: short timeouts, so that a node that is away is noticed soon; connections that come back at a
// constant pace; nothing repeated that is not safe to repeat; certificates that are checked.

import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls';
import cassandra, { type Client } from 'cassandra-driver';
import type { CassandraOptions } from './options.ts';
import { createReconnection, LOCAL, ReadSpeculation, type WatchfulLoadBalancing } from './policies.ts';

const PORT = 9042;
const CONNECT_TIMEOUT_MS = 2000;
/** Of what the driver asks on its own: heartbeats, preparations, the nodes of the cluster. */
const READ_TIMEOUT_MS = 3000;
/** A connection without traffic is asked whether it still works. */
const HEARTBEAT_INTERVAL_MS = 2000;
/** Answers that are overdue on one connection before it is given up for a new one. */
const OVERDUE_MAX = 32;
/** Per node: an entry of 1 MiB on its way holds up what comes behind it. */
const CONNECTIONS_PER_NODE = 2;
const REQUESTS_PER_CONNECTION_MAX = 2048;

/** The host of a contact point, without its port. */
function hostOf(contactPoint: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(contactPoint);
  if (bracketed?.[1] !== undefined) return bracketed[1];
  const [host = contactPoint, ...rest] = contactPoint.split(':');
  return rest.length === 1 ? host : contactPoint;
}

/**
 * A node's certificate has to name the address that was dialled, or one of the names under which the cluster was given:
 * the driver dials addresses, which certificates of nodes often do not name.
 */
function createTlsOptions(options: CassandraOptions): ConnectionOptions | undefined {
  if (options.tls === undefined) return undefined;
  const names = options.contactPoints.map(hostOf);
  const { ca, cert, key } = options.tls;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    checkServerIdentity: (address: string, certificate: PeerCertificate) => {
      const failure = checkServerIdentity(address, certificate);
      if (failure === undefined || names.some((name) => checkServerIdentity(name, certificate) === undefined)) {
        return undefined;
      }
      return failure;
    },
  };
}

/** Not connected yet. */
export function createClient(options: CassandraOptions, loadBalancing: WatchfulLoadBalancing): Client {
  const sslOptions = createTlsOptions(options);
  return new cassandra.Client({
    contactPoints: [...options.contactPoints],
    localDataCenter: options.localDatacenter,
    ...(options.credentials === undefined ? {} : { credentials: { ...options.credentials } }),
    ...(sslOptions === undefined ? {} : { sslOptions }),
    applicationName: 'grantd',
    // Agreement on a changed schema is awaited by whoever changes it.
    protocolOptions: { port: PORT, maxVersion: cassandra.types.protocolVersion.v4, maxSchemaAgreementWaitSeconds: 0 },
    pooling: {
      coreConnectionsPerHost: { [LOCAL]: CONNECTIONS_PER_NODE },
      maxRequestsPerConnection: REQUESTS_PER_CONNECTION_MAX,
      heartBeatInterval: HEARTBEAT_INTERVAL_MS,
    },
    socketOptions: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      readTimeout: READ_TIMEOUT_MS,
      defunctReadTimeoutThreshold: OVERDUE_MAX,
      keepAlive: true,
      tcpNoDelay: true,
    },
    encoding: { useBigIntAsLong: true },
    policies: {
      loadBalancing,
      reconnection: createReconnection(),
      speculativeExecution: new ReadSpeculation(),
    },
    // A node that is paused would hold up each statement's first use; a node that has not seen it asks for it.
    prepareOnAllHosts: false,
    monitorReporting: { enabled: false },
  });
}
