// The query of a request, parsed by hand: a repeated or unknown parameter is an error, and never guessed at.

import { GrantdError } from '../errors.ts';

/** Bounds what an error message quotes to a line of what the client sent. */
const QUOTED_LENGTH_MAX = 64;

const EMPTY: Readonly<Record<string, string>> = Object.freeze({});

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new GrantdError(
      'invalid-request',
      'The query string holds a malformed percent-encoding, or one that is not UTF-8.',
    );
  }
}

const quote = (name: string): string => JSON.stringify(name.slice(0, QUOTED_LENGTH_MAX));

/** Name → value. Throws `invalid-request` for a parameter that is not among `known` or occurs twice. */
export function parseQuery(text: string, known: readonly string[]): Readonly<Record<string, string>> {
  if (text === '') return EMPTY;
  const values: Record<string, string> = Object.create(null);
  for (const part of text.split('&')) {
    if (part === '') continue;
    const separator = part.indexOf('=');
    const name = decode(separator === -1 ? part : part.slice(0, separator));
    if (!known.includes(name)) {
      throw new GrantdError(
        'invalid-request',
        `The query parameter ${quote(name)} is unknown; ${
          known.length === 0 ? 'this operation takes none' : `known parameters: ${known.join(', ')}`
        }.`,
      );
    }
    if (name in values) throw new GrantdError('invalid-request', `The query parameter ${quote(name)} is repeated.`);
    values[name] = separator === -1 ? '' : decode(part.slice(separator + 1));
  }
  return values;
}
