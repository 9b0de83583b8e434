// JSON text to value, and where it breaks. The engine's own message names a position only sometimes and quotes the
// body, so the place is found here: one pass without recursion, run only once the engine has refused the text.

import { GrantdError } from '../core/errors.ts';

const LITERAL = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** The characters that may stand as they are: all but control characters, the quote and the backslash. */
const PLAIN = '[ !#-\\[\\]-\\uffff]';
const STRING = new RegExp(`"(?:${PLAIN}|\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"`, 'y');

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

/** The index of the first character that cannot stand there; the length of the text where it ends too early. */
export function findJsonError(text: string): number {
  const open: string[] = [];
  let expected: Expected = 'value';
  let index = 0;
  const matches = (pattern: RegExp): boolean => {
    pattern.lastIndex = index;
    if (!pattern.test(text)) return false;
    index = pattern.lastIndex;
    return true;
  };
  const afterValue = (): Expected => (open.length === 0 ? 'nothing' : 'comma-or-end');
  for (;;) {
    let character = text[index];
    while (character === ' ' || character === '\n' || character === '\r' || character === '\t') {
      index += 1;
      character = text[index];
    }
    if (character === undefined || expected === 'nothing') return index;
    if (
      (character === '}' || character === ']') &&
      open.at(-1) === (character === '}' ? '{' : '[') &&
      (expected === 'comma-or-end' || expected === 'value-or-end' || expected === 'key-or-end')
    ) {
      open.pop();
      index += 1;
      expected = afterValue();
    } else if (expected === 'comma-or-end') {
      if (character !== ',') return index;
      index += 1;
      expected = open.at(-1) === '{' ? 'key' : 'value';
    } else if (expected === 'colon') {
      if (character !== ':') return index;
      index += 1;
      expected = 'value';
    } else if (expected === 'key' || expected === 'key-or-end') {
      if (!matches(STRING)) return index;
      expected = 'colon';
    } else if (character === '{' || character === '[') {
      open.push(character);
      index += 1;
      expected = character === '{' ? 'key-or-end' : 'value-or-end';
    } else if (matches(STRING) || matches(LITERAL)) {
      expected = afterValue();
    } else {
      return index;
    }
  }
}

function placeOf(text: string, index: number): string {
  const lines = text.slice(0, index).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

/** The value of a JSON text; of repeated names the last counts. Throws `invalid-request` that says where it breaks. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const index = findJsonError(text);
    const what = index >= text.length ? 'it ends too early, at' : 'unexpected character at';
    throw new GrantdError('invalid-request', `The body is not valid JSON: ${what} ${placeOf(text, index)}.`);
  }
}
