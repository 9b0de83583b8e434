// The fields that answers have in common, as a front reads them. What does not have the promised shape is an `internal`
// error, never a guess: an absent or foreign answer must not turn into an empty list or a deny.

import { GrantdError } from '../../../core/errors.ts';
import { type KeyId, parseKeyId, parseTenantId, type TenantId } from '../../../core/ids.ts';

export function malformed(what: string): GrantdError {
  return new GrantdError('internal', 'The shard gave an answer that cannot be read.', { cause: new Error(what) });
}

/** The part of a reply that its call asks for. */
export function answered<Value>(value: Value): NonNullable<Value> {
  if (value === null || value === undefined) throw malformed('The answer is to another question.');
  return value;
}

/** An answer of another length must never be taken for an answer to these. */
export function demandCount(answers: readonly unknown[], questions: readonly unknown[]): void {
  if (answers.length === questions.length) return;
  throw malformed(`${questions.length} questions have ${answers.length} answers`);
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

/** Reads one of a few words. `what`: of which they are the states. */
export function stateReader<State extends string>(states: readonly State[], what: string): (text: string) => State {
  const known: ReadonlyMap<string, State> = new Map(states.map((state) => [state, state]));
  return (text) => {
    const state = known.get(text);
    if (state === undefined) throw malformed(`"${text}" is not a state of a ${what}.`);
    return state;
  };
}
