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
  /** A bound of the proof leaves out its chain, or some of its gates. */
  readonly cut: boolean;
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
  /** A bound of the proof leaves out some of them. */
  readonly cut: boolean;
}

/** Bounds of a proof, which is made in one step of the event loop. What is beyond them is left out, and marked. */
export interface ProofLimits {
  /** Names on objects that are shown in full. */
  readonly shownMax: number;
  /** Entries of the tree: names on objects, shown in full or not, and gates. */
  readonly entriesMax: number;
  /** Grants of all chains. */
  readonly stepsMax: number;
  /** Operands of all gates, shown or not: each has to be looked up. */
  readonly operandsMax: number;
}

/** How much of its bounds a proof has taken. */
export class ProofExtent {
  readonly #limits: ProofLimits;
  shown = 0;
  entries = 0;
  steps = 0;
  operands = 0;

  constructor(limits: ProofLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    const { shownMax, entriesMax, stepsMax, operandsMax } = this.#limits;
    const { shown, entries, steps, operands } = this;
    return shown >= shownMax || entries >= entriesMax || steps >= stepsMax || operands >= operandsMax;
  }

  hasRoomFor(entries: number): boolean {
    return this.entries + entries <= this.#limits.entriesMax;
  }

  /** Parts of the proof for those items that its bounds leave room for. */
  upTo<Item, Part>(items: readonly Item[], make: (item: Item) => Part): Part[] {
    const parts: Part[] = [];
    for (const item of items) {
      if (this.isFull) break;
      this.entries += 1;
      parts.push(make(item));
    }
    return parts;
  }
}
