// A proof as both APIs show it, with the grants that it rests on.

import type { Step } from '../../rules/graph.ts';
import type { GateProof, Proof } from '../../rules/proof.ts';

interface GateRecord {
  readonly gate: string;
  readonly object: string;
  readonly parents?: readonly object[];
  readonly all_of: readonly ProofRecord[];
  readonly but_not: readonly ProofRecord[];
}

interface ProofRecord {
  readonly name: string;
  readonly object: string;
  readonly holds: boolean | null;
  readonly because?: readonly object[];
  readonly gate?: GateRecord;
  readonly gates?: readonly GateRecord[];
  readonly looked_for?: readonly string[];
  readonly repeated?: true;
}

/** The grants of all chains of a proof. */
export function* stepsIn({ chain, gates }: Proof): Generator<Step> {
  yield* chain;
  for (const { parents, all, none } of gates) {
    yield* parents;
    for (const proof of [...all, ...none]) yield* stepsIn(proof);
  }
}

const gateRecord = ({ gate, object, parents, all, none }: GateProof, recordOf: (step: Step) => object): GateRecord => ({
  gate,
  object,
  ...(parents.length === 0 ? {} : { parents: parents.map(recordOf) }),
  all_of: all.map((proof) => proofRecord(proof, recordOf)),
  but_not: none.map((proof) => proofRecord(proof, recordOf)),
});

/** `recordOf`: of a grant. */
export function proofRecord(proof: Proof, recordOf: (step: Step) => object): ProofRecord {
  const { name, object, holds, chain, gates, lookedFor, repeated } = proof;
  const record = { name, object, holds: holds ?? null };
  if (repeated) return { ...record, repeated };
  const records = gates.map((each) => gateRecord(each, recordOf));
  if (holds !== true) return { ...record, looked_for: lookedFor, gates: records };
  const because = chain.map(recordOf);
  const [gate] = records;
  return gate === undefined ? { ...record, because } : { ...record, because, gate };
}
