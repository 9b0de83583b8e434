// Fields that replies have in common, as a front reads them. Invariant: a reply without the promised shape is an
// `internal` error, never a guess. An absent or foreign reply must not turn into an empty list or a deny.

import { GrantdError } from '../../core/errors.ts';
import { type KeyId, parseKeyId, parseTenantId, type TenantId } from '../../core/ids.ts';
import { isRelationName, type Relation } from '../../core/tuples.ts';
import type { ResultPage } from '../../shard/shard.ts';

export function malformed(what: string): GrantdError {
  return new GrantdError('internal', 'The shard sent a malformed reply.', { cause: new Error(what) });
}

/** The part of a reply that its call requires. */
export function answered<Value>(value: Value): NonNullable<Value> {
  if (value === null || value === undefined) throw malformed('The reply belongs to a different call.');
  return value;
}

/** A wrong number of results must never be taken for the results of these items. */
export function demandCount(results: readonly unknown[], items: readonly unknown[]): void {
  if (results.length === items.length) return;
  throw malformed(`${items.length} items have ${results.length} results.`);
}

/** Places in a list: ascending, each at most once. */
export function demandIndices(indices: readonly number[], items: readonly unknown[]): void {
  const ascending = indices.every((index, at) => index > (indices[at - 1] ?? -1) && index < items.length);
  if (!ascending) throw malformed('The reply names items that the call does not have.');
}

/** A point in time that may be missing: 0 on the wire. */
export const zeroAsUndefined = (ms: number): number | undefined => (ms === 0 ? undefined : ms);

export function tenantIdFrom(text: string): TenantId {
  const tenantId = parseTenantId(text);
  if (tenantId === undefined) throw malformed('A tenant id is ill-formed.');
  return tenantId;
}

export function keyIdFrom(text: string): KeyId {
  const keyId = parseKeyId(text);
  if (keyId === undefined) throw malformed('A key id is ill-formed.');
  return keyId;
}

/** Returns a reader of one of a few words. `what`: whose states they are. */
export function stateReader<State extends string>(states: readonly State[], what: string): (text: string) => State {
  const known: ReadonlyMap<string, State> = new Map(states.map((state) => [state, state]));
  return (text) => {
    const state = known.get(text);
    if (state === undefined) throw malformed(`"${text}" is not a state of a ${what}.`);
    return state;
  };
}

export function knownRelation(name: string): Relation {
  if (!isRelationName(name)) throw malformed('A relation is ill-formed.');
  return name;
}

/** Empty: this is the last page. */
export const nextCursorOf = (page: ResultPage<unknown>): string => page.nextCursor ?? '';

export function pageFrom<Item>(items: readonly Item[], nextCursor: string): ResultPage<Item> {
  return { items, nextCursor: nextCursor === '' ? undefined : nextCursor };
}
