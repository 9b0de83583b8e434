// Reads the text form of rules: into the JSON form, which has the one parser that says what rules may be
// (parse-rule-set.ts), and the place in the text of each of its values. What is wrong with the words is said here, with
// the right form beside it.

import { nearestName } from '../../core/json-members.ts';
import { isNamespaceName, isRelation, RELATIONS } from '../../core/tuples.ts';
import { NAME_FORM } from '../parse-rule-set.ts';
import type { ElementRecord } from '../rule-set.ts';
import { StepSize, type Steps } from '../steps.ts';
import { ElementReader, isPlainUnion, type Node } from './element-reader.ts';
import { statementHint, tokenHint } from './hints.ts';
import {
  expressionIn,
  isListName,
  LISTS,
  type ListName,
  STATEMENT_LENGTH_MAX,
  type Statement,
  statementsIn,
  type Token,
} from './lexer.ts';
import { Misfit, type Range, shown, TokenCursor } from './token-cursor.ts';

export interface SourceProblem extends Range {
  readonly message: string;
}

export interface RulesSource {
  /** What the JSON form of the rules would be. */
  readonly body: object;
  /** By path in the JSON form, such as `rules[3].any_of[0]`. */
  readonly places: ReadonlyMap<string, Range>;
  /** By index of a condition: where the lines of its expression begin; undefined: it is a JSON string. */
  readonly expressionLines: readonly (readonly number[] | undefined)[];
  /** With the bound of them, the rest of the text was not read. */
  readonly problems: readonly SourceProblem[];
}

/** Problems that one message names. */
export const PROBLEMS_MAX = 20;

/** Characters that are read in one step. */
const STEP_CHARACTERS = 4 * 1024;

/** Whether one looks like a typing error of the other: one letter more, less or other, or letters in another order. */
function looksLike(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > 1) return false;
  if (left.length === right.length && [...left].sort().join('') === [...right].sort().join('')) return true;
  const [shorter, longer] = left.length < right.length ? [left, right] : [right, left];
  let [start, end] = [0, 0];
  while (start < shorter.length && shorter[start] === longer[start]) start += 1;
  while (end < shorter.length - start && shorter.at(-1 - end) === longer.at(-1 - end)) end += 1;
  return longer.length - start - end <= 1;
}

/** What the name of an own relation looks like: the relation is meant only if `relations` lists it. */
export function mistakenFor(name: string): string | undefined {
  if (isRelation(name)) return undefined;
  if (isListName(name)) return `the list \`${name}:\`, which stands above the first namespace`;
  const builtIn = RELATIONS.find((relation) => looksLike(name.toLowerCase(), relation));
  return builtIn === undefined ? undefined : `the built-in relation "${builtIn}"`;
}

const quotedName = (token: Token | undefined): string =>
  token?.kind === 'quoted' ? token.text.slice(1, -1) : (token?.text ?? '');

/** What people write between names, in this language and in others. */
const OPERATORS: ReadonlySet<string> = new Set(['or', 'and', 'but', 'not', 'from', '|', '||', '+', '&', '&&', '-']);

/** `next`: behind the elements of `name`, where none can go on. */
function misfitBehind(next: Token, { last, after }: TokenCursor, name: string): Misfit {
  const [, followed, quantifier] = /^(.+)\.(all|any)$/.exec(last?.text ?? '') ?? [];
  if (next.text === '(' && followed !== undefined) {
    const right = `${quantifier === 'all' ? 'all of ' : ''}${after?.text ?? 'viewer'} from ${followed}`;
    return new Misfit(`no name is followed by parentheses: write \`${right}\``, next, true);
  }
  if (next.text === ')') return new Misfit('no parenthesis is open here', next, true);
  const missing = '`or`, `and` or `but not` is missing between elements';
  if (![',', '#', ':*'].includes(next.text)) return new Misfit(missing, next);
  return new Misfit(`${missing}; who may be granted it stands behind a colon: \`${name}: user, team#member\``, next);
}

