// Parses JSON into nodes with their places, which `JSON.parse` does not report.

import { type Language, Lexer } from './lexer.ts';
import { modelFailure, type Place, quote } from './source-model.ts';

export type JsonNode =
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, JsonNode>; readonly place: Place }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[]; readonly place: Place }
  | { readonly kind: 'string'; readonly text: string; readonly place: Place }
  | { readonly kind: 'null'; readonly place: Place }
  | { readonly kind: 'other'; readonly place: Place };

const LANGUAGE: Language = {
  word: /[A-Za-z0-9+.-]+/y,
  signs: ['{', '}', '[', ']', ':', ','],
  strings: true,
  commentEnd: () => undefined,
};

function stringIn(lexer: Lexer, what: string): { readonly text: string; readonly place: Place } {
  if (lexer.token.kind !== 'string') throw lexer.unexpected(what);
  const { text, place } = lexer.next();
  try {
    return { text: JSON.parse(text), place };
  } catch {
    throw modelFailure(place, `${quote(text)} is not a JSON string.`);
  }
}

function fieldsIn(lexer: Lexer, depth: number): Map<string, JsonNode> {
  const fields = new Map<string, JsonNode>();
  if (lexer.take('}')) return fields;
  do {
    const { text: name, place } = stringIn(lexer, 'the name of a field');
    if (fields.has(name)) throw modelFailure(place, `The field ${quote(name)} occurs twice.`);
    lexer.expect(':', `after ${quote(name)}`);
    fields.set(name, nodeIn(lexer, depth));
  } while (lexer.take(','));
  lexer.expect('}', 'at the end of the object');
  return fields;
}

function itemsIn(lexer: Lexer, depth: number): JsonNode[] {
  const items: JsonNode[] = [];
  if (lexer.take(']')) return items;
  do items.push(nodeIn(lexer, depth));
  while (lexer.take(','));
  lexer.expect(']', 'at the end of the list');
  return items;
}

function wordIn(lexer: Lexer): JsonNode {
  const { text, place } = lexer.word('a value');
  try {
    return { kind: JSON.parse(text) === null ? 'null' : 'other', place };
  } catch {
    throw modelFailure(place, `${quote(text)} is not a JSON value.`);
  }
}

/** `depth`: how many more objects and lists may enclose each other. */
function nodeIn(lexer: Lexer, depth: number): JsonNode {
  const { kind, place } = lexer.token;
  if (kind === 'string') return { kind, ...stringIn(lexer, 'a value') };
  if (kind === 'word') return wordIn(lexer);
  if (depth === 0) throw modelFailure(place, 'Too many objects and lists enclose each other.');
  if (lexer.take('{')) return { kind: 'object', fields: fieldsIn(lexer, depth - 1), place };
  if (lexer.take('[')) return { kind: 'array', items: itemsIn(lexer, depth - 1), place };
  throw lexer.unexpected('a JSON value');
}

export function parseJsonNodes(file: string, text: string, depthMax: number): JsonNode {
  const lexer = new Lexer(file, text, LANGUAGE);
  const node = nodeIn(lexer, depthMax);
  if (lexer.token.kind !== 'end') throw lexer.unexpected('the end of the file');
  return node;
}
