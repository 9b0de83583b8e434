// The comments of a model, with what they are about: what follows them, or what stands before them on their line. They
// are kept in the text form of the converted rules.

import type { RulesComments } from '../../../../src/rules/text/printer.ts';
import type { ModelText } from './model-reader.ts';
import type { Place } from './source-model.ts';

/** Something of a model that the rules have, too. */
export interface Definition {
  readonly of: 'namespaces' | 'names' | 'conditions';
  /** As in `RulesComments`. */
  readonly key: string;
  readonly place: Place;
  /** The last line of its expression in CEL, which keeps its comments itself. */
  readonly lastLine?: number;
}

interface Comment {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** Whether something stands before it on its line. */
  readonly isBehind: boolean;
}

const SLASHED = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/[^\n]*|\/\*.*?(?:\*\/|$)/gs;

/** The lines of a comment without what marks it as one. */
const wordsOf = (comment: string): readonly string[] =>
  comment
    .replace(/^\/\/+|^\/\*+|\*+\/$/g, '')
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/^\*+ ?/, '')
        .trim(),
    );

function slashedComments({ file, text }: ModelText): readonly Comment[] {
  let [line, at, lineStart] = [1, 0, 0];
  return Array.from(text.matchAll(SLASHED)).flatMap(({ 0: found, index }) => {
    for (; at < index; at += 1) {
      if (text[at] !== '\n') continue;
      line += 1;
      lineStart = at + 1;
    }
    if (!found.startsWith('/')) return [];
    const isBehind = text.slice(lineStart, index).trim() !== '';
    return wordsOf(found)
      .filter((words, row, all) => words !== '' || (row > 0 && row < all.length - 1))
      .map((words) => ({ file, line, text: words, isBehind }));
  });
}

function hashComments({ file, text }: ModelText): readonly Comment[] {
  return text.split('\n').flatMap((line, index) => {
    const isBehind = !line.trimStart().startsWith('#');
    const at = isBehind ? line.indexOf(' #') : line.indexOf('#');
    if (at < 0) return [];
    const words = line.slice(at).trim().replace(/^#+/, '').trim();
    return isBehind && words === '' ? [] : [{ file, line: index + 1, text: words, isBehind }];
  });
}

const commentsIn = (text: ModelText): readonly Comment[] =>
  text.origin === 'openfga' ? hashComments(text) : slashedComments(text);

/** The comments of all files, by what they are about. `definitions`: those that the rules have. */
export function modelComments(texts: readonly ModelText[], definitions: readonly Definition[]): RulesComments {
  const found = {
    namespaces: new Map<string, string[]>(),
    names: new Map<string, string[]>(),
    conditions: new Map<string, string[]>(),
  };
  const rest: string[] = [];
  for (const source of texts) {
    const own = definitions
      .filter(({ place }) => place.file === source.file)
      .toSorted((left, right) => left.place.line - right.place.line || left.place.column - right.place.column);
    let next = 0;
    for (const { line, text, isBehind } of commentsIn(source)) {
      while (next < own.length && (own[next]?.place.line ?? 0) <= (isBehind ? line : line - 1)) next += 1;
      const before = own[next - 1];
      if (source.origin !== 'openfga' && before?.lastLine !== undefined && line <= before.lastLine) continue;
      const about = isBehind ? before : own[next];
      if (about === undefined) rest.push(text);
      else {
        const list = found[about.of].get(about.key) ?? [];
        found[about.of].set(about.key, [...list, text]);
      }
    }
  }
  return { ...found, rest };
}
