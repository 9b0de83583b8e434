// Regular expressions of `matches`: RE2's syntax, on an engine whose time grows with program × text and no faster.
// Invariant: parsing, compiling and matching are bounded, and each is paid for before it is done: a pattern is measured
// before it is parsed, its program before it is built, and a match costs its program at each character.

import { RE2Set } from 're2js';
import type { StepMeter } from './step-meter.ts';

/** Characters, classes and groups of a pattern, each as often as counted repetition repeats it. */
export const PATTERN_ATOMS_MAX = 300;
/** UTF-16 code units of a pattern. */
export const PATTERN_LENGTH_MAX = 1000;
/** Constant patterns of one expression. */
export const PATTERNS_MAX = 10;
/** Occurrences of `\p` and `\P`: each is a table of hundreds of ranges. */
const UNICODE_CLASSES_MAX = 4;
/** Instructions of a program: more than `PATTERN_ATOMS_MAX` parts have. */
const INSTRUCTIONS_MAX = 2000;
/** Ranges of characters in all classes of a program. */
const RANGES_MAX = 300_000;

/** Steps of making an engine. */
const ENGINE_STEPS = 20;
/** Steps of reading a character of a pattern, at worst; with `(?i)`, ranges are folded character by character. */
const STEPS_PER_CHARACTER = 2;
const STEPS_PER_FOLDED_CHARACTER = 12;
/** Steps of reading a Unicode class, once. */
const STEPS_PER_UNICODE_CLASS = 1000;
/** Steps of building an instruction. */
const STEPS_PER_INSTRUCTION = 10;
/** Ranges of characters that are copied in one step. */
const RANGES_PER_STEP = 16;
/** Instructions that a match runs in one step at worst, at each character. */
const INSTRUCTIONS_PER_STEP = 4;
/** What a match costs whatever the pattern, in instructions. */
const INSTRUCTIONS_OF_MATCH = 4;
export class PatternError extends Error {}

/** A class in brackets at `at`. */
function classLength(pattern: string, at: number): number {
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

/** What stands literally: `\Q…\E`, up to the end where `\E` is missing. */
const QUOTED = /\\Q(.*?)(?:\\E|$)/sy;
/** The escapes that braces belong to; behind another one, they count repetitions. */
const BRACED = /\\[pPx]\{[^}]*\}/y;
/** Sets flags for what follows; a repetition behind it repeats what stands before it. */
const FLAGS = /\(\?[a-zA-Z-]*\)/y;
const COUNT = /\{(0|[1-9]\d{0,3})(?:,(0|[1-9]\d{0,3})?)?\}/y;

function matchAt(expression: RegExp, pattern: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(pattern);
}

/** The length of what begins at `at`: an escape, a class in brackets, or a character. */
function atomLength(pattern: string, at: number): number {
  const character = pattern.charAt(at);
  if (character === '[') return classLength(pattern, at);
  return character === '\\' ? (matchAt(BRACED, pattern, at)?.[0].length ?? 2) : 1;
}

/** The atoms of a pattern with its counted repetitions written out, or more. The engine checks the syntax. */
function countAtoms(pattern: string): number {
  const groups = [0];
  let last = 0;
  const add = (atoms: number): void => {
    groups.push((groups.pop() ?? 0) + atoms);
  };
  for (let at = 0; at < pattern.length; ) {
    const character = pattern.charAt(at);
    const [repetition = '', least = '', most = ''] = matchAt(COUNT, pattern, at) ?? [];
    const [quotation = '', quoted = ''] = matchAt(QUOTED, pattern, at) ?? [];
    const [flags = ''] = matchAt(FLAGS, pattern, at) ?? [];
    if (repetition !== '') {
      const times = Math.max(1, Number(least), Number(most));
      add(last * (times - 1));
      last *= times;
      at += repetition.length;
    } else if (quotation !== '') {
      add(quoted.length);
      if (quoted !== '') last = 1;
      at += quotation.length;
    } else if (flags !== '') {
      at += flags.length;
    } else if (character === '(') {
      groups.push(1);
      at += 1;
    } else if (character === ')' && groups.length > 1) {
      last = groups.pop() ?? 0;
      add(last);
      at += 1;
    } else {
      if (!'*+?'.includes(character)) {
        last = 1;
        add(1);
      }
      at += atomLength(pattern, at);
    }
  }
  return groups.reduce((sum, count) => sum + count, 0);
}

