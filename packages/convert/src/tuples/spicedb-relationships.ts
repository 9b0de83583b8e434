// Relationships of SpiceDB as text, one per line: `document:1#viewer@group:eng#member`, perhaps with a caveat or an
// expiration in brackets.

import { readLines, type SourceLine } from '../../../../src/cli/import/import-lines.ts';
import { lineOf, type SourceEntry } from './source-tuple.ts';

const TYPE = '[a-z][a-z0-9_]*(?:/[a-z][a-z0-9_]*)*';
const ID = '[A-Za-z0-9/_|=+-]{1,1024}';
const NAME = '[a-z][a-z0-9_]*';
const RELATIONSHIP = new RegExp(
  `^(?<objectType>${TYPE}):(?<objectId>${ID})#(?<relation>${NAME})@(?<subjectType>${TYPE}):(?<subjectId>${ID}|\\*)(?:#(?<subjectRelation>${NAME}|\\.\\.\\.))?(?<traits>\\[.*\\])?$`,
);
const EXPIRATION = /^\[expiration:(?<time>[^[\]]+)\]$/;
const CAVEAT = /^\[(?<name>[a-z][a-z0-9_/]*)/;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads the brackets. Anything but an expiration alone is a condition. */
function traitsIn(traits: string | undefined): { condition: string | undefined; expiresAt: string | undefined } {
  if (traits === undefined) return { condition: undefined, expiresAt: undefined };
  const expiresAt = EXPIRATION.exec(traits)?.groups?.time;
  if (expiresAt !== undefined) return { condition: undefined, expiresAt };
  return { condition: CAVEAT.exec(traits)?.groups?.name ?? 'unnamed', expiresAt: undefined };
}

/** Undefined for an empty line or a comment. */
function entryOf(line: SourceLine, text: string): SourceEntry | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.startsWith('//')) return undefined;
  const parts = RELATIONSHIP.exec(trimmed)?.groups;
  if (parts === undefined) {
    return { line, problem: 'A relationship must be type:id#relation@type:id or type:id#relation@type:id#relation.' };
  }
  const { objectType = '', objectId = '', relation = '', subjectType = '', subjectId = '', subjectRelation } = parts;
  return {
    line,
    tuple: {
      subjectType,
      subjectId,
      // `#...` is the subject itself.
      subjectRelation: subjectRelation === '...' ? undefined : subjectRelation,
      relation,
      objectType,
      objectId,
      ...traitsIn(parts.traits),
    },
  };
}

/** `firstLine`: that of the text within its file. */
export function* entriesOfText(text: string, firstLine: number): Generator<SourceEntry> {
  let number = firstLine;
  for (const raw of text.split('\n')) {
    const entry = entryOf(lineOf(number, raw), raw);
    if (entry !== undefined) yield entry;
    number += 1;
  }
}

export async function* readRelationshipLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly SourceEntry[]> {
  for await (const lines of readLines(chunks)) {
    yield lines.flatMap((line): SourceEntry[] => {
      try {
        if (line.cut) return [{ line, problem: 'The line is too long.' }];
        const entry = entryOf(line, decoder.decode(line.bytes));
        return entry === undefined ? [] : [entry];
      } catch {
        return [{ line, problem: 'The line is not valid UTF-8.' }];
      }
    });
  }
}
