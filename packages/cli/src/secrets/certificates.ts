// X.509 certificates (RFC 5280) for TLS between fronts and shards, if nothing else issues them: an authority and the
// certificates that it signs. Keys are P-256, signatures ECDSA with SHA-256. Tests check them with OpenSSL.

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Extension } from '@peculiar/x509';
import { MS_PER_DAY } from '../../../../src/core/text/timestamps.ts';

/** Clocks of other machines may be behind. */
const BACKDATED_MS = 3_600_000;
/** RFC 5280 allows 20 bytes, of a positive number. */
const SERIAL_BYTES = 16;
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** What a certificate is for: TLS of a server, of a client, or of a process that is both. */
export type CertificateUse = 'server' | 'client';

/** PEM strings. */
export interface CertificateWithKey {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateDependencies {
  readonly nowMs: number;
  readonly randomBytes: (length: number) => Uint8Array;
}

/** Loaded only here, because no other command needs it. */
const loadLibrary = () => import('./x509.ts');

const publicBytes = (key: KeyObject) => createPublicKey(key).export({ type: 'spki', format: 'der' });

/** The same for a key in every certificate that mentions it (RFC 7093, method 1), in hex. */
const keyIdOf = (key: KeyObject): string => createHash('sha256').update(publicBytes(key)).digest('hex').slice(0, 40);

/** Certificates have no fractions of a second. */
const secondAt = (atMs: number): Date => new Date(Math.floor(atMs / 1000) * 1000);

async function sign(
  { Name, X509CertificateGenerator }: Awaited<ReturnType<typeof loadLibrary>>,
  { nowMs, randomBytes }: CertificateDependencies,
  certificate: {
    readonly issuer: string;
    readonly issuerKey: KeyObject;
    readonly subject: string;
    readonly key: KeyObject;
    readonly days: number;
    readonly extensions: readonly Extension[];
  },
): Promise<CertificateWithKey> {
  const { issuer, issuerKey, subject, key, days, extensions } = certificate;
  const nameOf = (commonName: string) => new Name([{ CN: [{ utf8String: commonName }] }]);
  const issuerBytes = issuerKey.export({ type: 'pkcs8', format: 'der' });
  const signed = await X509CertificateGenerator.create({
    serialNumber: Buffer.from(randomBytes(SERIAL_BYTES)).toString('hex'),
    issuer: nameOf(issuer),
    subject: nameOf(subject),
    notBefore: secondAt(nowMs - BACKDATED_MS),
    notAfter: secondAt(nowMs + days * MS_PER_DAY),
    signingAlgorithm: ECDSA,
    signingKey: await crypto.subtle.importKey('pkcs8', issuerBytes, ECDSA, false, ['sign']),
    publicKey: publicBytes(key),
    extensions: [...extensions],
  });
  return { certificate: `${signed.toString('pem')}\n`, key: key.export({ type: 'pkcs8', format: 'pem' }) };
}

const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** An authority that signs certificates of processes, but not of other authorities. */
export async function createAuthority(
  dependencies: CertificateDependencies,
  { name, days }: { readonly name: string; readonly days: number },
): Promise<CertificateWithKey> {
  const key = newKey();
  const x509 = await loadLibrary();
  const usage = x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign;
  return sign(x509, dependencies, {
    issuer: name,
    issuerKey: key,
    subject: name,
    key,
    days,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(usage, true),
      new x509.SubjectKeyIdentifierExtension(keyIdOf(key)),
    ],
  });
}

/** A certificate from that authority, which is given by name, for these DNS names. */
export async function issueCertificate(
  dependencies: CertificateDependencies,
  authority: { readonly name: string; readonly key: string },
  options: {
    readonly name: string;
    readonly dnsNames: readonly string[];
    readonly uses: readonly CertificateUse[];
    readonly days: number;
  },
): Promise<CertificateWithKey> {
  const { name, dnsNames, uses, days } = options;
  const key = newKey();
  const issuerKey = createPrivateKey(authority.key);
  const x509 = await loadLibrary();
  const usages = { server: x509.ExtendedKeyUsage.serverAuth, client: x509.ExtendedKeyUsage.clientAuth };
  return sign(x509, dependencies, {
    issuer: authority.name,
    issuerKey,
    subject: name,
    key,
    days,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(uses.map((use) => usages[use])),
      new x509.SubjectAlternativeNameExtension(dnsNames.map((value) => ({ type: 'dns' as const, value }))),
      new x509.SubjectKeyIdentifierExtension(keyIdOf(key)),
      new x509.AuthorityKeyIdentifierExtension(keyIdOf(issuerKey)),
    ],
  });
}
