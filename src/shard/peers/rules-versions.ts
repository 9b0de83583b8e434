// The calls about the versions of a tenant's rules. They are read from the state tables, never kept in memory, once the
// tables contain everything that was committed when the call began.

import { turnOf } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';
import { isKeptVersion, RULES_VERSIONS_MAX } from '../../core/rules-versions.ts';
import { RULES_SOURCE_BYTES_MAX } from '../../rules/rule-set.ts';
import { RulesText } from '../../rules/rules-text.ts';
import type { StateStore } from '../../store/store.ts';
import { readFromStore, storeDeadline } from '../store-calls.ts';
import type { Listing } from './listings.ts';
import type { ReadHandler, ShardParts } from './peer.ts';

/** Estimated bytes of what a read returns, for the gate. */
const LIST_BYTES = 512 * RULES_VERSIONS_MAX;
const TEXT_BYTES = RULES_SOURCE_BYTES_MAX;
/** The cost of a read in the turns of tenants. */
const READ_MS = 0.5;

/** Reads state as of the last commit, past the gate of the tenant and in its turn. */
async function readState<Result>(
  { store, clock }: ShardParts,
  { tenure, memory, assertWanted }: Listing,
  bytes: number,
  read: (store: StateStore, deadlineMs: number) => Promise<Result>,
): Promise<Result> {
  const { loads, turns } = tenure.budget;
  await tenure.applied();
  return loads.run(memory.tenantId, bytes, clock, async () => {
    await turnOf(turns, memory.tenantId, READ_MS);
    assertWanted();
    return readFromStore(read(store, storeDeadline(clock)));
  });
}

export const listRulesVersions: ReadHandler<'listRulesVersions'> = async (shard, listing) => {
  const { tenantId, tenant } = listing.memory;
  // Later versions that state may get meanwhile are left out: it may get them in any order.
  const { rulesVersion: present = 0 } = tenant;
  if (present === 0) return [];
  const versions = await readState(shard, listing, LIST_BYTES, (store, deadline) =>
    store.listRulesVersions(tenantId, deadline),
  );
  return versions
    .filter(({ version }) => isKeptVersion(version, present))
    .toSorted((left, right) => right.version - left.version);
};

export const readRulesVersion: ReadHandler<'readRulesVersion'> = async (shard, listing, version) => {
  const { tenantId, tenant } = listing.memory;
  const { rulesVersion: present = 0 } = tenant;
  const rules = isKeptVersion(version, present)
    ? await readState(shard, listing, TEXT_BYTES, (store, deadline) => store.readRules(tenantId, version, deadline))
    : undefined;
  if (rules !== undefined) return new RulesText(rules);
  throw new GrantdError(
    'rules-version-not-found',
    `The rules have no version ${version}: they have had ${present} so far, and keep the newest ${RULES_VERSIONS_MAX}.`,
  );
};
