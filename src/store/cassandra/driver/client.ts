// The configured driver: short timeouts, so that a lost node is noticed soon; reconnection at a constant interval; no
// retry of statements that are not safe to repeat; verified certificates.

import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls';
import cassandra, { type Client } from 'cassandra-driver';
import type { CassandraOptions } from './options.ts';
import { createReconnection, LOCAL, ReadSpeculation, type WatchfulLoadBalancing } from './policies.ts';

const PORT = 9042;
const CONNECT_TIMEOUT_MS = 2000;
/** Of the driver's own requests: heartbeats, preparations, the nodes of the cluster. */
const READ_TIMEOUT_MS = 3000;
/** An idle connection is probed at this interval. */
const HEARTBEAT_INTERVAL_MS = 2000;
/** Overdue responses on one connection before the driver replaces the connection. */
const OVERDUE_MAX = 32;
/** Per node: an entry of 1 MiB delays everything sent after it on the same connection. */
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
 * A node's certificate must name the dialled address or one of the configured names of the cluster: the driver dials
 * addresses, and certificates of nodes often do not contain them.
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

/** Not yet connected. */
export function createClient(options: CassandraOptions, loadBalancing: WatchfulLoadBalancing): Client {
  const sslOptions = createTlsOptions(options);
  return new cassandra.Client({
    contactPoints: [...options.contactPoints],
    localDataCenter: options.localDatacenter,
    ...(options.credentials === undefined ? {} : { credentials: { ...options.credentials } }),
    ...(sslOptions === undefined ? {} : { sslOptions }),
    applicationName: 'grantd',
    // The code that changes the schema also waits for agreement on it.
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
    // Otherwise a paused node would delay the first use of each statement. A node that does not know a statement
    // requests it.
    prepareOnAllHosts: false,
    monitorReporting: { enabled: false },
  });
}
