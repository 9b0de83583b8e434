// EndpointSlices as the API server writes them (discovery.k8s.io/v1), and the addresses that they come to. Pure. What
// does not have the shape of the API is a failure as a whole, so that half an answer never replaces a known set.

import { isIP } from 'node:net';
import { ApiFailure, failureOfStatus } from './api-failure.ts';

/** What is kept of a slice. */
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

/** A failed Status is told in a sentence or two. */
const MESSAGE_LENGTH_MAX = 500;

type Fields = Readonly<Record<string, unknown>>;

function asFields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new ApiFailure('invalid', 'An object is missing.');
  return value as Fields;
}

/** Go writes an empty list as null. */
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
    // No meaning is defined for the addresses of an endpoint behind the first one.
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

/** The answer to a list: the slices, and the version from which changes can be watched. */
export function parseSliceList(value: unknown): {
  readonly version: string;
  readonly slices: readonly EndpointSlice[];
} {
  const list = asFields(value);
  return { version: versionOf(list), slices: asList(list.items).map(parseSlice) };
}

/** The message of a Status object, where a value is one. */
export function statusMessage(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('message' in value)) return undefined;
  return typeof value.message === 'string' ? value.message.slice(0, MESSAGE_LENGTH_MAX) : undefined;
}

/** One line of a watch. The failure that it tells of is thrown. */
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

/** A port given as a number needs no entry in the slice: a headless Service may name none. */
function portOf(ports: readonly SlicePort[], wanted: string): number | undefined {
  if (/^\d+$/.test(wanted)) return Number(wanted);
  const named = ports.find(({ name }) => name === wanted);
  return (named ?? (ports.length === 1 ? ports[0] : undefined))?.port;
}

/**
 * Every address (host:port) once, sorted. `port`: the name of a port or its number; a slice that has no port of that
 * name is taken at its only port.
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
