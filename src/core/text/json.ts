// Parses JSON text and refuses duplicate members, of which the engine's own parser would take the last. The engine's
// message only sometimes names a position, and it quotes the text, so the scanner finds the place of an error.

import { assert } from '../assert.ts';
import { JsonScanner } from './json-scanner.ts';

const UNBOUNDED = { depthMax: Number.POSITIVE_INFINITY, valuesMax: Number.POSITIVE_INFINITY };
const [QUOTE, BACKSLASH] = [0x22, 0x5c];

/** Counts the quotation marks around the strings and names of JSON. */
function countQuotes(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) count += 1;
    else if (code === BACKSLASH) at += 1;
  }
  return count;
}

/** Counts the strings and names of a value. Most bodies are one flat object, which takes one pass. */
function countStrings(value: unknown): number {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? 1 : 0;
  let count = 0;
  const pending: object[] = [];
  let each: object | undefined = value;
  while (each !== undefined) {
    if (Array.isArray(each)) {
      for (const element of each as readonly unknown[]) {
        if (typeof element === 'string') count += 1;
        else if (typeof element === 'object' && element !== null) pending.push(element);
      }
    } else {
      // JSON.parse made it: all members are its own.
      for (const name in each) {
        const member: unknown = (each as Readonly<Record<string, unknown>>)[name];
        count += 1;
        if (typeof member === 'string') count += 1;
        else if (typeof member === 'object' && member !== null) pending.push(member);
      }
    }
    each = pending.pop();
  }
  return count;
}

/**
 * The value of a JSON text. Throws `invalid-request` that says where it breaks, or where a member is given twice.
 * `what`: how the message begins.
 */
export function parseJson(text: string, what = 'The body'): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    new JsonScanner(text, UNBOUNDED, what).step(text.length);
    throw error;
  }
  // Where a member is given twice, the value has one name and one value fewer than the text.
  if (countQuotes(text) !== 2 * countStrings(value)) {
    new JsonScanner(text, UNBOUNDED, what).step(text.length);
    assert(false, 'the scanner finds the member that is given twice');
  }
  return value;
}
