// What the editor knows about the text of rules, be it complete or not: the names that it defines, what its words are,
// and where it folds. Its statements and tokens are those of the language's own lexer. It runs in the browser, and in
// tests. Everything takes time in proportion to the length of the text.

import { type Statement, statementsIn, type Token } from '../../src/rules/text/lexer.ts';
import { isReserved } from '../../src/rules/text/words.ts';

/** Without its quotes. */
export const plainName = (token: Token | undefined): string =>
  token?.kind === 'quoted' ? token.text.slice(1, -1) : (token?.text ?? '');

export const wordsOf = ({ tokens }: Statement): readonly Token[] => tokens.filter(({ kind }) => kind !== 'comment');

/** Whether the token is this word or symbol of the language. */
export const isWord = (token: Token | undefined, ...texts: readonly string[]): boolean =>
  token !== undefined && token.kind !== 'quoted' && texts.includes(token.text);

export const statementsOf = (text: string): readonly Statement[] =>
  [...statementsIn(text)].filter((each) => each.kind !== 'end');

/** What a text says about the objects of a namespace. */
export interface NamespaceFacts {
  /** Who may be granted these: the namespaces of their single subjects. */
  readonly relations: Map<string, Set<string>>;
  /** What follows from others. */
  readonly derived: Set<string>;
}

export interface Facts {
  /** Relations of its own that anybody may be granted, and states. */
  readonly relations: Set<string>;
  /** That it mentions. */
  readonly namespaces: Set<string>;
  readonly defined: Map<string, NamespaceFacts>;
  /** By name: the type of each parameter. */
  readonly conditions: Map<string, ReadonlyMap<string, string>>;
}

export const namesIn = (facts: NamespaceFacts | undefined): ReadonlySet<string> =>
  new Set([...(facts?.derived ?? []), ...(facts?.relations.keys() ?? [])]);

/** Of the words of a condition, up to where they end. */
export function parametersOf(words: readonly Token[]): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  let name = '';
  for (const [index, token] of words.entries()) {
    if (isWord(words[index + 1], ':')) name = plainName(token);
    else if (isWord(token, ')')) break;
    else if (name !== '' && !isWord(token, ':', ',')) parameters.set(name, (parameters.get(name) ?? '') + token.text);
  }
  return parameters;
}

function definedIn({ defined }: Facts, namespace: string): NamespaceFacts {
  const known = defined.get(namespace) ?? { relations: new Map(), derived: new Set() };
  defined.set(namespace, known);
  return known;
}

function readDefinition(facts: Facts, namespace: string, [name, sign, ...rest]: readonly Token[]): void {
  const known = definedIn(facts, namespace);
  if (isWord(sign, '=')) {
    known.derived.add(plainName(name));
    return;
  }
  const singles = known.relations.get(plainName(name)) ?? new Set();
  known.relations.set(plainName(name), singles);
  for (const [index, subject] of rest.entries()) {
    const begins = index === 0 || isWord(rest[index - 1], ',');
    if (!begins || isWord(subject, 'nobody')) continue;
    facts.namespaces.add(plainName(subject));
    if (!isWord(rest[index + 1], '#', ':*')) singles.add(plainName(subject));
  }
}

export function factsOf(statements: readonly Statement[]): Facts {
  const facts: Facts = { relations: new Set(), namespaces: new Set(), defined: new Map(), conditions: new Map() };
  let namespace: string | undefined;
  for (const statement of statements) {
    const words = wordsOf(statement);
    const [first, second] = words;
    if (statement.kind === 'namespace' || statement.kind === 'condition') namespace = undefined;
    if (statement.kind === 'namespace' && second !== undefined) {
      namespace = plainName(second);
      facts.namespaces.add(namespace);
      definedIn(facts, namespace);
    } else if (statement.kind === 'condition' && second !== undefined) {
      facts.conditions.set(plainName(second), parametersOf(words.slice(2)));
    } else if (statement.kind === 'list') {
      const listed = words.slice(2).filter(({ text }) => text !== ',');
      const names = isWord(first, 'relations', 'states') ? facts.relations : facts.namespaces;
      if (!isWord(first, 'groups')) for (const each of listed) names.add(plainName(each));
    } else if (statement.kind === 'definition' && namespace !== undefined) readDefinition(facts, namespace, words);
  }
  return facts;
}

/** Where a namespace folds: from the end of its first line to the end of its last. */
export function foldsOf(text: string, statements: readonly Statement[]): ReadonlyMap<number, number> {
  const folds = new Map<number, number>();
  let start: number | undefined;
  for (const { kind, from, to } of statements) {
    if (kind === 'namespace') start = text.slice(from).search(/\r|\n|$/) + from;
    else if (kind === 'condition' || kind === 'list') start = undefined;
    else if (start !== undefined) folds.set(start, to);
  }
  return folds;
}