const foldsCase = (pattern: string): boolean => /\(\?[a-zA-Z]*i/.test(pattern);

/** Whether folding of case may have to look at ranges of many characters. */
const foldsUnicode = (pattern: string): boolean =>
  foldsCase(pattern) && (/[\u0080-\uffff]/.test(pattern) || /\\[xpP]/.test(pattern));

const unicodeClassesOf = (pattern: string): number => pattern.match(/\\[pP]/g)?.length ?? 0;

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
  if (unicodeClassesOf(pattern) > UNICODE_CLASSES_MAX) {
    throw new PatternError(`The pattern has more than ${UNICODE_CLASSES_MAX} Unicode classes.`);
  }
  if (foldsUnicode(pattern)) throw new PatternError('A pattern with `(?i)` must be in ASCII, without `\\x` and `\\p`.');
  return atoms;
}

/** Steps of measuring and parsing a pattern. */
const readingSteps = (pattern: string): number =>
  pattern.length * (foldsCase(pattern) ? STEPS_PER_FOLDED_CHARACTER : STEPS_PER_CHARACTER) +
  STEPS_PER_UNICODE_CLASS * Math.min(UNICODE_CLASSES_MAX, unicodeClassesOf(pattern));

/** An expression as the engine has parsed it, with its repetitions written out. */
interface ParsedPattern {
  readonly op: number;
  readonly subs: readonly ParsedPattern[];
  /** The characters of a literal; the first and the last of each range of a class. */
  readonly runes: ArrayLike<number>;
}

interface ProgramSize {
  readonly instructions: number;
  readonly ranges: number;
}

/** Throws what is wrong with the text as `PatternError`. */
function parsedBy(engine: RE2Set, text: string): ParsedPattern {
  try {
    return engine.regexps[engine.add(text)];
  } catch (error) {
    throw new PatternError(`The pattern is wrong: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** How the engine marks a class in brackets. */
const CLASS = parsedBy(new RE2Set(), '[ac]').op;

/** The size of the program, before it is built: `instructions` is at least half of what it has. */
function sizeOf(parsed: ParsedPattern): ProgramSize {
  const remaining = [parsed];
  let [instructions, ranges] = [0, 0];
  for (let each = remaining.pop(); each !== undefined; each = remaining.pop()) {
    if (each.op === CLASS) ranges += each.runes.length >>> 1;
    instructions += each.op === CLASS ? 1 : Math.max(1, each.runes.length);
    if (instructions > INSTRUCTIONS_MAX || ranges > RANGES_MAX) {
      throw new PatternError(
        `The pattern is too large: its program has more than ${INSTRUCTIONS_MAX} instructions, or classes of more than ${RANGES_MAX} ranges.`,
      );
    }
    for (const part of each.subs) remaining.push(part);
  }
  return { instructions, ranges };
}

export class Pattern {
  /** A set of one: only a set can do without an automaton. */
  readonly #engine: RE2Set;
  /** At most `PATTERN_ATOMS_MAX`. */
  readonly atoms: number;
  /** The size of the program. */
  readonly instructions: number;

  private constructor(engine: RE2Set, atoms: number) {
    this.#engine = engine;
    this.atoms = atoms;
    this.instructions = engine.prog.numInst();
  }

  /** Throws `PatternError`. Spends the steps that compiling takes, if it is done within an evaluation. */
  static compile(text: string, meter?: StepMeter): Pattern {
    meter?.spend(ENGINE_STEPS + readingSteps(text.slice(0, PATTERN_LENGTH_MAX)));
    const atoms = measure(text);
    const engine = new RE2Set();
    const { instructions, ranges } = sizeOf(parsedBy(engine, text));
    meter?.spend(STEPS_PER_INSTRUCTION * (1 + instructions) + Math.ceil(ranges / RANGES_PER_STEP));
    engine.compile();
    // An automaton is ten times as fast on most texts; but a text that is made for it has it build a state at every
    // character, which is ten times as slow. Without one, no text takes longer than another of its length.
    engine.dfa.failed = true;
    return new Pattern(engine, atoms);
  }

  /** Whether the pattern matches any part of the text. */
  matches(text: string, meter: StepMeter): boolean {
    const atEachCharacter = INSTRUCTIONS_OF_MATCH + this.instructions;
    meter.spend(Math.ceil((atEachCharacter * (1 + text.length)) / INSTRUCTIONS_PER_STEP));
    return this.#engine.match(text).length > 0;
  }
}
