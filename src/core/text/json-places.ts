// Places in a JSON text, for the people who write it: of the first syntax error, and of a value.

/** Deeper than any text that this parses; recursion ends there. */
const DEPTH_MAX = 100;

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const SCALAR = /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![\w.])/y;

export type JsonPlace =
  /** The text is JSON. */
  | { readonly kind: 'value'; readonly offset: number }
  /** It is not, from `offset` on. `message` completes "Line 3: ". */
  | { readonly kind: 'syntax'; readonly offset: number; readonly message: string };

class JsonScanner {
  readonly #text: string;
  readonly #path: string;
  #at = 0;
  /** Of the value at the path, or of the innermost one around it. */
  found = 0;
  wrong: { readonly offset: number; readonly message: string } | undefined;

  constructor(text: string, path: string) {
    this.#text = text;
    this.#path = path;
  }

  scan(): void {
    this.#value('', 0);
    this.#skip(SPACE);
    if (this.wrong === undefined && this.#at < this.#text.length) this.#fail('nothing may follow the end of the JSON');
  }

  #fail(message: string): void {
    this.wrong ??= {
      offset: this.#at,
      message: this.#at >= this.#text.length ? `the text ends, but ${message}` : message,
    };
  }

  /** Consumes and returns the text that the pattern matches here. */
  #skip(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text)?.[0];
    this.#at += match?.length ?? 0;
    return match;
  }

  #pass(character: string): boolean {
    this.#skip(SPACE);
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #value(path: string, depth: number): void {
    this.#skip(SPACE);
    if (this.#leadsTo(path)) this.found = this.#at;
    if (depth > DEPTH_MAX) this.#fail('this is nested too deeply');
    else if (this.#pass('{')) this.#members(path, depth);
    else if (this.#pass('[')) this.#elements(path, depth);
    else if (this.#skip(STRING) === undefined && this.#skip(SCALAR) === undefined) {
      this.#fail(
        'a value is missing here: an object, an array, a string in double quotes, a number, true, false or null',
      );
    }
  }

  #leadsTo(path: string): boolean {
    if (!this.#path.startsWith(path)) return false;
    return path === '' || ['', '.', '['].includes(this.#path.charAt(path.length));
  }

  #members(path: string, depth: number): void {
    if (this.#pass('}')) return;
    do {
      this.#skip(SPACE);
      const name = this.#skip(STRING);
      if (name === undefined) this.#fail('the name of a field, in double quotes, is missing here');
      else if (!this.#pass(':')) this.#fail(`a colon is missing after ${name.slice(0, 100)}`);
      else this.#value(path === '' ? name.slice(1, -1) : `${path}.${name.slice(1, -1)}`, depth + 1);
    } while (this.wrong === undefined && this.#pass(','));
    if (this.wrong === undefined && !this.#pass('}')) this.#fail('a comma or a closing brace is missing here');
  }

  #elements(path: string, depth: number): void {
    if (this.#pass(']')) return;
    let index = 0;
    do {
      this.#value(`${path}[${index}]`, depth + 1);
      index += 1;
    } while (this.wrong === undefined && this.#pass(','));
    if (this.wrong === undefined && !this.#pass(']')) this.#fail('a comma or a closing bracket is missing here');
  }
}

/**
 * The place of the value at a path such as `rules[3].any_of[0]`; if there is none, of the value that would contain it.
 * Offsets are in UTF-16 units.
 */
export function findJsonPlace(text: string, path: string): JsonPlace {
  const scanner = new JsonScanner(text, path);
  scanner.scan();
  const { wrong, found } = scanner;
  return wrong === undefined ? { kind: 'value', offset: found } : { kind: 'syntax', ...wrong };
}

/** The line of an offset, from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split(/\r\n|\n|\r/).length;
}
