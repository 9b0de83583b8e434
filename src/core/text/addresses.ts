// Addresses: those of settings, `host:port` with brackets around an IPv6 host; and those of clients.

import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** Host and port of a well-formed `host:port`; removes the brackets of an IPv6 host. */
export function splitAddress(address: string): { readonly host: string; readonly port: number } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(address.slice(colon + 1)) };
}

const ADDRESS_PATTERN = /^[^\s/]{1,255}:\d{1,5}$/;

/** Whether a text that another process sent can be dialled as `host:port`. */
export const isAddress = (text: string): boolean => ADDRESS_PATTERN.test(text);

/** `http://host:port`, without a trailing slash. */
export function httpUrlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether only this machine can reach the host: a loopback IP address, or `localhost`. */
export function isLoopbackHost(host: string): boolean {
  const version = isIP(host);
  return version === 0 ? host === 'localhost' : LOOPBACK.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/** For anything that is not an address: a header may contain anything, of any length. */
const NO_ADDRESS = 'unknown';

/**
 * The network that one client can be assumed to have: an IPv4 address itself, or the /64 of an IPv6 address, within
 * which a client picks addresses freely. `unknown` for anything else. At most 24 characters, whatever the input.
 */
export function clientNetwork(address: string): string {
  const ipv4 = /^(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?$/i.exec(address)?.[1];
  if (ipv4 !== undefined) return isIPv4(ipv4) ? ipv4 : NO_ADDRESS;
  if (!isIPv6(address)) return NO_ADDRESS;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  // `::` fills at least the rest of the first four groups, unless more than four groups follow it.
  const behind = tail === undefined || tail === '' ? [] : tail.split(':');
  const dotted = behind.at(-1)?.includes('.') === true ? 1 : 0;
  const zeros = tail === undefined ? 0 : 8 - groups.length - behind.length - dotted;
  const all = [...groups, ...Array.from({ length: zeros }, () => '0'), ...behind];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
