// The Secrets that a cluster needs and that nobody gave: the operator's token, and the certificates between fronts and
// shards. Each is made once. One that is there is changed only where it holds a certificate of ours that ends soon, and
// the one after it comes from the same authority: so old and new ones get on, and this may be run again at any time, be
// broken off anywhere, and be run by two at once.

import { X509Certificate } from 'node:crypto';
import { CliFailure } from '../failures.ts';
import {
  type CertificateDependencies,
  type CertificateUse,
  type CertificateWithKey,
  createAuthority,
  issueCertificate,
} from './certificates.ts';

const MS_PER_DAY = 86_400_000;
/** Ten years. The authority is not renewed: everything that trusts it would have to learn of the next one first. */
const AUTHORITY_DAYS = 3650;
const TOKEN_BYTES = 32;

/** Texts by key. */
export type SecretData = Readonly<Record<string, string>>;

/** Where Secrets are kept. */
export interface SecretStore {
  /** Undefined where there is none of that name. */
  read(name: string): Promise<SecretData | undefined>;
  /** False where there is one of that name already; it stays as it is. */
  create(name: string, secret: { readonly type: string; readonly data: SecretData }): Promise<boolean>;
  /** Puts other data into one that is there. Fails where somebody changed it meanwhile. */
  replace(name: string, data: SecretData): Promise<void>;
}

/** For which names each process's certificate is. */
export interface CertificateNames {
  readonly shard: readonly string[];
  readonly front: readonly string[];
  readonly console: readonly string[];
}

export interface MadeSecretsOptions {
  /** What the names of all begin with. */
  readonly name: string;
  readonly operatorToken: boolean;
  readonly certificates: CertificateNames | undefined;
  /** How long the certificates of the processes last, if the authority lasts as long. */
  readonly certificateDays: number;
  /** One that lasts no longer than so many days is renewed; 0: none is. */
  readonly renewBeforeDays: number;
}

interface MadeSecretsDependencies extends CertificateDependencies {
  readonly store: SecretStore;
  /** Takes a line without its end. Never a secret. */
  readonly print: (line: string) => void;
}

/** A shard also calls itself. */
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

/** The Secret of that name, after making it where it was not there. */
async function ensure(
  { store, print }: MadeSecretsDependencies,
  name: string,
  make: () => { readonly type: string; readonly data: SecretData },
): Promise<SecretData> {
  const present = await store.read(name);
  if (present !== undefined) {
    print(`${name} already exists; left unchanged.`);
    return present;
  }
  const made = make();
  if (await store.create(name, made)) {
    print(`Created ${name}.`);
    return made.data;
  }
  // Another run was first, and what it made is what counts.
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

/** The days that a certificate of this authority still lasts; undefined where it is another's, or none. */
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
    await ensure(dependencies, `${name}-operator`, () => ({
      type: 'Opaque',
      data: { token: Buffer.from(dependencies.randomBytes(TOKEN_BYTES)).toString('base64url') },
    }));
  }
  if (certificates === undefined) return;
  const authoritySecret = `${name}-tls-authority`;
  const data = await ensure(dependencies, authoritySecret, () => {
    const { certificate, key } = createAuthority(dependencies, { name, days: AUTHORITY_DAYS });
    return { type: 'kubernetes.io/tls', data: { 'tls.crt': certificate, 'tls.key': key } };
  });
  const authority = textOf(authoritySecret, data, 'tls.crt');
  const parsedAuthority = new X509Certificate(authority);
  const issuer = {
    name: parsedAuthority.subject.replace(/^CN=/, ''),
    key: textOf(authoritySecret, data, 'tls.key'),
  };
  // A certificate that outlives its authority is good for nothing.
  const authorityDays = Math.floor((Date.parse(parsedAuthority.validTo) - dependencies.nowMs) / MS_PER_DAY);
  const days = Math.min(options.certificateDays, authorityDays);
  if (authorityDays <= options.renewBeforeDays) {
    dependencies.print(
      `The CA in ${authoritySecret} expires in ${authorityDays} days. This command does not renew it.`,
    );
  }
  for (const role of ROLES) {
    const make = (): SecretData =>
      tlsData(
        issueCertificate(dependencies, issuer, {
          name: `${name}-${role}`,
          dnsNames: certificates[role],
          uses: USES[role],
          days,
        }),
        authority,
      );
    const secret = `${name}-tls-${role}`;
    const present = await ensure(dependencies, secret, () => ({ type: 'kubernetes.io/tls', data: make() }));
    const left = daysLeft(dependencies, present['tls.crt'] ?? '', parsedAuthority);
    const isDue = left !== undefined && options.renewBeforeDays > 0 && left <= options.renewBeforeDays;
    // One that would hardly last longer than the one before is no gain.
    if (!isDue || days - left < 1) continue;
    await dependencies.store.replace(secret, make());
    dependencies.print(`Renewed ${secret} for ${days} days; it would have expired in ${Math.floor(left)} days.`);
  }
}
