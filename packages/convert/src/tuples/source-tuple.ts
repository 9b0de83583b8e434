// A tuple of OpenFGA or a relationship of SpiceDB, as a file has it: one form for both. Readers only read. The
// translation (translation.ts) decides whether it can be a grant, so that reading loses nothing.

import type { JsonObject } from '../../../../src/core/json-members.ts';
import type { SourceLine } from '../../../cli/src/import/import-lines.ts';

/** An OpenFGA condition or a SpiceDB caveat, with the part of its context that is stored. */
export interface SourceTupleCondition {
  readonly name: string;
  readonly context: JsonObject;
}

export interface SourceTuple {
  readonly subjectType: string;
  /** `*`: every subject of the type. */
  readonly subjectId: string;
  /** The relation of a userset. */
  readonly subjectRelation: string | undefined;
  readonly relation: string;
  readonly objectType: string;
  readonly objectId: string;
  /** Undefined: it always holds. */
  readonly condition: SourceTupleCondition | undefined;
  /** ISO 8601. */
  readonly expiresAt: string | undefined;
}

/** A tuple, or why an entry of the file is not one. */
export type SourceEntry = { readonly line: SourceLine } & (
  | { readonly tuple: SourceTuple }
  | { readonly problem: string }
);

export const lineOf = (number: number, text: string | Buffer): SourceLine => ({
  number,
  bytes: typeof text === 'string' ? Buffer.from(text) : text,
  cut: false,
});

/** `type:id` at the first colon; undefined if it has none. */
export function splitEntity(text: string): { readonly type: string; readonly id: string } | undefined {
  const colon = text.indexOf(':');
  return colon < 1 || colon === text.length - 1 ? undefined : { type: text.slice(0, colon), id: text.slice(colon + 1) };
}
