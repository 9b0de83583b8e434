// Relationships of SpiceDB as text, one per line: `document:1#viewer@group:eng#member`, perhaps with a caveat or an
// expiration in brackets.

import { GrantdError } from '../../../../src/core/errors.ts';
import { isJsonObject } from '../../../../src/core/json-members.ts';
import { parseJson } from '../../../../src/core/text/json.ts';
import { readLines, type SourceLine } from '../../../cli/src/import/import-lines.ts';
import { lineOf, type SourceEntry, type SourceTuple } from './source-tuple.ts';

const TYPE = '[a-z][a-z0-9_]*(?:/[a-z][a-z0-9_]*)*';
const ID = '[A-Za-z0-9/_|=+-]{1,1024}';
const NAME = '[a-z][a-z0-9_]*';
const RELATIONSHIP = new RegExp(
  `^(?<objectType>${TYPE}):(?<objectId>${ID})#(?<relation>${NAME})@(?<subjectType>${TYPE}):(?<subjectId>${ID}|\\*)(?:#(?<subjectRelation>${NAME}|\\.\\.\\.))?(?<traits>\\[.*\\])?$`,
);
const EXPIRATION = /\[expiration:(?<time>[^[\]]+)\]$/;
const EXPIRATION_FIRST = /^\[expiration:[^[\]]*\]\[/;
const CAVEAT = /^\[(?<name>[a-z][a-z0-9_]*(?:\/[a-z][a-z0-9_]*)*)(?::(?<context>.*))?\]$/;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type Traits = Pick<SourceTuple, 'condition' | 'expiresAt'>;

/** Reads the brackets: a caveat, an expiration or both. */
function traitsIn(traits: string): Traits | { readonly problem: string } {
  if (EXPIRATION_FIRST.test(traits))
    return { problem: 'The expiration must follow the caveat: [caveat][expiration:…].' };
  const expiresAt = EXPIRATION.exec(traits)?.groups?.time;
  const caveat = traits.replace(EXPIRATION, '');
  if (caveat === '') return { condition: undefined, expiresAt };
  const { name, context = '{}' } = CAVEAT.exec(caveat)?.groups ?? {};
  if (name === undefined) return { problem: 'What is in the brackets is neither a caveat nor an expiration.' };
  try {
    const value = parseJson(context, 'The context of the caveat');
    if (isJsonObject(value)) return { condition: { name, context: value }, expiresAt };
    return { problem: 'The context of the caveat is not a JSON object.' };
  } catch (error) {
    return { problem: GrantdError.from(error).message };
  }
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
  const traits = traitsIn(parts.traits ?? '');
  if ('problem' in traits) return { line, ...traits };
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
      ...traits,
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
