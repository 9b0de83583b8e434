// Where new keys are kept: an entry of a Secret for each, beside those that are there.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openKeySecret } from '../../../../packages/cli/src/apply/key-sink.ts';
import type { SecretData, SecretStore } from '../../../../packages/cli/src/secrets/generated-secrets.ts';

class Secrets implements SecretStore {
  readonly data = new Map<string, SecretData>();

  async read(name: string): Promise<SecretData | undefined> {
    return this.data.get(name);
  }

  async create(name: string, { data }: { readonly data: SecretData }): Promise<boolean> {
    if (this.data.has(name)) return false;
    this.data.set(name, data);
    return true;
  }

  async replace(name: string, data: SecretData): Promise<void> {
    this.data.set(name, { ...this.data.get(name), ...data });
  }
}

const created = (name: string) => ({
  tenant: 'acme',
  tenantId: 'ten_1',
  name,
  keyId: 'key_1',
  key: `secret of ${name}`,
});

describe('keys in a Secret', () => {
  it('are added to one that is there, or that is created', async () => {
    const secrets = new Secrets();
    for (const name of ['web', 'sync']) {
      const sink = await openKeySecret(secrets, 'keys');
      await sink.add(created(name));
      await sink.close();
    }
    assert.deepEqual(secrets.data.get('keys'), { 'acme.web': 'secret of web', 'acme.sync': 'secret of sync' });
  });
});
