// The cursor of an export of the audit log: a place in the log of each slot, signed. Invariants: a cursor that another
// cluster issued, or that was changed, is refused; its length is bounded by the number of slots.

import { type CursorSecrets, createLongCursor, decodeCursorSecrets, parseLongCursor } from '../../core/text/cursors.ts';

const SCOPE = ['audit-export'];
const FORMAT = 1;

export interface ExportPosition {
  /** Changes of earlier entries are left out, wall clock in ms; 0: none. */
  readonly sinceMs: number;
  /** The slot with which the next page begins, so that all slots take turns. */
  readonly startSlot: number;
  /** Of each slot: the last entry that has been exported. */
  readonly seqs: readonly number[];
}

/** Unsigned LEB128, for safe integers. */
function writeNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

function readNumbers(bytes: Uint8Array): readonly number[] {
  const numbers: number[] = [];
  let value = 0;
  let factor = 1;
  for (const byte of bytes) {
    value += (byte % 128) * factor;
    factor *= 128;
    if (byte >= 128) continue;
    numbers.push(value);
    value = 0;
    factor = 1;
  }
  return numbers;
}

/** Signed with keys that only the shards of the cluster hand out. */
export class ExportCursors {
  readonly #keys: CursorSecrets;

  constructor(cursorKeys: readonly string[]) {
    this.#keys = decodeCursorSecrets(cursorKeys);
  }

  cursorAt({ sinceMs, startSlot, seqs }: ExportPosition): string {
    const bytes: number[] = [];
    for (const number of [FORMAT, sinceMs, startSlot, ...seqs]) writeNumber(bytes, number);
    return createLongCursor(this.#keys, SCOPE, Uint8Array.from(bytes));
  }

  /** Undefined: not issued by this cluster with its number of slots. */
  positionOf(cursor: string, slots: number): ExportPosition | undefined {
    const bytes = parseLongCursor(this.#keys, SCOPE, cursor);
    const [format, sinceMs = 0, startSlot = 0, ...seqs] = readNumbers(bytes ?? new Uint8Array());
    return format === FORMAT && seqs.length === slots ? { sinceMs, startSlot, seqs } : undefined;
  }
}
