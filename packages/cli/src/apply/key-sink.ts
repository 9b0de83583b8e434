// Where the secrets of new keys go: to a file or a Secret that the caller names, and nowhere else. It is opened before
// the first key is created, because a key is shown only once.

import { type FileHandle, open } from 'node:fs/promises';
import { CliFailure, EXIT, reasonOf } from '../failures.ts';
import type { SecretStore } from '../secrets/generated-secrets.ts';
import type { DeclaredTenant } from './declaration.ts';

export interface CreatedKey {
  readonly tenant: string;
  readonly tenantId: string;
  readonly name: string;
  readonly keyId: string;
  readonly key: string;
}

export interface KeySink {
  /** Resolves once it is kept. */
  add(key: CreatedKey): Promise<void>;
  close(): Promise<void>;
}

const READABLE_BY_OTHERS = 0o077;

/** Appends to a file that only its owner may read. */
export async function openKeyFile(file: string): Promise<KeySink> {
  const failure = (cause: unknown): CliFailure =>
    new CliFailure(`Cannot write ${file}: ${reasonOf(cause)}.`, undefined, { cause });
  let handle: FileHandle;
  try {
    handle = await open(file, 'a', 0o600);
  } catch (cause) {
    throw failure(cause);
  }
  const stats = await handle.stat();
  if (stats.isFile() && (stats.mode & READABLE_BY_OTHERS) !== 0) {
    await handle.close();
    throw new CliFailure(`Others may read or write ${file}: run "chmod 600" on it first. Nothing was changed.`);
  }
  return {
    async add({ tenant, tenantId, name, keyId, key }) {
      try {
        await handle.appendFile(`${JSON.stringify({ tenant, tenant_id: tenantId, name, key_id: keyId, key })}\n`);
        await handle.sync();
      } catch (cause) {
        throw failure(cause);
      }
    },
    close: () => handle.close(),
  };
}

const DATA_KEY = /^[-._a-zA-Z0-9]{1,253}$/;
const dataKeyOf = (tenant: string, name: string): string => `${tenant}.${name}`;

/** Refuses names that cannot be entries of a Secret, and two keys with the same entry. */
export function demandDataKeys(tenants: readonly DeclaredTenant[]): void {
  const seen = new Set<string>();
  for (const { name: tenant, keys = [] } of tenants) {
    for (const { name, place } of keys) {
      const dataKey = dataKeyOf(tenant, name);
      if (DATA_KEY.test(dataKey) && !seen.has(dataKey)) {
        seen.add(dataKey);
        continue;
      }
      throw new CliFailure(
        `${place} would be ${JSON.stringify(dataKey)} in the Secret, which ${seen.has(dataKey) ? 'another key is too' : 'can only have letters, digits, "-", "_" and "."'}. Choose another name.`,
        EXIT.usage,
      );
    }
  }
}

/** Each key is an entry TENANT.NAME of one Secret, which is created if there is none. */
export async function openKeySecret(store: SecretStore, secret: string): Promise<KeySink> {
  if ((await store.read(secret)) === undefined) await store.create(secret, { type: 'Opaque', data: {} });
  return {
    add: ({ tenant, name, key }) => store.replace(secret, { [dataKeyOf(tenant, name)]: key }),
    close: async () => {},
  };
}
