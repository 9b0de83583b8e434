// Parses EndpointSlices from the API server (discovery.k8s.io/v1) into addresses, without I/O. A response that does not
// have the shape of the API fails as a whole, so that half a response never replaces a known set.

import { isIP } from 'node:net';
import type { DiscoveryFailure } from '../discovery.ts';

/** The parts of a slice that are kept. */
export interface EndpointSlice {
  readonly name: string;
  /** One per endpoint, ready or not. */
  readonly hosts: readonly string[];
  readonly ports: readonly SlicePort[];
}

interface SlicePort {
  readonly name: string;
  readonly port: number;
}

export type SliceEvent =
  | { readonly kind: 'changed'; readonly version: string; readonly slice: EndpointSlice }
  | { readonly kind: 'removed'; readonly version: string; readonly slice: EndpointSlice }
  /** Nothing has changed up to this version. */
  | { readonly kind: 'bookmark'; readonly version: string };

/** A failed Status is logged in one or two sentences. */
const MESSAGE_LENGTH_MAX = 500;

type Fields = Readonly<Record<string, unknown>>;

function asFields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new ApiFailure('invalid', 'An object is missing.');
  return value as Fields;
}

/** Go encodes an empty list as null. */
function asList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ApiFailure('invalid', 'A list is missing.');
  return value;
}

function asText(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new ApiFailure('invalid', 'A string is missing.');
  return value;
}

const versionOf = (value: Fields): string => asText(asFields(value.metadata).resourceVersion);

function parseSlice(value: unknown): EndpointSlice {
  const slice = asFields(value);
  const hosts: string[] = [];
  for (const endpoint of asList(slice.endpoints)) {
    // Only the first address of an endpoint has a defined meaning.
    const [host] = asList(asFields(endpoint).addresses);
    if (typeof host === 'string' && isIP(host) !== 0) hosts.push(host);
  }
  const ports: SlicePort[] = [];
  for (const each of asList(slice.ports)) {
    const { name, port, protocol } = asFields(each);
    if (typeof port !== 'number' || (protocol ?? 'TCP') !== 'TCP') continue;
    ports.push({ name: typeof name === 'string' ? name : '', port });
  }
  return { name: asText(asFields(slice.metadata).name), hosts, ports };
}

/** The result of a list: the slices, and the version from which to watch changes. */
export function parseSliceList(value: unknown): {
  readonly version: string;
  readonly slices: readonly EndpointSlice[];
} {
  const list = asFields(value);
  return { version: versionOf(list), slices: asList(list.items).map(parseSlice) };
}

/** The message of a Status object, if the value is one. */
export function statusMessage(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('message' in value)) return undefined;
  return typeof value.message === 'string' ? value.message.slice(0, MESSAGE_LENGTH_MAX) : undefined;
}

/** One line of a watch. Throws the failure that a line reports. */
export function parseSliceEvent(value: unknown): SliceEvent {
  const { type, object } = asFields(value);
  const fields = asFields(object);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { kind: 'changed', version: versionOf(fields), slice: parseSlice(fields) };
    case 'DELETED':
      return { kind: 'removed', version: versionOf(fields), slice: parseSlice(fields) };
    case 'BOOKMARK':
      return { kind: 'bookmark', version: versionOf(fields) };
    case 'ERROR':
      throw failureOfStatus(Number(fields.code), statusMessage(fields) ?? 'The watch failed.');
    default:
      throw new ApiFailure('invalid', 'An event has an unknown type.');
  }
}

/** A port given by number needs no entry in the slice: a headless Service may have none. */
function portOf(ports: readonly SlicePort[], wanted: string): number | undefined {
  if (/^\d+$/.test(wanted)) return Number(wanted);
  const named = ports.find(({ name }) => name === wanted);
  return (named ?? (ports.length === 1 ? ports[0] : undefined))?.port;
}

/**
 * Every address (host:port) once, sorted. `port`: the name or number of a port; if a slice has no port with that name,
 * its only port is used.
 */
export function addressesOf(slices: Iterable<EndpointSlice>, port: string): readonly string[] {
  const addresses = new Set<string>();
  for (const { hosts, ports } of slices) {
    const number = portOf(ports, port);
    if (number === undefined) continue;
    for (const host of hosts) addresses.add(`${host.includes(':') ? `[${host}]` : host}:${number}`);
  }
  return [...addresses].sort();
}

// ---- failures of the API server, in the terms of the port ----

/** Expired: the changes since that version are no longer kept; the client must list again. */
type ApiFailureKind = DiscoveryFailure | 'expired';

/** The message goes to the log, so it never contains a configuration or a credential. */
export class ApiFailure extends Error {
  readonly kind: ApiFailureKind;
  /** The HTTP status of the response, if there was one. */
  readonly status: number | undefined;

  constructor(kind: ApiFailureKind, message: string, status?: number) {
    super(message);
    this.name = 'ApiFailure';
    this.kind = kind;
    this.status = status;
  }
}

/** The failure for an HTTP status, or for a Status object with that code. */
export function failureOfStatus(status: number, message: string): ApiFailure {
  if (status === 401 || status === 403) return new ApiFailure('forbidden', message, status);
  if (status === 410) return new ApiFailure('expired', message, status);
  return new ApiFailure('refused', message, status);
}
