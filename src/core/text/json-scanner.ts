// Scans a JSON text without building its value: whether it is well-formed, where it breaks, whether it gives a member
// twice, and whether it stays within bounds of depth and number. The engine's parser has no bounds, and its time grows
// with the object shapes in a text, not with its length. The scanner reads step by step, without recursion; only a
// single number is read at once.

import { assertNever } from '../assert.ts';
import { GrantdError } from '../errors.ts';

export interface JsonBounds {
  /** How deep arrays and objects may be nested. */
  readonly depthMax: number;
  /** Elements of arrays, members of objects and the outermost value, together. */
  readonly valuesMax: number;
}

type ExpectedToken = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

const [TAB, LF, CR, SPACE, QUOTE, PLUS, COMMA, MINUS, DOT, ZERO, ONE, NINE, COLON] = [
  0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2b, 0x2c, 0x2d, 0x2e, 0x30, 0x31, 0x39, 0x3a,
];
const [BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5c, 0x5b, 0x5d, 0x7b, 0x7d];
const [SMALL_E, LARGE_E, SMALL_U] = [0x65, 0x45, 0x75];
/** By ASCII code: whether the character may follow a backslash by itself, and whether it is a hexadecimal digit. */
const ESCAPE = new Uint8Array(128);
for (const character of '"\\/bfnrt') ESCAPE[character.charCodeAt(0)] = 1;
const HEX = new Uint8Array(128);
for (const character of '0123456789abcdefABCDEF') HEX[character.charCodeAt(0)] = 1;
const WORDS = ['true', 'false', 'null'];

// Beyond the end of a text the code is NaN, which equals nothing and is in no range.
const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** Whether the four characters from `start` on are hexadecimal digits. */
const isHex = (text: string, start: number): boolean =>
  HEX[text.charCodeAt(start)] === 1 &&
  HEX[text.charCodeAt(start + 1)] === 1 &&
  HEX[text.charCodeAt(start + 2)] === 1 &&
  HEX[text.charCodeAt(start + 3)] === 1;

function endOfBlanks(text: string, start: number, stop: number): number {
  let at = start;
  for (; at < stop; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== SPACE && code !== LF && code !== CR && code !== TAB) break;
  }
  return at;
}

function endOfDigits(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

const BROKEN = 0;
const NAME_SHOWN_MAX = 100;

/**
 * Reads on in a string. Returns the index after its end; or negated, where to read on, at `stop` or just after it; or
 * `BROKEN`.
 */
function readString(text: string, start: number, stop: number): number {
  let at = start;
  while (at < stop) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) {
      const escaped = text.charCodeAt(at + 1);
      if (ESCAPE[escaped] === 1) at += 2;
      else if (escaped === SMALL_U && isHex(text, at + 2)) at += 6;
      else return BROKEN;
    } else if (code >= SPACE) {
      at += 1;
    } else {
      return BROKEN;
    }
  }
  return at < text.length ? -at : BROKEN;
}

/** The end of the longest number that begins at `start`; −1: none does. */
function endOfNumber(text: string, start: number): number {
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
  const first = text.charCodeAt(at);
  if (first === ZERO) at += 1;
  else if (first >= ONE && first <= NINE) at = endOfDigits(text, at);
  else return -1;
  if (text.charCodeAt(at) === DOT && isDigit(text.charCodeAt(at + 1))) at = endOfDigits(text, at + 1);
  const exponent = text.charCodeAt(at);
  if (exponent === SMALL_E || exponent === LARGE_E) {
    const sign = text.charCodeAt(at + 1);
    const digits = sign === PLUS || sign === MINUS ? at + 2 : at + 1;
    if (isDigit(text.charCodeAt(digits))) at = endOfDigits(text, digits);
  }
  return at;
}

/** The end of the number or word that begins at `start`; −1: there is none. */
function endOfScalar(text: string, start: number): number {
  const word = WORDS.find((each) => text.startsWith(each, start));
  return word === undefined ? endOfNumber(text, start) : start + word.length;
}

/** Lines and columns count from 1. */
function placeOf(text: string, index: number): string {
  let line = 1;
  let lineStart = 0;
  for (let at = 0; at < index; at += 1) {
    if (text.charCodeAt(at) !== LF) continue;
    line += 1;
    lineStart = at + 1;
  }
  return `line ${line}, column ${index - lineStart + 1}`;
}

export class JsonScanner {
  readonly #text: string;
  readonly #bounds: JsonBounds;
  readonly #what: string;
  /** For each open array and object, the character that ends it. */
  readonly #open: number[] = [];
  /** The names of its members so far; of an array, none. */
  readonly #names: (Set<string> | undefined)[] = [];
  #expected: ExpectedToken = 'value';
  #index = 0;
  /** How far the string that begins at the index has been read; 0: none is being read. */
  #stringAt = 0;
  #values = 0;

