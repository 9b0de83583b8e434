// Whom a peer's certificate is for. A console may do what no front may, so with TLS its word alone is not enough.

import type { PeerCertificate } from 'node:tls';

/** A name is a console's where it is one of these, or begins with one of them and a `.` or `-`. */
export const CONSOLE_NAMES_DEFAULT: readonly string[] = ['grantd-console'];

const DNS_PREFIX = 'DNS:';

function namesOf(certificate: PeerCertificate): string[] {
  const { subject, subjectaltname = '' } = certificate;
  // A name that contains a separator is quoted: such a list is not one that is safe to take apart.
  const alternatives = subjectaltname.includes('"') ? [] : subjectaltname.split(', ');
  const dnsNames = alternatives
    .filter((name) => name.startsWith(DNS_PREFIX))
    .map((name) => name.slice(DNS_PREFIX.length));
  const common = subject?.CN ?? [];
  return [...dnsNames, ...(Array.isArray(common) ? common : [common])];
}

/** `certificate`: as TLS has verified it. */
export function isConsoleCertificate(
  certificate: PeerCertificate | undefined,
  consoleNames: readonly string[] = CONSOLE_NAMES_DEFAULT,
): boolean {
  if (certificate === undefined) return false;
  return namesOf(certificate).some((name) =>
    consoleNames.some(
      (allowed) => name === allowed || name.startsWith(`${allowed}.`) || name.startsWith(`${allowed}-`),
    ),
  );
}
