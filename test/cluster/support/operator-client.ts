// The operator's API as the tests of a cluster need it: tenants with their keys, slots and members. What cannot be
// decided now is tried again.

const TRIES = 40;
const TRY_MS_MAX = 15_000;
const PAUSE_MS = 250;

export interface TenantWithKey {
  readonly tenantId: string;
  readonly keyId: string;
  readonly key: string;
}

export interface ReaderRecord {
  readonly tenant_id: string;
  readonly shard: string;
  readonly epoch: number;
  readonly calls: number;
}

export interface SlotRecord {
  readonly slot: number;
  readonly state: string;
  readonly shard: string | null;
  readonly incarnation: string | null;
  readonly epoch: number | null;
  readonly lease_left_ms: number | null;
  readonly tenants: number | null;
  readonly readers: readonly ReaderRecord[];
}

export interface MemberRecord {
  readonly incarnation: string;
  readonly shard: string;
  readonly state: string;
  readonly slots: number;
  readonly lease_left_ms: number | null;
}

export class OperatorClient {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  async #call(method: string, path: string, body?: unknown): Promise<ReturnType<typeof JSON.parse>> {
    let last = '';
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      try {
        const response = await fetch(`${this.#url}/operator/v1${path}`, {
          method,
          headers: { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' },
          signal: AbortSignal.timeout(TRY_MS_MAX),
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        if (response.ok) return JSON.parse(text);
        last = `${response.status} ${text}`;
        if (response.status !== 503) break;
      } catch (error) {
        last = String(error);
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    throw new Error(`${method} ${path}: ${last}`);
  }

  /** How many shards read for the tenant beside its owner; none before. */
  async setReaders(tenantId: string, readers: number | 'auto'): Promise<void> {
    await this.#call('PATCH', `/tenants/${tenantId}`, { readers });
  }

  async createTenant(name: string): Promise<TenantWithKey> {
    const { tenant_id: tenantId } = await this.#call('POST', '/tenants', { name, plan: 'unlimited' });
    const scopes = ['check:read', 'grant:write', 'admin'];
    const { key_id: keyId, key } = await this.#call('POST', `/tenants/${tenantId}/keys`, { scopes });
    return { tenantId, keyId, key };
  }

  read(path: string): Promise<ReturnType<typeof JSON.parse>> {
    return this.#call('GET', path);
  }

  /** Every grant, one a line, and the cursor of the change feed from before. */
  async readExport(tenantId: string): Promise<{ readonly text: string; readonly cursor: string }> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const response = await fetch(`${this.#url}/operator/v1/tenants/${tenantId}/export?format=tsv`, {
          headers: { Authorization: `Bearer ${this.#token}` },
          signal: AbortSignal.timeout(TRY_MS_MAX),
        });
        const text = await response.text();
        if (response.ok) return { text, cursor: response.headers.get('x-service-cursor') ?? '' };
        throw new Error(`the export of ${tenantId}: ${response.status} ${text}`);
      } catch (error) {
        if (attempt === TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  async slots(): Promise<SlotRecord[]> {
    return (await this.#call('GET', '/slots')).slots;
  }

  async members(): Promise<MemberRecord[]> {
    return (await this.#call('GET', '/members')).members;
  }
}
