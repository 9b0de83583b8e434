// Many mutations in one process: each is compiled in beside the code as it is, and a switch says which of them is on.
// A new process would compile the whole cluster for each mutation, which takes ten times as long as the few seeds that
// catch it. It keeps: with the switch off, the code does what it does without the mutations.

import { applyEdit, patchAsLoaded } from './mutate.ts';
import type { Edit, Mutation } from './mutations.ts';

/** The global variable with the name of the mutation that is on. */
const SWITCH = 'grantdSimulatedMutation';
/** Of the methods of a class, and of functions outside of classes. The formatter sees to it. */
const INDENTATIONS = ['  ', ''];
const OPENS_BODY = /\)(?:: .*)?(?: =>)? \{$/;
const OPENS_OTHER = /^(?:\}|if|for|while|switch|try|do|class|interface|(?:export|abstract) .*\b(?:class|interface)\b)/;

/** The inside of a function, as positions in the text of its file. */
interface Body {
  readonly start: number;
  readonly end: number;
}

interface Line {
  readonly text: string;
  readonly start: number;
}

function linesOf(text: string): Line[] {
  let start = 0;
  return text.split('\n').map((each) => {
    const line = { text: each, start };
    start += each.length + 1;
    return line;
  });
}

const isAt = (indentation: string, text: string): boolean =>
  text.startsWith(indentation) && text.length > indentation.length && text[indentation.length] !== ' ';

/** The body of the function around an edit; undefined: it is in none, but in a constant, for example. */
function bodyAround(lines: readonly Line[], start: number, end: number): Body | undefined {
  const first = lines.findLastIndex((line) => line.start <= start);
  for (const indentation of INDENTATIONS) {
    const opening = lines.findLastIndex(({ text }, index) => index <= first && isAt(indentation, text));
    const closing = lines.findIndex(({ text }, index) => index > opening && isAt(indentation, text));
    const [header, last] = [lines[opening], lines[closing]];
    if (header === undefined || last === undefined || last.start <= end) continue;
    if (!last.text.startsWith(`${indentation}}`) || !OPENS_BODY.test(header.text)) continue;
    // Where it begins with the end of its parameters, what it is stands on the line where they begin.
    const begins = header.text.startsWith(`${indentation})`)
      ? lines.findLast(({ text }, index) => index < opening && isAt(indentation, text))
      : header;
    if (begins === undefined || OPENS_OTHER.test(begins.text.trimStart())) continue;
    return { start: header.start + header.text.length, end: last.start };
  }
  return undefined;
}

/** By the start of each body that a mutation changes: the body, and what it becomes. Throws if it changes more. */
function bodiesOf(text: string, edits: readonly Edit[]): Map<number, Body & { mutated: string }> {
  const lines = linesOf(text);
  const bodies = new Map<number, Body & { mutated: string }>();
  for (const edit of edits) {
    const at = text.indexOf(edit.find);
    const body = bodyAround(lines, at, at + edit.find.length);
    // An edit may begin in the line that opens the body, which it leaves as it is.
    const inside = Math.max(0, (body?.start ?? at) - at);
    if (body === undefined || edit.find.slice(0, inside) !== edit.replace.slice(0, inside)) {
      throw new Error(`In ${edit.file}, this is not within the body of a function: ${edit.find}`);
    }
    const within = { file: edit.file, find: edit.find.slice(inside), replace: edit.replace.slice(inside) };
    const before = bodies.get(body.start)?.mutated ?? text.slice(body.start, body.end);
    bodies.set(body.start, { ...body, mutated: applyEdit(before, within) });
  }
  return bodies;
}

/** The text with each of the mutations beside what it changes. Throws if one changes more than what functions do. */
export function withSwitches(text: string, file: string, mutations: readonly Mutation[]): string {
  const bodies = mutations.flatMap(({ name, edits }) => {
    const changed = bodiesOf(
      text,
      edits.filter((edit) => edit.file === file),
    );
    return [...changed.values()].map((body) => ({ ...body, name }));
  });
  let switched = text;
  for (const [start, some] of [...Map.groupBy(bodies, (body) => body.start)].toSorted(([a], [b]) => b - a)) {
    const cases = some
      .map(({ name, mutated }) => `if (globalThis.${SWITCH} === '${name}') {${mutated}} else `)
      .join('');
    const end = some[0]?.end ?? start;
    switched = `${switched.slice(0, start)}${cases}{${switched.slice(start, end)}}\n${switched.slice(end)}`;
  }
  return switched;
}

/** To be called before the code under test is imported. */
export function loadSwitches(mutations: readonly Mutation[]): void {
  const files = new Set(mutations.flatMap(({ edits }) => edits.map(({ file }) => file)));
  patchAsLoaded(new Map([...files].map((file) => [file, (text: string) => withSwitches(text, file, mutations)])));
}

/** Undefined: none is on. */
export function switchOn(name: string | undefined): void {
  Reflect.set(globalThis, SWITCH, name);
}