// ---- expressions ----

export interface ExpressionToken {
  readonly kind: 'string' | 'number' | 'word' | 'comment' | 'operator';
  readonly text: string;
  /** Offset into the expression. */
  readonly at: number;
}

const quotedBy = (mark: string): string =>
  String.raw`${mark}{3}[\s\S]*?(?:${mark}{3}|$)|${mark}(?:\\.|[^${mark}\\\n])*(?:${mark}|$|(?=\n))`;
const TOKENS: readonly (readonly [ExpressionToken['kind'] | 'space', RegExp])[] = [
  ['space', /\s+/y],
  ['comment', /(?:\/\/|#).*/y],
  ['string', new RegExp(`[bBrR]{0,2}(?:${quotedBy('"')}|${quotedBy("'")})`, 'y')],
  ['number', /0x[0-9a-fA-F]+u?|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?u?/y],
  ['word', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['operator', /&&|\|\||[=!<>]=|./suy],
];

export function expressionTokens(expression: string): readonly ExpressionToken[] {
  const tokens: ExpressionToken[] = [];
  for (let at = 0; at < expression.length; ) {
    let length = 1;
    for (const [kind, pattern] of TOKENS) {
      pattern.lastIndex = at;
      const text = pattern.exec(expression)?.[0];
      if (text === undefined) continue;
      length = text.length;
      if (kind !== 'space') tokens.push({ kind, text, at });
      break;
    }
    at += length;
  }
  return tokens;
}

const CONSTANT = /^(?:true|false|null|in)$/;

// ---- colours ----

export interface Mark {
  readonly from: number;
  readonly to: number;
  /** The class of CSS is `tok-` and this. */
  readonly of: string;
}

const markOf = ({ at, text }: { readonly at: number; readonly text: string }, of: string, from = 0): Mark => ({
  from: from + at,
  to: from + at + text.length,
  of,
});

function expressionMarks(expression: string, from: number, parameters: ReadonlyMap<string, string>): readonly Mark[] {
  const tokens = expressionTokens(expression);
  return tokens.map((token, index) => {
    const { kind, text } = token;
    const isFree = tokens[index - 1]?.text !== '.';
    if (kind !== 'word') return markOf(token, kind, from);
    if (CONSTANT.test(text)) return markOf(token, 'keyword', from);
    if (tokens[index + 1]?.text === '(') return markOf(token, 'function', from);
    return markOf(token, isFree && parameters.has(text) ? 'parameter' : 'name', from);
  });
}

/** What a word of a statement is. */
function kindOfWord({ kind }: Statement, words: readonly Token[], index: number): string {
  const [word, before, after] = [words[index], words[index - 1], words[index + 1]];
  if (word?.kind === 'symbol') return 'operator';
  if (kind === 'unknown') return word?.kind === 'quoted' ? 'string' : 'name';
  if (index === 0) return kind === 'definition' ? 'definition' : 'keyword';
  if (kind === 'condition') {
    if (index === 1) return 'definition';
    return isWord(after, ':') ? 'parameter' : isWord(word, 'as') ? 'keyword' : 'type';
  }
  if (kind === 'definition' && word?.kind === 'name' && (isReserved(word.text) || word.text === 'self'))
    return 'keyword';
  const isSubject = kind === 'definition' && isWord(words[1], ':') && isWord(before, ':', ',');
  return kind === 'namespace' || isSubject ? 'type' : 'name';
}

/** In the order of the text; they do not overlap. */
export function marksOf(text: string, statements: readonly Statement[]): readonly Mark[] {
  const marks: Mark[] = [];
  let end = 0;
  const comments = (to: number): void => {
    for (const match of text.slice(end, to).matchAll(/#[^\r\n]*/g)) {
      marks.push(markOf({ at: match.index, text: match[0] }, 'comment', end));
    }
  };
  for (const statement of statements) {
    const { from, to, tokens, expressionAt } = statement;
    comments(from);
    const words = wordsOf(statement);
    let index = 0;
    for (const token of tokens) {
      if (token.kind === 'comment') marks.push(markOf(token, 'comment'));
      else marks.push(markOf(token, kindOfWord(statement, words, index++)));
    }
    if (expressionAt !== undefined) {
      marks.push(...expressionMarks(text.slice(expressionAt, to), expressionAt, parametersOf(words.slice(2))));
    }
    end = to;
  }
  comments(text.length);
  return marks;
}
