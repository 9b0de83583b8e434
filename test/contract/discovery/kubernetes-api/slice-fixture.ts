// EndpointSlices as tests give them, and as the API takes them.

export interface SliceFixture {
  readonly namespace: string;
  readonly name: string;
  readonly service: string;
  readonly hosts: readonly string[];
  /** Default: IPv4. */
  readonly addressType?: 'IPv4' | 'IPv6';
  /** Default: true. */
  readonly ready?: boolean;
  /** Default: `rpc` on 8082. */
  readonly ports?: readonly { readonly name: string; readonly port: number }[];
}

const PORTS = [{ name: 'rpc', port: 8082 }];

/** Without endpoints, as a slice whose list is null. */
export function sliceObject(fixture: SliceFixture) {
  const { namespace, name, service, hosts, addressType = 'IPv4', ready = true, ports = PORTS } = fixture;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace, name, labels: { 'kubernetes.io/service-name': service } },
    addressType,
    endpoints: hosts.map((host) => ({ addresses: [host], conditions: { ready, serving: ready, terminating: false } })),
    ports: ports.map((port) => ({ ...port, protocol: 'TCP' })),
  };
}
