// A proof as both APIs show it, with the grants that it rests on. Invariant: it takes at most so many bytes as JSON,
// however large the values are that its conditions saw; what does not fit is left out, and marked.

import type { GateProof, Proof } from '../../rules/gate-evaluation.ts';
import type { Step } from '../../rules/graph.ts';

interface GateRecord {
  readonly gate: string;
  readonly object: string;
  readonly parents?: readonly object[];
  readonly all_of: readonly ProofRecord[];
  readonly but_not: readonly ProofRecord[];
  readonly cut?: true;
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
  readonly cut?: true;
}

/** Bytes of the members of an entry besides its texts and its parts. */
const ENTRY_BYTES = 100;

/** The grants of all chains of a proof. */
export function* stepsIn({ chain, gates }: Proof): Generator<Step> {
  yield* chain;
  for (const { parents, all, none } of gates) {
    yield* parents;
    for (const proof of [...all, ...none]) yield* stepsIn(proof);
  }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1;

export class ProofWriter {
  readonly #recordOf: (step: Step) => object;
  /** Zero as soon as something did not fit: what follows would be out of its context. */
  #bytesLeft: number;
  readonly #steps: Step[] = [];

  /** `recordOf`: of a grant. */
  constructor(bytesMax: number, recordOf: (step: Step) => object) {
    this.#bytesLeft = bytesMax;
    this.#recordOf = recordOf;
  }

  /** The grants that were written, some perhaps several times. */
  get steps(): readonly Step[] {
    return this.#steps;
  }

  /** The proof as JSON. */
  write(proof: Proof): string {
    const { name, object, holds } = proof;
    return JSON.stringify(this.#proof(proof) ?? { name, object, holds: holds ?? null, cut: true });
  }

  /** Undefined: not even its beginning fits. */
  #proof(proof: Proof): ProofRecord | undefined {
    const { name, object, holds, repeated, lookedFor } = proof;
    if (!this.#take(ENTRY_BYTES + bytesOf(name) + bytesOf(object))) return undefined;
    const record = { name, object, holds: holds ?? null };
    if (repeated) return { ...record, repeated };
    const because = this.#grants(proof.chain);
    if (because === undefined || !this.#take(bytesOf(lookedFor))) return { ...record, cut: true };
    const gates = this.#each(proof.gates, (each) => this.#gate(each));
    const cut = proof.cut || gates.length < proof.gates.length ? ({ cut: true } as const) : {};
    if (holds !== true) return { ...record, looked_for: lookedFor, gates, ...cut };
    const [gate] = gates;
    return gate === undefined ? { ...record, because, ...cut } : { ...record, because, gate, ...cut };
  }

  #gate(proof: GateProof): GateRecord | undefined {
    const { gate, object } = proof;
    if (!this.#take(ENTRY_BYTES + bytesOf(gate) + bytesOf(object))) return undefined;
    const parents = this.#grants(proof.parents);
    if (parents === undefined) return { gate, object, all_of: [], but_not: [], cut: true };
    const all = this.#each(proof.all, (each) => this.#proof(each));
    const none = this.#each(proof.none, (each) => this.#proof(each));
    const isCut = proof.cut || all.length + none.length < proof.all.length + proof.none.length;
    return {
      gate,
      object,
      ...(parents.length === 0 ? {} : { parents }),
      all_of: all,
      but_not: none,
      ...(isCut ? { cut: true } : {}),
    };
  }

  /** Those that fit. */
  #each<Part, Written>(parts: readonly Part[], write: (part: Part) => Written | undefined): readonly Written[] {
    const written: Written[] = [];
    for (const part of parts) {
      const record = write(part);
      if (record === undefined) break;
      written.push(record);
    }
    return written;
  }

  /** Undefined: not all of them fit. */
  #grants(steps: readonly Step[]): readonly object[] | undefined {
    const records: object[] = [];
    for (const step of steps) {
      const record = this.#recordOf(step);
      if (!this.#take(bytesOf(record))) return undefined;
      records.push(record);
      this.#steps.push(step);
    }
    return records;
  }

  #take(bytes: number): boolean {
    const fits = bytes <= this.#bytesLeft;
    this.#bytesLeft = fits ? this.#bytesLeft - bytes : 0;
    return fits;
  }
}
