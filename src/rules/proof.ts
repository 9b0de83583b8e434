// Why a subject holds a name on an object, or does not, where names depend on gates: a tree of what was decided.

import type { Step } from './graph.ts';

/** What was decided about a name on an object. */
export interface Proof {
  /** The name; of a part of a rule, its text. */
  readonly name: string;
  readonly object: string;
  /** Undefined: it could not be decided, and did not matter. */
  readonly holds: boolean | undefined;
  /** If it holds: the grants that lead from the subject, or from the object of the gate, to this object. */
  readonly chain: readonly Step[];
  /** If it holds, the gate that gives it, unless grants alone do; otherwise the gates that might have given it. */
  readonly gates: readonly GateProof[];
  /** If it does not hold: what would suffice on the object. */
  readonly lookedFor: readonly string[];
  /** It stands in full elsewhere in the tree. */
  readonly repeated: boolean;
}

export interface GateProof {
  /** The text of the gate. */
  readonly gate: string;
  readonly object: string;
  /** Of an `all of`: the grants that make its entities parents of the object. */
  readonly parents: readonly Step[];
  /** What must hold, as far as it was decided. */
  readonly all: readonly Proof[];
  /** What must not. */
  readonly none: readonly Proof[];
}