class Reader {
  readonly #text: string;
  readonly places = new Map<string, Range>();
  readonly problems: SourceProblem[] = [];
  readonly expressionLines: (readonly number[] | undefined)[] = [];
  readonly #lists: Record<ListName, string[]> = { groups: [], public: [], private: [], states: [], relations: [] };
  readonly #listPlaces = new Map<string, Range>();
  readonly #conditions: object[] = [];
  readonly #types: { namespace: string; relation: string; subjects: readonly string[] }[] = [];
  readonly #rules: object[] = [];
  #namespace: string | undefined;
  #groups: boolean | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  wrong(message: string, { offset, length }: Range): void {
    this.problems.push({ message, offset, length });
  }

  read(statement: Statement): void {
    const { from, to } = statement;
    try {
      this.#statement(statement, new TokenCursor(statement.tokens, to));
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      const { token, message, isSpecific } = error;
      const place = { offset: token?.at ?? to, length: token?.text.length ?? 1 };
      const hint = statement.kind === 'unknown' && !isSpecific ? statementHint(this.#text.slice(from, to)) : undefined;
      const instead = token === undefined || isSpecific ? undefined : tokenHint(token);
      const at = token === undefined ? 'At the end of the line' : `At ${shown(token.text)}`;
      if (hint !== undefined) this.wrong(`${shown(token?.text ?? '')} begins no line here: ${hint}.`, place);
      else if (instead !== undefined)
        this.wrong(`${shown(token?.text ?? '')} means nothing here: write ${instead}.`, place);
      else this.wrong(`${at}, ${message}.`, place);
    }
  }

  #statement({ kind, from, to, expressionAt }: Statement, cursor: TokenCursor): void {
    switch (kind) {
      case 'namespace':
        cursor.take();
        // Even if it is wrong: what stands beneath it is not in no namespace.
        this.#namespace = quotedName(cursor.next);
        this.#namespace = cursor.name('the name of a namespace');
        if (!isNamespaceName(this.#namespace)) throw new Misfit(`a namespace must be ${NAME_FORM}`, cursor.last);
        cursor.demandEnd('nothing may follow the name of a namespace');
        return;
      case 'list':
        this.#list(cursor);
        return;
      case 'condition':
        this.#condition(cursor, expressionAt, to);
        return;
      case 'definition':
        this.#definition(cursor, { offset: from, length: to - from });
        return;
      case 'unknown': {
        if (to - from > STATEMENT_LENGTH_MAX) {
          const why = `this goes on for ${to - from} characters; at most ${STATEMENT_LENGTH_MAX} are allowed`;
          throw new Misfit(why, cursor.next, true);
        }
        const name = cursor.next?.kind === 'name' ? cursor.next.text : 'NAME';
        const near = nearestName(name, ['namespace', 'condition', ...LISTS]);
        const meant = near === undefined || near === name ? '' : `, such as \`${near}\``;
        throw new Misfit(
          `nothing begins that rules have${meant}: a line begins with \`namespace NAME\`, \`condition NAME(…)\`, \`RELATION:\`, \`NAME =\`, or a list of ${LISTS.join(', ')}`,
          cursor.next,
        );
      }
    }
  }

  #list(cursor: TokenCursor): void {
    const keyword = cursor.take()?.text ?? '';
    if (!isListName(keyword)) return;
    cursor.demand(':', `a colon is missing: \`${keyword}: ${keyword === 'groups' ? 'on' : '…'}\``);
    if (keyword === 'groups') {
      const value = cursor.name('`on` or `off`');
      if (value !== 'on' && value !== 'off') throw new Misfit('`groups` is `on` or `off`', cursor.last);
      if (this.#groups !== undefined) throw new Misfit('`groups` is said above already', cursor.last);
      this.#groups = value === 'on';
      cursor.demandEnd('nothing may follow here');
      return;
    }
    do {
      const { offset } = cursor;
      const names = this.#lists[keyword];
      this.#listPlaces.set(`${keyword}[${names.length}]`, cursor.rangeFrom(offset));
      names.push(cursor.name('a name'));
      this.#listPlaces.set(`${keyword}[${names.length - 1}]`, cursor.rangeFrom(offset));
    } while (cursor.pass(','));
    cursor.demandEnd('a comma is missing');
  }

  #condition(cursor: TokenCursor, expressionAt: number | undefined, end: number): void {
    const path = `conditions[${this.#conditions.length}]`;
    const { offset } = cursor;
    cursor.take();
    this.#namespace = undefined;
    const nameAt = cursor.offset;
    const name = cursor.name('the name of the condition');
    this.places.set(`${path}.name`, cursor.rangeFrom(nameAt));
    cursor.demand('(', `its parameters are missing: \`condition ${name}(amount: int) = amount <= 10\``);
    const parameters = this.#parameters(cursor, path);
    if (cursor.next?.text === '{') {
      throw new Misfit(
        `the expression stands behind \`=\`, without braces: \`condition ${name}(…) = …\``,
        cursor.next,
        true,
      );
    }
    const isText = cursor.pass('as');
    if (!isText) cursor.demand('=', '`=` and an expression are missing');
    const at = expressionAt ?? end;
    const raw = this.#text.slice(at, end);
    let expression: string;
    const { text, lineStarts } = expressionIn(raw);
    if (isText) {
      expression = this.#jsonText(text, at + raw.search(/\S|$/));
      this.expressionLines.push(undefined);
    } else {
      expression = text;
      this.expressionLines.push(lineStarts.map((start) => at + start));
    }
    const start = at + raw.search(/\S|$/);
    this.places.set(`${path}.expression`, { offset: start, length: Math.max(1, end - start) });
    this.places.set(path, cursor.rangeFrom(offset));
    this.#conditions.push({ name, parameters, expression });
  }

  #jsonText(raw: string, at: number): string {
    try {
      const value: unknown = JSON.parse(raw);
      if (typeof value === 'string') return value;
    } catch {
      // Said below.
    }
    throw new Misfit('behind `as` stands a JSON string', { kind: 'other', text: raw.slice(0, 64), at });
  }

  #parameters(cursor: TokenCursor, path: string): Readonly<Record<string, string>> {
    const parameters: [string, string][] = [];
    const known = new Set<string>();
    while (cursor.next?.text !== ')') {
      const { offset } = cursor;
      const name = quotedName(cursor.take());
      const place = cursor.rangeFrom(offset);
      cursor.demand(':', `a parameter has a type: \`${name.slice(0, 64)}: int\``);
      let type = '';
      while (cursor.next !== undefined && cursor.next.text !== ',' && cursor.next.text !== ')') {
        type += cursor.take()?.text ?? '';
      }
      if (known.has(name)) throw new Misfit(`the parameter "${name}" is given twice`, cursor.last);
      known.add(name);
      this.places.set(`${path}.parameters.${name}`, place);
      parameters.push([name, type]);
      if (!cursor.pass(',')) break;
    }
    cursor.demand(')', 'a closing parenthesis is missing behind the parameters');
    return Object.fromEntries(parameters);
  }

  #definition(cursor: TokenCursor, whole: Range): void {
    const { offset } = cursor;
    const name = quotedName(cursor.take());
    const place = cursor.rangeFrom(offset);
    const namespace = this.#namespace;
    if (namespace === undefined) {
      const near = nearestName(name, LISTS);
      const meant = name === 'rules' ? ' Is this YAML?' : near === undefined ? '' : ` Did you mean \`${near}:\`?`;
      this.wrong(`${shown(name)} stands in no namespace: put it beneath \`namespace NAME\`.${meant}`, place);
      return;
    }
    if (cursor.pass(':')) {
      const path = `types[${this.#types.length}]`;
      this.places.set(path, whole);
      this.places.set(`${path}.relation`, place);
      this.#types.push({ namespace, relation: name, subjects: this.#subjects(cursor, path) });
      return;
    }
    cursor.take();
    const path = `rules[${this.#rules.length}]`;
    this.places.set(path, whole);
    this.places.set(`${path}.name`, place);
    if (cursor.next === undefined) throw new Misfit(`what \`${name}\` follows from is missing`, undefined);
    const gate = new ElementReader(cursor, this.#text).gate(0);
    if (cursor.next !== undefined) throw misfitBehind(cursor.next, cursor, name);
    const elements = isPlainUnion(gate) ? gate.elements : [gate];
    const anyOf = this.#records(elements, `${path}.any_of`);
    this.places.set(`${path}.any_of`, gate);
    this.#rules.push({ namespace, name, any_of: anyOf });
  }

  #records(nodes: readonly Node[], path: string): readonly ElementRecord[] {
    return nodes.map((node, at) => this.#record(node, `${path}[${at}]`));
  }

  #record(node: Node, path: string): ElementRecord {
    this.places.set(path, node);
    if (node.kind === 'name') return node.text;
    const { operator, elements, butNot } = node;
    return {
      [operator]: this.#records(elements, `${path}.${operator}`),
      ...(butNot.length === 0 ? {} : { but_not: this.#records(butNot, `${path}.but_not`) }),
    };
  }

  #subjects(cursor: TokenCursor, path: string): readonly string[] {
    if (cursor.next === undefined) {
      throw new Misfit('who may be granted it is missing: `user, team#member`, or `nobody`', undefined);
    }
    if (cursor.pass('nobody')) {
      cursor.demandEnd('nothing may follow `nobody`');
      return [];
    }
    const subjects: string[] = [];
    do {
      const { offset } = cursor;
      const subject = this.#subject(cursor);
      this.places.set(`${path}.subjects[${subjects.length}]`, cursor.rangeFrom(offset));
      subjects.push(subject);
    } while (cursor.pass(','));
    const { next } = cursor;
    if (next !== undefined && OPERATORS.has(next.text)) {
      throw new Misfit(
        'a comma stands between those who may be granted it; what follows from other names stands behind `=`',
        next,
        true,
      );
    }
    cursor.demandEnd('a comma, or `with` and a condition, is missing');
    return subjects;
  }

  #subject(cursor: TokenCursor): string {
    if (cursor.next?.text === '[')
      throw new Misfit('those who may be granted it stand without brackets', cursor.next, true);
    const namespace = cursor.name('a namespace');
    const everyone = cursor.pass(':*') ? ':*' : '';
    if (cursor.next?.text === ':') {
      throw new Misfit(
        `one subject is named; the list has kinds of them: \`${namespace}\` or \`${namespace}:*\``,
        cursor.next,
      );
    }
    const group = everyone === '' && cursor.pass('#') ? `#${cursor.name('the name of a group behind `#`')}` : '';
    const condition = cursor.pass('with') ? ` with ${cursor.name('the name of a condition behind `with`')}` : '';
    return `${namespace}${everyone}${group}${condition}`;
  }

  // ---- what follows from the types ----

  /** Own relations, public namespaces and groups that the types name need no declaration. */
  get body(): object {
    const subjects = this.#types.flatMap((type) => type.subjects.map((each) => each.split(' with ')[0] ?? ''));
    const { public: open, private: hidden, states, relations } = this.#lists;
    const everyone = subjects.filter((each) => each.endsWith(':*')).map((each) => each.slice(0, -2));
    for (const [index, name] of hidden.entries()) {
      if (everyone.includes(name)) continue;
      const place = this.#listPlaces.get(`private[${index}]`) ?? { offset: 0, length: 1 };
      this.wrong(`"${name}" is private already: no relation may be granted to \`${name}:*\`.`, place);
    }
    const implied = everyone.filter((each) => !hidden.includes(each));
    this.#publish('public', open);
    this.#publish('states', states);
    return {
      relations: this.#relations(relations, states),
      ...(states.length === 0 ? {} : { states }),
      conditions: this.#conditions,
      types: this.#types,
      rules: this.#rules,
      groups: this.#groups ?? subjects.some((each) => each.includes('#')),
      public: [...new Set([...open, ...implied])],
    };
  }

  #publish(list: ListName, names: readonly string[]): void {
    for (const index of names.keys()) {
      const place = this.#listPlaces.get(`${list}[${index}]`);
      if (place !== undefined) this.places.set(`${list}[${index}]`, place);
    }
  }

  #relations(declared: readonly string[], states: readonly string[]): readonly string[] {
    this.#publish('relations', declared);
    const known = new Set([...declared, ...states]);
    const all = [...declared];
    for (const [index, { relation }] of this.#types.entries()) {
      if (isRelation(relation) || known.has(relation)) continue;
      known.add(relation);
      const place = this.places.get(`types[${index}].relation`) ?? { offset: 0, length: 1 };
      const meant = mistakenFor(relation);
      if (meant !== undefined) {
        this.wrong(
          `${shown(relation)} looks like ${meant}. Did you mean that? For a relation of its own, write \`relations: ${relation}\` above.`,
          place,
        );
      }
      this.places.set(`relations[${all.length}]`, place);
      all.push(relation);
    }
    return all;
  }
}

/** In steps of a few milliseconds. */
export function* readSource(text: string): Steps<RulesSource> {
  const reader = new Reader(text);
  if (text.trim() === '')
    reader.wrong('The text is empty. For no rules at all, write a comment: `# none`.', { offset: 0, length: 1 });
  const step = new StepSize(STEP_CHARACTERS);
  let readTo = 0;
  for (const statement of statementsIn(text)) {
    if (statement.kind === 'end') break;
    reader.read(statement);
    if (reader.problems.length >= PROBLEMS_MAX) break;
    yield* step.add(statement.to - readTo);
    readTo = statement.to;
  }
  const { body, places, expressionLines, problems } = reader;
  return { body, places, expressionLines, problems };
}
