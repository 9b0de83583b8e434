// Places in a JSON text, for the people who write it: of the first syntax error, and of values.

/** Deeper than any text that this parses; recursion ends there. */
const DEPTH_MAX = 100;

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const SCALAR = /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![\w.])/y;

/** All of a string, number or word; the first character of an object or array. In UTF-16 units. */
export interface JsonValuePlace {
  readonly offset: number;
  readonly length: number;
  /** Whether it is the value at the path itself, and not one around it. */
  readonly exact: boolean;
}

export type JsonPlaces =
  /** The text is JSON. The places are those of the paths, in their order. */
  | { readonly kind: 'values'; readonly places: readonly JsonValuePlace[] }
  /** It is not, from `offset` on. `message` completes "Line 3: ". */
  | { readonly kind: 'syntax'; readonly offset: number; readonly message: string };

/** The path, and those of the values around it, the innermost first. */
function pathsTo(path: string): readonly string[] {
  const ends = Array.from(path.matchAll(/[.[]/g), ({ index }) => index);
  return [path, ...ends.reverse().map((end) => path.slice(0, end)), ''];
}

class JsonScanner {
  readonly #text: string;
  readonly #wanted: ReadonlySet<string>;
  #at = 0;
  /** By path, for those wanted. */
  readonly found = new Map<string, { readonly offset: number; readonly length: number }>();
  wrong: { readonly offset: number; readonly message: string } | undefined;

  constructor(text: string, wanted: ReadonlySet<string>) {
    this.#text = text;
    this.#wanted = wanted;
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
    const offset = this.#at;
    const note = (length: number): void => {
      if (this.#wanted.has(path)) this.found.set(path, { offset, length });
    };
    if (depth > DEPTH_MAX) this.#fail('this is nested too deeply');
    else if (this.#pass('{')) {
      note(1);
      this.#members(path, depth);
    } else if (this.#pass('[')) {
      note(1);
      this.#elements(path, depth);
    } else {
      const scalar = this.#skip(STRING) ?? this.#skip(SCALAR);
      if (scalar !== undefined) note(scalar.length);
      else {
        this.#fail(
          'a value is missing here: an object, an array, a string in double quotes, a number, true, false or null',
        );
      }
    }
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
 * The places of the values at paths such as `rules[3].any_of[0]`, in one pass; where there is none, of the innermost
 * value that would contain it.
 */
export function findJsonPlaces(text: string, paths: readonly string[]): JsonPlaces {
  const scanner = new JsonScanner(text, new Set(paths.flatMap(pathsTo)));
  scanner.scan();
  const { wrong, found } = scanner;
  if (wrong !== undefined) return { kind: 'syntax', ...wrong };
  const places = paths.map((path): JsonValuePlace => {
    const inner = pathsTo(path).find((each) => found.has(each)) ?? '';
    return { ...(found.get(inner) ?? { offset: 0, length: 0 }), exact: inner === path };
  });
  return { kind: 'values', places };
}

/** One UTF-16 unit of the value of a JSON string, as it is written. */
const UNIT = /\\(?:u[0-9a-fA-F]{4}|.)|[^\\]/gs;

/** The length of what stands in a JSON string for the first `length` units of its value. */
export const writtenLength = (json: string, length: number): number =>
  (json.match(UNIT) ?? []).slice(0, length).join('').length;

const LINE_END = /\r\n|\n|\r/g;

/** From 1; columns in UTF-16 units. */
export interface LineAndColumn {
  readonly line: number;
  readonly column: number;
}

export function lineAndColumnAt(text: string, offset: number): LineAndColumn {
  const ends = [...text.slice(0, offset).matchAll(LINE_END)];
  const last = ends.at(-1);
  return { line: ends.length + 1, column: offset - (last === undefined ? 0 : last.index + last[0].length) + 1 };
}
