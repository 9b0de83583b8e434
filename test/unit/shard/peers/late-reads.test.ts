// Whether a read may be answered is asked after its last await: what has ended while it waited for the store ends it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyId } from '../../../../src/core/ids.ts';
import { columnsOf } from '../../../../src/core/tuples.ts';
import { attempt, createMemoryStore, OpenSlot, tuple, WITHOUT_FILTER, waitFor } from '../tools.ts';

interface Reader {
  readonly slot: OpenSlot;
  readonly tenantId: string;
  readonly keyId: KeyId;
  /** The key's, on a front's connection. */
  readonly front: number;
  /** The operator's, which no key ends. */
  readonly operator: number;
}

const STATE_READS = [
  'listGrants',
  'listObjectGrants',
  'listNamespaces',
  'listKeyUses',
  'listSubjects',
  'listAuditLog',
] as const;
const PAGE = { limit: 10, cursor: undefined };
const LISTING = { ...PAGE, subject: 'user:a', relation: 'viewer', namespace: undefined } as const;

const FRONT_READS: Readonly<Record<string, (reader: Reader) => Promise<unknown>>> = {
  check: async ({ slot, front }) => slot.front.check(front, 'user:a', 6, 'doc:1'),
  checkBulk: ({ slot, front }) => slot.front.checkBulk(front, columnsOf([tuple('user:a', 'doc:1')])),
  listObjects: ({ slot, front }) => slot.front.listObjects(front, LISTING),
  listHolders: ({ slot, front }) =>
    slot.front.listHolders(front, { ...PAGE, object: 'doc:1', relation: 'viewer', namespace: undefined }),
  listNames: ({ slot, front }) => slot.front.listNames(front, { ...PAGE, subject: 'user:a', object: 'doc:1' }),
  listGrants: ({ slot, front }) =>
    slot.front.listGrants(front, { ...PAGE, of: { object: 'doc:1' }, relation: undefined }),
  snapshotGrants: ({ slot, front }) => slot.front.snapshotGrants(front, { ...PAGE, on: ['doc:viewer'] }),
  listNamespaces: ({ slot, front }) => slot.front.listNamespaces(front),
  listKeys: ({ slot, front }) => slot.front.listKeys(front, PAGE),
  writeGrants: ({ slot, front }) =>
    slot.front.writeGrants(front, attempt(), [{ ...tuple('user:a', 'doc:1'), revoke: false }]),
};

const OPERATOR_READS: typeof FRONT_READS = {
  listSubjects: ({ slot, operator }) => slot.operator.listSubjects(operator, PAGE),
  exportGrants: ({ slot, operator }) => slot.operator.exportGrants(operator, PAGE),
  listAuditLog: ({ slot, tenantId }) => slot.operator.listAuditLog({ ...PAGE, tenantId }),
};

const ENDINGS = [
  {
    of: 'its lease',
    reads: { ...FRONT_READS, ...OPERATOR_READS },
    told: { kind: 'not-serving' },
    end: async ({ slot }: Reader) => {
      slot.leaseValid = false;
    },
  },
  {
    of: 'its tenure',
    reads: { ...FRONT_READS, ...OPERATOR_READS },
    told: { name: 'ShardFailure' },
    end: async ({ slot }: Reader) => slot.tenure.end('The test ends it.'),
  },
  {
    of: 'its key',
    reads: FRONT_READS,
    told: { kind: 'handle-unknown' },
    end: ({ slot, operator, keyId }: Reader) => slot.connection.revokeKey(operator, attempt(), keyId),
  },
];

for (const { of, reads, told, end } of ENDINGS) {
  for (const [name, read] of Object.entries(reads)) {
    test(`${name} that waits for the store is refused when ${of} ends meanwhile`, async () => {
      const slot = await OpenSlot.open(await createMemoryStore(), { pageLimits: WITHOUT_FILTER });
      const tenantId = await slot.createTenant();
      const operator = await slot.handle(tenantId);
      const key = await slot.createKey(operator, tenantId);
      const { handle: front } = await slot.front.authenticate(key);
      await slot.applied();
      const reader = { slot, tenantId, keyId: key.keyId, front, operator };
      slot.faults.turn('hold', STATE_READS);
      const refusal = assert.rejects(read(reader), told);
      await waitFor(() => slot.faults.heldCalls() > 0);
      await end(reader);
      slot.faults.restore(STATE_READS);
      await refusal;
    });
  }
}
