// What writes of many grants amount to for rules about single ones: a grant or a revocation for each of their tuples,
// at their moments. A revocation of what matched names every tuple of the tenant that could have.

import type { Operation } from './history.ts';
import { matches, tupleText } from './registers.ts';

type SingleWrite = Operation & { readonly kind: 'grant' | 'revoke' };

export function singleWritesOf(operations: readonly Operation[]): SingleWrite[] {
  const singles: SingleWrite[] = [];
  for (const operation of operations) {
    if (operation.kind === 'grant' || operation.kind === 'revoke') singles.push(operation);
    if (operation.kind === 'write-bulk') singles.push(...partsOf(operation));
  }
  const granted = new Map<string, SingleWrite>();
  for (const single of singles) if (single.kind === 'grant') granted.set(tupleText(single.input), single);
  for (const operation of operations) {
    if (operation.kind !== 'clear') continue;
    const { input, outcome, ...rest } = operation;
    if (outcome !== undefined && outcome.kind !== 'cleared') continue;
    for (const { input: tuple } of granted.values()) {
      if (!matches(input, tuple)) continue;
      singles.push({ ...rest, kind: 'revoke', input: tuple, outcome: outcome && { kind: 'revoked' } });
    }
  }
  return singles;
}

function* partsOf(operation: Operation & { readonly kind: 'write-bulk' }): Generator<SingleWrite> {
  const { input, outcome, ...rest } = operation;
  if (outcome !== undefined && outcome.kind !== 'written') return;
  for (const [index, tuple] of input.grants.entries()) {
    yield { ...rest, kind: 'grant', input: tuple, outcome: outcome?.grants[index] };
  }
  for (const [index, tuple] of input.revocations.entries()) {
    const kind = outcome?.revoked[index] === true ? 'revoked' : 'not-found';
    yield { ...rest, kind: 'revoke', input: tuple, outcome: outcome && { kind } };
  }
}
