// The declared parameters of a condition: `(ip: ipaddress, allowed: list<string>)`, in SpiceDB and Permify without the
// colons. The names of the types are those of grantd.

import type { Lexer } from './lexer.ts';
import { modelFailure, quote } from './source-model.ts';

/** `list<map<int>>` has two. */
const NESTING_MAX = 5;

function typeIn(lexer: Lexer, depth: number): string {
  const { text, place } = lexer.word('the type of a parameter');
  if (!lexer.take('<')) return text;
  if (depth === NESTING_MAX) throw modelFailure(place, `More than ${NESTING_MAX} types are within each other.`);
  const inner = typeIn(lexer, depth + 1);
  lexer.expect('>', `after ${quote(inner)}`);
  return `${text}<${inner}>`;
}

/** Types by name, from `(` to `)`. `separator` stands between a name and its type. */
export function parametersIn(lexer: Lexer, separator: ':' | undefined): Readonly<Record<string, string>> {
  const types = new Map<string, string>();
  lexer.expect('(', 'before the parameters');
  while (!lexer.take(')')) {
    if (types.size > 0) lexer.expect(',', 'between parameters');
    const { text: name, place } = lexer.word('the name of a parameter');
    if (separator !== undefined) lexer.expect(separator, `after ${quote(name)}`);
    if (types.has(name)) throw modelFailure(place, `The parameter ${quote(name)} occurs twice.`);
    types.set(name, typeIn(lexer, 1));
  }
  return Object.fromEntries(types);
}
