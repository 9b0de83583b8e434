// Regular expressions of `matches`: RE2's syntax, on an engine whose time grows with pattern × text and no faster.
// Invariant: a pattern is measured before it is compiled, since compiling a large one takes longest.

import { RE2Set } from 're2js';
import type { StepMeter } from './step-meter.ts';
import { stepsOf } from './values.ts';

/** Characters, classes and groups of a pattern, each as often as counted repetition repeats it. */
export const PATTERN_ATOMS_MAX = 300;
/** UTF-16 code units of a pattern. */
export const PATTERN_LENGTH_MAX = 1000;
/** Constant patterns of one expression. */
export const PATTERNS_MAX = 10;
/** Occurrences of `\p` and `\P`: each is a table of hundreds of ranges. */
const UNICODE_CLASSES_MAX = 4;

/** Steps that compiling one atom takes at worst. */
const STEPS_PER_ATOM = 100;
/** Characters times atoms that a match covers in one step at worst. */
const ATOMS_PER_STEP = 2;
/** Bytes of the automaton that a pattern keeps between matches. One that needs more matches more slowly. */
const AUTOMATON_BYTES_MAX = 32 * 1024;

export class PatternError extends Error {}

/** The length of what begins at `at`: an escape, a class in brackets, or a character. */
function atomLength(pattern: string, at: number): number {
  const character = pattern.charAt(at);
  if (character === '\\') return pattern.startsWith('{', at + 2) ? Math.max(2, pattern.indexOf('}', at) + 1 - at) : 2;
  if (character !== '[') return 1;
  let end = at + 1;
  if (pattern.charAt(end) === '^') end += 1;
  if (pattern.charAt(end) === ']') end += 1;
  while (end < pattern.length && pattern.charAt(end) !== ']') {
    const named = pattern.startsWith('[:', end) ? pattern.indexOf(':]', end) : -1;
    if (named >= 0) end = named + 2;
    else end += pattern.charAt(end) === '\\' ? 2 : 1;
  }
  return end + 1 - at;
}

const COUNT = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y;

/** How often a counted repetition at `at` repeats what stands before it. */
function repetitionAt(pattern: string, at: number): { readonly times: number; readonly length: number } {
  COUNT.lastIndex = at;
  const [text = '', least = '1', most = ''] = COUNT.exec(pattern) ?? [];
  return { times: Math.max(1, Number(least), Number(most)), length: text.length };
}

/** The atoms of a pattern with its counted repetitions written out. An estimate: the engine checks the syntax. */
function countAtoms(pattern: string): number {
  const groups = [0];
  let last = 0;
  for (let at = 0; at < pattern.length; ) {
    const character = pattern.charAt(at);
    const { times, length } = repetitionAt(pattern, at);
    if (length > 0) {
      groups.push((groups.pop() ?? 0) + last * (times - 1));
      last *= times;
      at += length;
      continue;
    }
    if (character === '(') {
      groups.push(1);
      at += 1;
      continue;
    }
    if (character === ')' && groups.length > 1) {
      last = groups.pop() ?? 0;
      groups.push((groups.pop() ?? 0) + last);
      at += 1;
      continue;
    }
    if (!'*+?'.includes(character)) {
      last = 1;
      groups.push((groups.pop() ?? 0) + 1);
    }
    at += atomLength(pattern, at);
  }
  return groups.reduce((sum, count) => sum + count, 0);
}

/** Whether folding of case may have to look at ranges of many characters. */
const foldsUnicode = (pattern: string): boolean =>
  /\(\?[a-zA-Z]*i/.test(pattern) && (/[\u0080-\uffff]/.test(pattern) || /\\[xpP]/.test(pattern));

function measure(pattern: string): number {
  if (pattern.length > PATTERN_LENGTH_MAX) {
    throw new PatternError(`The pattern has ${pattern.length} characters; at most ${PATTERN_LENGTH_MAX} are allowed.`);
  }
  const atoms = countAtoms(pattern);
  if (atoms > PATTERN_ATOMS_MAX) {
    throw new PatternError(
      `The pattern has ${atoms} parts with its repetitions written out; at most ${PATTERN_ATOMS_MAX} are allowed.`,
    );
  }
  if ((pattern.match(/\\[pP]/g)?.length ?? 0) > UNICODE_CLASSES_MAX) {
    throw new PatternError(`The pattern has more than ${UNICODE_CLASSES_MAX} Unicode classes.`);
  }
  if (foldsUnicode(pattern)) throw new PatternError('A pattern with `(?i)` must be in ASCII, without `\\x` and `\\p`.');
  return atoms;
}

export class Pattern {
  /** A set of one: only a set bounds its memory. */
  readonly #engine: RE2Set;
  /** At most `PATTERN_ATOMS_MAX`. */
  readonly atoms: number;

  private constructor(engine: RE2Set, atoms: number) {
    this.#engine = engine;
    this.atoms = atoms;
  }

  /** Throws `PatternError`. Spends the steps that compiling takes, if it is done within an evaluation. */
  static compile(text: string, meter?: StepMeter): Pattern {
    meter?.spend(stepsOf(Math.min(text.length, PATTERN_LENGTH_MAX)));
    const atoms = measure(text);
    meter?.spend(STEPS_PER_ATOM * (1 + atoms));
    const engine = new RE2Set(RE2Set.UNANCHORED, 0, AUTOMATON_BYTES_MAX);
    try {
      engine.add(text);
      engine.compile();
    } catch (error) {
      throw new PatternError(`The pattern is wrong: ${error instanceof Error ? error.message : String(error)}.`);
    }
    return new Pattern(engine, atoms);
  }

  /** Whether the pattern matches any part of the text. */
  matches(text: string, meter: StepMeter): boolean {
    meter.spend(Math.ceil(((1 + this.atoms) * (1 + text.length)) / ATOMS_PER_STEP));
    return this.#engine.match(text).length > 0;
  }
}
