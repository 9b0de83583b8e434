// IP addresses and networks. An IPv4 address is in no IPv6 network. As in OpenFGA, an IPv4-mapped IPv6 address is the
// IPv4 address, so that a sender cannot choose between two forms of one address. Addresses with a zone (`fe80::1%eth0`)
// are refused.

import { isIPv4, isIPv6 } from 'node:net';
import { IpAddress } from './values.ts';

/** The longest IPv6 address with an IPv4 one at its end. */
const ADDRESS_LENGTH_MAX = 45;

const ipv4Bits = (text: string): bigint => text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);

/** The 16-bit groups of one side of `::`. */
function groupsOf(text: string): readonly bigint[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [BigInt(`0x${group}`)];
    const bits = ipv4Bits(group);
    return [bits >> 16n, bits & 0xff_ffn];
  });
}

/** In the form in which it is written. */
function writtenAddress(text: string): IpAddress | undefined {
  if (text.length > ADDRESS_LENGTH_MAX || text.includes('%')) return undefined;
  if (isIPv4(text)) return new IpAddress(4, ipv4Bits(text));
  if (!isIPv6(text)) return undefined;
  const [head = '', tail] = text.split('::');
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0n);
  const bits = [...before, ...zeros, ...after].reduce((sum, group) => (sum << 16n) | group, 0n);
  return new IpAddress(6, bits);
}

const MAPPED_BITS = 32n;
const MAPPED_PREFIX = 0xff_ffn;

const isMapped = ({ version, bits }: IpAddress): boolean => version === 6 && bits >> MAPPED_BITS === MAPPED_PREFIX;
const unmapped = ({ bits }: IpAddress): IpAddress => new IpAddress(4, BigInt.asUintN(32, bits));

/** Undefined: no address. */
export function parseIpAddress(text: string): IpAddress | undefined {
  const address = writtenAddress(text);
  return address !== undefined && isMapped(address) ? unmapped(address) : address;
}

export interface IpNetwork {
  readonly address: IpAddress;
  /** Low bits that differ between the addresses of the network. */
  readonly freeBits: bigint;
}

/** `10.0.0.0/8`; bits of the address behind the prefix are ignored. Undefined: no network. */
export function parseIpNetwork(text: string): IpNetwork | undefined {
  const slash = text.lastIndexOf('/');
  const prefix = text.slice(slash + 1);
  const address = slash < 0 ? undefined : writtenAddress(text.slice(0, slash));
  if (address === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(prefix)) return undefined;
  const width = address.version === 4 ? 32 : 128;
  const freeBits = BigInt(width - Number(prefix));
  if (freeBits < 0n) return undefined;
  return isMapped(address) && freeBits <= MAPPED_BITS
    ? { address: unmapped(address), freeBits }
    : { address, freeBits };
}

export const isInNetwork = (ip: IpAddress, { address, freeBits }: IpNetwork): boolean =>
  ip.version === address.version && ip.bits >> freeBits === address.bits >> freeBits;
