// The requests of an application: checks, some listings, a few writes. Each write is followed by a check that must see
// it, on any connection. Each virtual user writes grants of its own, so it knows the expected answers.

import { askCheck, askListing, type Caller, changeGrant, writerNumber } from './calls.ts';
import { listing, question, writtenTuple } from './data-set.ts';

const WRITES = 0.01;
const LISTINGS = 0.04;

/** The last grant that this virtual user created or revoked, by tenant; absent if unknown. */
const written = new Map<string, boolean>();

export function writeAndCheck(caller: Caller): void {
  const { tenant_id: id } = caller.tenant;
  const tuple = writtenTuple(writerNumber());
  const before = written.get(id);
  const granted = changeGrant(caller, tuple, { granted: before !== true, before });
  if (granted === undefined) {
    written.delete(id);
    return;
  }
  written.set(id, granted);
  askCheck(caller, { tuple, authorized: granted });
}

export function askMixture(caller: Caller): void {
  const { grants } = caller.tenant;
  const dice = Math.random();
  if (dice < WRITES) writeAndCheck(caller);
  else if (dice < WRITES + LISTINGS) askListing(caller, listing(grants, Math.random));
  else askCheck(caller, question(grants, Math.random));
}
