// Decides what a certificate proves about its peer. A console and another shard may do what no front may, so with TLS
// the word of a peer alone is not enough. Invariant: only the DNS names of the certificate count, each as a whole.
// Anyone who requests a certificate chooses its common name (https://www.rfc-editor.org/rfc/rfc9525#section-2), and a
// name that only begins like a console's belongs to another peer.

import type { PeerCertificate } from 'node:tls';

/** What a peer may be besides a front, if it says so. */
export interface PeerProof {
  readonly console: boolean;
  readonly shard: boolean;
}

export const EVERY_PROOF: PeerProof = { console: true, shard: true };
export const NO_PROOF: PeerProof = { console: false, shard: false };

/** A certificate belongs to a console, or to a shard, if it is for one of these names. */
export interface PeerNames {
  readonly console: readonly string[];
  readonly shard: readonly string[];
}

export const PEER_NAMES_DEFAULT: PeerNames = { console: ['grantd-console'], shard: ['grantd-shard'] };

const DNS_PREFIX = 'DNS:';

/** DNS names are case-insensitive. */
function dnsNamesOf({ subjectaltname = '' }: PeerCertificate): string[] {
  // A name that contains a separator is quoted: such a list cannot be split safely.
  const alternatives = subjectaltname.includes('"') ? [] : subjectaltname.split(', ');
  return alternatives
    .filter((name) => name.startsWith(DNS_PREFIX))
    .map((name) => name.slice(DNS_PREFIX.length).toLowerCase());
}

/** `certificate`: as TLS has verified it. */
export function proofOf(
  certificate: PeerCertificate | undefined,
  { console, shard }: PeerNames = PEER_NAMES_DEFAULT,
): PeerProof {
  if (certificate === undefined) return NO_PROOF;
  const names = dnsNamesOf(certificate);
  const hasOne = (allowed: readonly string[]): boolean => allowed.some((name) => names.includes(name.toLowerCase()));
  return { console: hasOne(console), shard: hasOne(shard) };
}
