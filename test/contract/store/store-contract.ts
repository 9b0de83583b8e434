// The contract of the store port, sentence by sentence, for any adapter. Every test uses tenants, slots and members of
// its own, so that the suite can run on a database that others use.

import { after, before, describe } from 'node:test';
import type { Meta, Store } from '../../../src/store/store.ts';
import { META, soon } from '../../kit/store/store-fixtures.ts';
import { defineAuditLogContract } from './audit-log-contract.ts';
import { defineExpiryContract } from './expiry-contract.ts';
import { defineGrantContract } from './grant-contract.ts';
import { defineLifeContract } from './life-contract.ts';
import { defineLogContract } from './log-contract.ts';
import { defineMemberContract } from './member-contract.ts';
import { defineRemovalContract } from './removal-contract.ts';
import { defineSlotContract } from './slot-contract.ts';
import { defineStampContract } from './stamp-contract.ts';
import { defineTenantContract } from './tenant-contract.ts';

export interface StoreUnderTest {
  readonly store: Store;
  /** Whether a removed row still stands against older writes for a while, as a tombstone does. Default: no. */
  readonly removalShadows?: boolean;
  /** As an operator who changes for how long the audit log is kept. */
  keepAuditLogFor?(seconds: number): Promise<void>;
  /** Closes it and opens the same data again. */
  reopen?(): Promise<Store>;
  close(): Promise<void>;
}

/** What the parts of the suite see. */
export interface StoreContext {
  store(): Store;
  /** The meta that stands: another one's on a shared database. */
  meta(): Meta;
  removalShadows(): boolean;
  /** Undefined where no operator can change it. */
  keepAuditLogFor(seconds: number): Promise<void> | undefined;
  /** Undefined where the data cannot be opened again. */
  reopen(): Promise<Store> | undefined;
  /** A store of its own, for tests that close it. */
  open(): Promise<StoreUnderTest>;
}

export function defineStoreContract(name: string, options: { open(): Promise<StoreUnderTest> }): void {
  describe(`store contract: ${name}`, () => {
    let underTest: StoreUnderTest;
    let store: Store;
    let meta: Meta;
    before(async () => {
      underTest = await options.open();
      store = underTest.store;
      meta = await store.initializeMeta(META, soon());
    });
    after(() => underTest.close());
    const context: StoreContext = {
      store: () => store,
      meta: () => meta,
      keepAuditLogFor: (seconds) => underTest.keepAuditLogFor?.(seconds),
      removalShadows: () => underTest.removalShadows ?? false,
      reopen: () =>
        underTest.reopen?.().then((reopened) => {
          store = reopened;
          return reopened;
        }),
      open: options.open,
    };
    defineLogContract(context);
    defineSlotContract(context);
    defineMemberContract(context);
    defineGrantContract(context);
    defineExpiryContract(context);
    defineStampContract(context);
    defineTenantContract(context);
    defineAuditLogContract(context);
    defineRemovalContract(context);
    defineLifeContract(context);
  });
}
