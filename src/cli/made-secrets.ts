// The Secrets that a cluster needs and that nobody gave: the operator's token, and the certificates between fronts and
// shards. Each is made once. One that is there is never changed, so this may be run again at any time, be broken off
// anywhere, and be run by two at once; certificates made later come from the same authority.

import { X509Certificate } from 'node:crypto';
import {
  type CertificateDependencies,
  type CertificateUse,
  type CertificateWithKey,
  createAuthority,
  issueCertificate,
} from './certificates.ts';
import { CliFailure } from './failures.ts';

/** Ten years: whoever wants to have them renewed lets cert-manager do it. */
const DAYS = 3650;
const TOKEN_BYTES = 32;

/** Texts by key. */
export type SecretData = Readonly<Record<string, string>>;

/** Where Secrets are kept. */
export interface SecretStore {
  /** Undefined where there is none of that name. */
  read(name: string): Promise<SecretData | undefined>;
  /** False where there is one of that name already; it stays as it is. */
  create(name: string, secret: { readonly type: string; readonly data: SecretData }): Promise<boolean>;
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
    print(`${name} is there; it stays as it is.`);
    return present;
  }
  const made = make();
  if (await store.create(name, made)) {
    print(`${name} was made.`);
    return made.data;
  }
  // Another run was first, and what it made is what counts.
  const other = await store.read(name);
  if (other === undefined) throw new CliFailure(`${name} was removed while this ran. Run it again.`);
  print(`${name} was made by another run.`);
  return other;
}

function textOf(name: string, data: SecretData, key: string): string {
  const text = data[key];
  if (text === undefined || text === '') {
    throw new CliFailure(`The Secret ${name} has no ${key}, so it was not made by this command. Remove or rename it.`);
  }
  return text;
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
    const { certificate, key } = createAuthority(dependencies, { name, days: DAYS });
    return { type: 'kubernetes.io/tls', data: { 'tls.crt': certificate, 'tls.key': key } };
  });
  const authority = textOf(authoritySecret, data, 'tls.crt');
  const issuer = {
    name: new X509Certificate(authority).subject.replace(/^CN=/, ''),
    key: textOf(authoritySecret, data, 'tls.key'),
  };
  for (const role of ROLES) {
    await ensure(dependencies, `${name}-tls-${role}`, () => ({
      type: 'kubernetes.io/tls',
      data: tlsData(
        issueCertificate(dependencies, issuer, {
          name: `${name}-${role}`,
          dnsNames: certificates[role],
          uses: USES[role],
          days: DAYS,
        }),
        authority,
      ),
    }));
  }
}
