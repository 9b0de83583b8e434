// Decides whether a certificate belongs to a console. A console may do what no front may, so with TLS its word alone is
// not enough. Invariant: only the DNS names of the certificate count, each as a whole. Anyone who requests a
// certificate chooses its common name (https://www.rfc-editor.org/rfc/rfc9525#section-2), and a name that only begins
// like a console's belongs to another peer.

import type { PeerCertificate } from 'node:tls';

/** A certificate belongs to a console if it is for one of these names. */
export const CONSOLE_NAMES_DEFAULT: readonly string[] = ['grantd-console'];

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
export function isConsoleCertificate(
  certificate: PeerCertificate | undefined,
  consoleNames: readonly string[] = CONSOLE_NAMES_DEFAULT,
): boolean {
  if (certificate === undefined) return false;
  const names = dnsNamesOf(certificate);
  return consoleNames.some((allowed) => names.includes(allowed.toLowerCase()));
}
