// X.509 certificates (RFC 5280) for TLS between fronts and shards, if nothing else issues them: an authority and the
// certificates that it signs. Node can sign but not encode a certificate. The few necessary DER structures are written
// here, and tests compare them with what OpenSSL reads. Keys are P-256, signatures ECDSA with SHA-256.

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

const MS_PER_DAY = 86_400_000;
/** Clocks of other machines may be behind. */
const BACKDATED_MS = 3_600_000;
/** RFC 5280 allows 20 bytes, of a positive number. */
const SERIAL_BYTES = 16;

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

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  bytes: 0x04,
  id: 0x06,
  text: 0x0c,
  time: 0x18,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
} as const;
/** A context-specific tag by number: for the element itself, or around another element. */
const context = (number: number): number => 0x80 | number;
const around = (number: number): number => 0xa0 | number;

/** One element: tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length]), bytes, content]);
}

/** `2.5.29.17` */
function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const number of rest) {
    const digits = [number & 0x7f];
    for (let left = number >>> 7; left > 0; left >>>= 7) digits.unshift(0x80 | (left & 0x7f));
    bytes.push(...digits);
  }
  return der(TAG.id, Buffer.from(bytes));
}

/** Without leading zero bytes, except the one that keeps it positive. */
function positiveInteger(bytes: Uint8Array): Buffer {
  const from = bytes.findIndex((byte) => byte !== 0);
  const digits = from < 0 ? Buffer.from([0]) : Buffer.from(bytes.subarray(from));
  return der(TAG.integer, (digits[0] ?? 0) >= 0x80 ? Buffer.from([0]) : Buffer.alloc(0), digits);
}

/** Until 2049 with a two-digit year, as RFC 5280 requires. */
function time(atMs: number): Buffer {
  const text = `${new Date(atMs).toISOString().replace(/\.\d+/, '').replaceAll(/[-:T]/g, '')}`;
  return Number(text.slice(0, 4)) < 2050
    ? der(TAG.utcTime, Buffer.from(text.slice(2)))
    : der(TAG.time, Buffer.from(text));
}

const ECDSA_WITH_SHA256 = der(TAG.sequence, objectId('1.2.840.10045.4.3.2'));
const COMMON_NAME = '2.5.4.3';
const USES: Readonly<Record<CertificateUse, string>> = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' };

const nameOf = (commonName: string): Buffer =>
  der(
    TAG.sequence,
    der(TAG.set, der(TAG.sequence, objectId(COMMON_NAME), der(TAG.text, Buffer.from(commonName, 'utf8')))),
  );

const publicBytes = (key: KeyObject): Buffer => createPublicKey(key).export({ type: 'spki', format: 'der' });

/** The same for a key in every certificate that mentions it (RFC 7093, method 1). */
const keyIdOf = (key: KeyObject): Buffer => createHash('sha256').update(publicBytes(key)).digest().subarray(0, 20);

interface Extension {
  readonly id: string;
  readonly critical: boolean;
  readonly value: Buffer;
}

const TRUE = der(TAG.boolean, Buffer.from([0xff]));
const extension = ({ id, critical, value }: Extension): Buffer =>
  der(TAG.sequence, objectId(id), ...(critical ? [TRUE] : []), der(TAG.bytes, value));

/** Bits from the highest down; the `unused` lowest bits of the byte are not part of it. */
const keyUsage = (bits: number, unused: number): Extension => ({
  id: '2.5.29.15',
  critical: true,
  value: der(TAG.bits, Buffer.from([unused, bits])),
});
const basicConstraints = (...parts: readonly Buffer[]): Extension => ({
  id: '2.5.29.19',
  critical: true,
  value: der(TAG.sequence, ...parts),
});
const subjectKeyId = (key: KeyObject): Extension => ({
  id: '2.5.29.14',
  critical: false,
  value: der(TAG.bytes, keyIdOf(key)),
});
const authorityKeyId = (key: KeyObject): Extension => ({
  id: '2.5.29.35',
  critical: false,
  value: der(TAG.sequence, der(context(0), keyIdOf(key))),
});

const toPem = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;

function layOut(
  { nowMs, randomBytes }: CertificateDependencies,
  certificate: {
    readonly issuer: string;
    readonly issuerKey: KeyObject;
    readonly subject: string;
    readonly key: KeyObject;
    readonly days: number;
    readonly extensions: readonly Extension[];
  },
): CertificateWithKey {
  const { issuer, issuerKey, subject, key, days, extensions } = certificate;
  const content = der(
    TAG.sequence,
    // Version 3, the one with extensions.
    der(around(0), der(TAG.integer, Buffer.from([2]))),
    positiveInteger(randomBytes(SERIAL_BYTES)),
    ECDSA_WITH_SHA256,
    nameOf(issuer),
    der(TAG.sequence, time(nowMs - BACKDATED_MS), time(nowMs + days * MS_PER_DAY)),
    nameOf(subject),
    publicBytes(key),
    der(around(3), der(TAG.sequence, ...extensions.map(extension))),
  );
  const signature = der(TAG.bits, Buffer.from([0]), sign('sha256', content, issuerKey));
  return {
    certificate: toPem(der(TAG.sequence, content, ECDSA_WITH_SHA256, signature)),
    key: key.export({ type: 'pkcs8', format: 'pem' }),
  };
}

const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** An authority that signs certificates of processes, but not of other authorities. */
export function createAuthority(
  dependencies: CertificateDependencies,
  { name, days }: { readonly name: string; readonly days: number },
): CertificateWithKey {
  const key = newKey();
  return layOut(dependencies, {
    issuer: name,
    issuerKey: key,
    subject: name,
    key,
    days,
    extensions: [
      basicConstraints(TRUE, der(TAG.integer, Buffer.from([0]))),
      // It may sign certificates and revocation lists.
      keyUsage(0b0000_0110, 1),
      subjectKeyId(key),
    ],
  });
}

/** A certificate from that authority, which is given by name, for these DNS names. */
export function issueCertificate(
  dependencies: CertificateDependencies,
  authority: { readonly name: string; readonly key: string },
  options: {
    readonly name: string;
    readonly dnsNames: readonly string[];
    readonly uses: readonly CertificateUse[];
    readonly days: number;
  },
): CertificateWithKey {
  const { name, dnsNames, uses, days } = options;
  const key = newKey();
  const issuerKey = createPrivateKey(authority.key);
  return layOut(dependencies, {
    issuer: authority.name,
    issuerKey,
    subject: name,
    key,
    days,
    extensions: [
      basicConstraints(),
      // It may sign handshakes.
      keyUsage(0b1000_0000, 7),
      { id: '2.5.29.37', critical: false, value: der(TAG.sequence, ...uses.map((use) => objectId(USES[use]))) },
      {
        id: '2.5.29.17',
        critical: false,
        value: der(TAG.sequence, ...dnsNames.map((dnsName) => der(context(2), Buffer.from(dnsName, 'latin1')))),
      },
      subjectKeyId(key),
      authorityKeyId(issuerKey),
    ],
  });
}
