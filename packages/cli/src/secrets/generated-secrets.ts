// The Secrets that a cluster needs and that the operator has not provided: the operator's token, and the certificates
// between fronts and shards. Each is created once. An existing one is changed only if it contains a certificate of ours
// that expires soon. The new certificate comes from the same authority, so old and new ones accept each other. So this
// is safe to run again at any time, to interrupt anywhere, and to run concurrently.

import { X509Certificate } from 'node:crypto';
import { MS_PER_DAY } from '../../../../src/core/text/timestamps.ts';
import { CliFailure } from '../failures.ts';
import {
  type CertificateDependencies,
  type CertificateUse,
  type CertificateWithKey,
  createAuthority,
  issueCertificate,
} from './certificates.ts';

/** Ten years. The authority is not renewed: everything that trusts it would first have to trust its successor. */
const AUTHORITY_DAYS = 3650;
const TOKEN_BYTES = 32;

/** Texts by key. */
export type SecretData = Readonly<Record<string, string>>;

/** Where Secrets are kept. */
export interface SecretStore {
  /** Undefined if there is none with that name. */
  read(name: string): Promise<SecretData | undefined>;
  /** False if there is already one with that name, which stays as it is. */
  create(name: string, secret: { readonly type: string; readonly data: SecretData }): Promise<boolean>;
  /** Replaces the data of an existing one. Fails if it was changed in between. */
  replace(name: string, data: SecretData): Promise<void>;
}

/** The names for which each process's certificate is issued. */
export interface CertificateNames {
  readonly shard: readonly string[];
  readonly front: readonly string[];
  readonly console: readonly string[];
}

export interface MadeSecretsOptions {
  /** The prefix of all names. */
  readonly name: string;
  readonly operatorToken: boolean;
  readonly certificates: CertificateNames | undefined;
  /** How long the certificates of the processes last, if the authority lasts that long. */
  readonly certificateDays: number;
  /** A certificate with no more than this many days left is renewed; 0: none is. */
  readonly renewBeforeDays: number;
}

interface MadeSecretsDependencies extends CertificateDependencies {
  readonly store: SecretStore;
  /** Takes a line without its line end. Never a secret. */
  readonly print: (line: string) => void;
}

/** A shard also calls other shards, and itself. */
const USES: Readonly<Record<keyof CertificateNames, readonly CertificateUse[]>> = {
  shard: ['server', 'client'],
  front: ['client'],
  console: ['client'],
};
const ROLES = ['shard', 'front', 'console'] as const;

const tlsData = ({ certificate, key }: CertificateWithKey, authority: string): SecretData => ({
  'tls.crt': certificate,
  'tls.key': key,
  'ca.crt': authority,
});

/** The Secret with that name; creates it if it does not exist. */
async function ensure(
  { store, print }: MadeSecretsDependencies,
  name: string,
  make: () => Promise<{ readonly type: string; readonly data: SecretData }>,
): Promise<SecretData> {
  const present = await store.read(name);
  if (present !== undefined) {
    print(`${name} already exists; left unchanged.`);
    return present;
  }
  const made = await make();
  if (await store.create(name, made)) {
    print(`Created ${name}.`);
    return made.data;
  }
  // Another run was first, and its Secret counts.
  const other = await store.read(name);
  if (other === undefined) throw new CliFailure(`${name} was removed while this command ran. Run it again.`);
  print(`${name} was created by another run at the same time.`);
  return other;
}

function textOf(name: string, data: SecretData, key: string): string {
  const text = data[key];
  if (text === undefined || text === '') {
    throw new CliFailure(`The Secret ${name} has no ${key}, so this command did not create it. Remove or rename it.`);
  }
  return text;
}

/** The remaining days of a certificate from this authority; undefined if it is from another one, or none. */
function daysLeft({ nowMs }: CertificateDependencies, text: string, authority: X509Certificate): number | undefined {
  try {
    const certificate = new X509Certificate(text);
    if (!certificate.verify(authority.publicKey)) return undefined;
    return (Date.parse(certificate.validTo) - nowMs) / MS_PER_DAY;
  } catch {
    return undefined;
  }
}

export async function ensureSecrets(dependencies: MadeSecretsDependencies, options: MadeSecretsOptions): Promise<void> {
  const { name, certificates } = options;
  if (options.operatorToken) {
    await ensure(dependencies, `${name}-operator`, async () => ({
      type: 'Opaque',
      data: { token: Buffer.from(dependencies.randomBytes(TOKEN_BYTES)).toString('base64url') },
    }));
  }
  if (certificates === undefined) return;
  const authoritySecret = `${name}-tls-authority`;
  const data = await ensure(dependencies, authoritySecret, async () => {
    const { certificate, key } = await createAuthority(dependencies, { name, days: AUTHORITY_DAYS });
    return { type: 'kubernetes.io/tls', data: { 'tls.crt': certificate, 'tls.key': key } };
  });
  const authority = textOf(authoritySecret, data, 'tls.crt');
  const parsedAuthority = new X509Certificate(authority);
  const issuer = {
    name: parsedAuthority.subject.replace(/^CN=/, ''),
    key: textOf(authoritySecret, data, 'tls.key'),
  };
  // A certificate that outlives its authority is useless.
  const authorityDays = Math.floor((Date.parse(parsedAuthority.validTo) - dependencies.nowMs) / MS_PER_DAY);
  const days = Math.min(options.certificateDays, authorityDays);
  if (authorityDays <= options.renewBeforeDays) {
    dependencies.print(
      `The CA in ${authoritySecret} expires in ${authorityDays} days. This command does not renew it.`,
    );
  }
  for (const role of ROLES) {
    const make = async (): Promise<SecretData> =>
      tlsData(
        await issueCertificate(dependencies, issuer, {
          name: `${name}-${role}`,
          dnsNames: certificates[role],
          uses: USES[role],
          days,
        }),
        authority,
      );
    const secret = `${name}-tls-${role}`;
    const present = await ensure(dependencies, secret, async () => ({ type: 'kubernetes.io/tls', data: await make() }));
    const left = daysLeft(dependencies, present['tls.crt'] ?? '', parsedAuthority);
    const isDue = left !== undefined && options.renewBeforeDays > 0 && left <= options.renewBeforeDays;
    // One that would hardly last longer than the current one gains nothing.
    if (!isDue || days - left < 1) continue;
    await dependencies.store.replace(secret, await make());
    dependencies.print(`Renewed ${secret} for ${days} days; it would have expired in ${Math.floor(left)} days.`);
  }
}