  /** `what`: how messages begin. */
  constructor(text: string, bounds: JsonBounds, what = 'The body') {
    this.#text = text;
    this.#bounds = bounds;
    this.#what = what;
  }

  /** How far the text has been read: after a refusal, where it breaks. */
  get index(): number {
    return this.#index;
  }

  /**
   * Reads about `charactersMax` further characters; true: there is more to read. Throws `invalid-request`, which says
   * what is wrong and where: the first character that is not allowed there, the name that an object has already, or the
   * value that is too deep or one too many.
   */
  step(charactersMax: number): boolean {
    const text = this.#text;
    const stop = Math.min(text.length, Math.max(this.#index, this.#stringAt) + charactersMax);
    if (this.#stringAt > 0) this.#readString(stop);
    while (this.#index < stop && this.#stringAt === 0) {
      this.#index = endOfBlanks(text, this.#index, stop);
      if (this.#index < stop) this.#readToken(text.charCodeAt(this.#index), stop);
    }
    if (this.#index < text.length) return true;
    if (this.#expected !== 'nothing') this.#refuse('is not valid JSON: it ends too early, at');
    return false;
  }

  #readToken(code: number, stop: number): void {
    switch (this.#expected) {
      case 'nothing':
        this.#refuseToken();
        break;
      case 'comma-or-end':
        if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) this.#close(code);
        else this.#readSeparator(code, COMMA, this.#open.at(-1) === CLOSE_OBJECT ? 'key' : 'value');
        break;
      case 'colon':
        this.#readSeparator(code, COLON, 'value');
        break;
      case 'key-or-end':
        if (code === CLOSE_OBJECT) this.#close(code);
        else this.#readKey(code, stop);
        break;
      case 'key':
        this.#readKey(code, stop);
        break;
      case 'value-or-end':
        if (code === CLOSE_ARRAY) this.#close(code);
        else this.#readValue(code, stop);
        break;
      case 'value':
        this.#readValue(code, stop);
        break;
      default:
        assertNever(this.#expected);
    }
  }

  #readSeparator(code: number, separator: number, expected: ExpectedToken): void {
    if (code !== separator) this.#refuseToken();
    this.#index += 1;
    this.#expected = expected;
  }

  #readKey(code: number, stop: number): void {
    if (code !== QUOTE) this.#refuseToken();
    this.#beginString(stop);
  }

  #beginString(stop: number): void {
    this.#stringAt = this.#index + 1;
    this.#readString(stop);
  }

  /** Reads on in a key or a value. */
  #readString(stop: number): void {
    const end = readString(this.#text, this.#stringAt, stop);
    if (end === BROKEN) this.#refuseToken();
    if (end < 0) {
      this.#stringAt = -end;
      return;
    }
    const isKey = this.#expected === 'key' || this.#expected === 'key-or-end';
    if (isKey) this.#enterName(this.#text.slice(this.#index, end));
    this.#stringAt = 0;
    this.#index = end;
    this.#expected = isKey ? 'colon' : this.#behindValue;
  }

  /** `json`: the name with its quotation marks, and escaped in whatever way. */
  #enterName(json: string): void {
    const name: string = json.includes('\\') ? JSON.parse(json) : json.slice(1, -1);
    const names = this.#names.at(-1);
    if (names?.has(name)) {
      this.#refuse(`gives ${JSON.stringify(name.slice(0, NAME_SHOWN_MAX))} twice in one object, the second time at`);
    }
    names?.add(name);
  }

  get #behindValue(): ExpectedToken {
    return this.#open.length === 0 ? 'nothing' : 'comma-or-end';
  }

  #readValue(code: number, stop: number): void {
    const { depthMax, valuesMax } = this.#bounds;
    this.#values += 1;
    if (this.#values > valuesMax) this.#refuse(`holds more than ${valuesMax} values; the first one too many is at`);
    if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (this.#open.length === depthMax) this.#refuse(`is nested more than ${depthMax} deep, at`);
      this.#open.push(code === OPEN_ARRAY ? CLOSE_ARRAY : CLOSE_OBJECT);
      this.#names.push(code === OPEN_ARRAY ? undefined : new Set());
      this.#index += 1;
      this.#expected = code === OPEN_ARRAY ? 'value-or-end' : 'key-or-end';
      return;
    }
    if (code === QUOTE) {
      this.#beginString(stop);
      return;
    }
    const end = endOfScalar(this.#text, this.#index);
    if (end === -1) this.#refuseToken();
    this.#index = end;
    this.#expected = this.#behindValue;
  }

  #close(code: number): void {
    if (this.#open.at(-1) !== code) this.#refuseToken();
    this.#open.pop();
    this.#names.pop();
    this.#index += 1;
    this.#expected = this.#behindValue;
  }

  #refuseToken(): never {
    this.#refuse('is not valid JSON: unexpected character at');
  }

  #refuse(what: string): never {
    throw new GrantdError('invalid-request', `${this.#what} ${what} ${placeOf(this.#text, this.#index)}.`);
  }
}
