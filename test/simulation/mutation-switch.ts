// Many mutations in one process: each is compiled in beside the code as it is, and a switch says which of them is on.
// A new process would compile the whole cluster for each mutation, which takes ten times as long as the few seeds that
// catch it. It keeps: with the switch off, the code does what it does without the mutations.

import { patchAsLoaded } from './mutate.ts';
import type { Mutation, MutationEdit } from './mutations.ts';

export type SwitchedMutation = Pick<Mutation, 'name' | 'edits'>;

/** The global variable with the name of the mutation that is on. */
const SWITCH = 'grantdSimulatedMutation';
/** Of the methods of a class, and of functions outside of classes. The formatter sees to it. */
const INDENTATIONS = ['  ', ''];

/** The inside of a function, as positions in the text of its file. */
interface Body {
  readonly start: number;
  readonly end: number;
}

/** Of every function or method with the name. */
function bodiesOf(text: string, name: string): Body[] {
  return INDENTATIONS.flatMap((indentation) => {
    const parameters = `(?:.*\\n(?:${indentation}  .*\\n)+${indentation}(?=\\)))?`;
    const opening = `^${indentation}(?:[\\w*]+ )*\\*?#?${name}\\b${parameters}.*\\)(?:: .*)?(?: =>)? \\{\\n`;
    const functions = text.matchAll(new RegExp(`(${opening})(?:(?:${indentation}  .*)?\\n)*${indentation}\\}`, 'gm'));
    return [...functions].map(({ index, 0: whole, 1: head = '' }) => ({
      start: index + head.length,
      end: index + whole.length - indentation.length - 1,
    }));
  });
}

/** The body that an edit changes. Throws where no function, or more than one, holds what is to be replaced. */
function bodyOf(text: string, mutation: string, { file, within, find }: MutationEdit): Body {
  const bodies = bodiesOf(text, within).filter(
    ({ start, end }) => find === undefined || text.slice(start, end).includes(find),
  );
  const [body] = bodies;
  if (body !== undefined && bodies.length === 1) return body;
  const wanted = find === undefined ? '' : ` that holds this: ${find}`;
  throw new Error(
    `The mutation ${mutation} needs one function ${within} in ${file}${wanted}. There are ${bodies.length}.`,
  );
}

/** The text with each of the mutations beside what it changes. */
export function withSwitches(text: string, file: string, mutations: readonly SwitchedMutation[]): string {
  const cases = new Map<number, Body & { readonly mutated: Map<string, string> }>();
  for (const { name, edits } of mutations) {
    for (const edit of edits.filter((each) => each.file === file)) {
      const { start, end } = bodyOf(text, name, edit);
      const { mutated } = cases.getOrInsert(start, { start, end, mutated: new Map() });
      const before = mutated.get(name) ?? text.slice(start, end);
      mutated.set(name, edit.find === undefined ? edit.replace : before.replaceAll(edit.find, () => edit.replace));
    }
  }
  // From the last one, so that the positions of the others hold.
  return [...cases.values()]
    .toSorted((a, b) => b.start - a.start)
    .reduce((switched, { start, end, mutated }) => {
      const branches = [...mutated].map(([name, body]) => `if (globalThis.${SWITCH} === '${name}') {${body}} else `);
      return `${switched.slice(0, start)}${branches.join('')}{${switched.slice(start, end)}}\n${switched.slice(end)}`;
    }, text);
}

/** To be called before the code under test is imported. */
export function loadSwitches(mutations: readonly SwitchedMutation[]): void {
  const files = new Set(mutations.flatMap(({ edits }) => edits.map(({ file }) => file)));
  patchAsLoaded(new Map([...files].map((file) => [file, (text: string) => withSwitches(text, file, mutations)])));
}

/** Undefined: none is on. */
export function switchOn(name: string | undefined): void {
  Reflect.set(globalThis, SWITCH, name);
}
