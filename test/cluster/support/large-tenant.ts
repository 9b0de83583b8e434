// A tenant that has readers, and its one client, which changes a grant and then asks for several: each answer has to be
// that of all changes before, and no call may fail.

import assert from 'node:assert/strict';
import { slotOfTenant } from '../../../src/core/slots.ts';
import type { OperatorClient, ReaderRecord, SlotRecord } from './operator-client.ts';

/** Enough for each of a few readers to be asked for some. */
const SUBJECTS = Array.from({ length: 8 }, (_, index) => `user:${index}`);
const FOLDERS = 20;
const tupleOf = (subject: string) => ({ subject, relation: 'viewer', object: 'document:plan' });

export class LargeTenant {
  readonly #operator: OperatorClient;
  readonly #url: string;
  readonly #tenantId: string;
  readonly #key: string;
  readonly #granted = new Set<string>();
  #changes = 0;

  /** `url`: of a front. `isOwner`: of the names of the shards that may own it. */
  static async create(
    operator: OperatorClient,
    url: string,
    isOwner: (shard: string | null) => boolean,
  ): Promise<LargeTenant> {
    const slots = await operator.slots();
    for (;;) {
      const { tenantId, key } = await operator.createTenant('large');
      const owner = slots[slotOfTenant(tenantId, slots.length)];
      assert.ok(owner !== undefined);
      if (isOwner(owner.shard)) return new LargeTenant(operator, url, tenantId, key);
    }
  }

  private constructor(operator: OperatorClient, url: string, tenantId: string, key: string) {
    this.#operator = operator;
    this.#url = url;
    this.#tenantId = tenantId;
    this.#key = key;
  }

  async setReaders(readers: number | 'auto'): Promise<void> {
    await this.#operator.setReaders(this.#tenantId, readers);
  }

  async effectiveReaders(): Promise<number> {
    return (await this.#operator.read(`/tenants/${this.#tenantId}`)).effective_readers;
  }

  async change(): Promise<void> {
    const subject = SUBJECTS[this.#changes % SUBJECTS.length] ?? '';
    this.#changes += 1;
    if (this.#granted.delete(subject)) {
      await this.#call('DELETE', '/grants', subject);
    } else {
      this.#granted.add(subject);
      await this.#call('POST', '/grants', subject);
    }
    const answers = await Promise.all(SUBJECTS.map((each) => this.#call('POST', '/check', each)));
    assert.deepEqual(
      answers.map(({ authorized }) => authorized),
      SUBJECTS.map((each) => this.#granted.has(each)),
    );
  }

  async slot(): Promise<SlotRecord> {
    const slots = await this.#operator.slots();
    const slot = slots[slotOfTenant(this.#tenantId, slots.length)];
    assert.ok(slot !== undefined);
    return slot;
  }

  /** Whether the reader at the shard follows the present owner, and has answered some of the next calls. */
  async isReadBy(shard: string): Promise<boolean> {
    const before = await this.#readerAt(shard);
    await this.change();
    const after = await this.#readerAt(shard);
    return after !== undefined && after.calls > (before?.calls ?? 0);
  }

  async #readerAt(shard: string): Promise<ReaderRecord | undefined> {
    const { readers, epoch } = await this.slot();
    return readers.find((each) => each.tenant_id === this.#tenantId && each.shard === shard && each.epoch === epoch);
  }

  /** Rules that make a check of `can_read` on the first folder walk through all of them. */
  async nestFolders(): Promise<void> {
    const rule = { namespace: 'folder', name: 'can_read', any_of: ['viewer', 'can_read from parent'] };
    await this.#send('PUT', '/rules', { rules: [rule] });
    for (let index = 0; index < FOLDERS; index += 1) {
      const tuple = { subject: `folder:${index + 1}`, relation: 'parent', object: `folder:${index}` };
      await this.#send('POST', '/grants', tuple);
    }
  }

  /** Many checks in one call, each of them through all folders. */
  async checkFolders(): Promise<void> {
    const subjects = Array.from({ length: 100 }, (_, index) => `user:none-${index}`);
    const checks = subjects.map((subject) => ({ subject, relation: 'can_read', object: 'folder:0' }));
    await this.#send('POST', '/check/bulk', { checks });
  }

  async #call(method: string, path: string, subject: string): Promise<{ readonly authorized?: boolean }> {
    return this.#send(method, path, tupleOf(subject));
  }

  async #send(method: string, path: string, body: object): Promise<ReturnType<typeof JSON.parse>> {
    const response = await fetch(`${this.#url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  }
}
