// Prints rules in the text form, in one layout. Invariant: what is printed reads as the same rules, and a text that is
// brought into the layout keeps its meaning and its comments.

import { RELATIONS } from '../../core/tuples.ts';
import { type Condition, isGate, type RuleElement, type RuleSet, subjectTypeText, textOfName } from '../rule-set.ts';
import { complete, StepSize, type Steps } from '../steps.ts';
import { type CommentLine, expressionIn, type Statement, statementsIn, type Token } from './lexer.ts';
import { mistakenFor } from './reader.ts';
import { isReserved } from './words.ts';

const COLUMNS_MAX = 100;

/** A name as it is written where a word of the language could stand. */
export const nameText = (name: string): string => (isReserved(name) ? `"${name}"` : name);

// ---- layout ----

const isTight = (token: Token, before: Token, inHead: boolean): boolean => {
  if (before.text === '(' || before.text === '#' || before.text === '<') return true;
  if (token.kind !== 'symbol') return false;
  return token.text === '(' ? inHead : token.text !== '=';
};

/** The pieces of a statement between which a line may end. */
function piecesOf(
  tokens: readonly Token[],
  inHead: boolean,
): readonly { readonly text: string; readonly ends: boolean }[] {
  const pieces: { text: string; ends: boolean }[] = [];
  let before: Token | undefined;
  for (const token of tokens) {
    const last = pieces.at(-1);
    const opens =
      token.kind === 'name' &&
      (token.text === 'or' || token.text === 'and' || token.text === 'but') &&
      before?.text !== '(';
    if (token.kind === 'comment') {
      if (last === undefined) pieces.push({ text: token.text.trimEnd(), ends: true });
      else {
        last.text += `  ${token.text.trimEnd()}`;
        last.ends = true;
      }
    } else if (last === undefined || last.ends || opens || before?.text === ',') {
      pieces.push({ text: token.text, ends: false });
    } else {
      last.text += before === undefined || isTight(token, before, inHead) ? token.text : ` ${token.text}`;
    }
    if (token.kind !== 'comment') before = token;
  }
  return pieces;
}

/** On as few lines as there is space for, the first with `indentation`, the others with four columns more. */
function linesOf(tokens: readonly Token[], indentation: number, inHead = false): readonly string[] {
  const lines: string[] = [];
  let line = '';
  let isEnded = false;
  for (const { text, ends } of piecesOf(tokens, inHead)) {
    if (line !== '' && (isEnded || line.length + 1 + text.length > COLUMNS_MAX)) {
      lines.push(line);
      line = '';
    }
    if (line === '') line = `${' '.repeat(lines.length === 0 ? indentation : indentation + 4)}${text}`;
    else line += ` ${text}`;
    isEnded = ends;
  }
  return line === '' ? lines : [...lines, line];
}

function conditionLines(text: string, { tokens, expressionAt, to }: Statement): readonly string[] {
  const head = linesOf(tokens, 0, true);
  if (expressionAt === undefined) return head;
  const raw = text.slice(expressionAt, to);
  const isText = tokens.at(-1)?.text === 'as';
  const lines = expressionIn(raw).written;
  const last = head.at(-1) ?? '';
  const [only = ''] = lines;
  if (lines.length === 1 && (isText || last.length + 1 + only.length <= COLUMNS_MAX))
    return [...head.slice(0, -1), `${last} ${only}`];
  return [...head, ...lines.map((line) => (line === '' ? '' : `  ${line}`))];
}

const commentLines = (comments: readonly CommentLine[], isFirst: boolean): readonly string[] =>
  comments.flatMap(({ text, indented, blankBefore }, index) => [
    ...(blankBefore && !(isFirst && index === 0) ? [''] : []),
    `${indented ? '  ' : ''}${text.trimEnd()}`,
  ]);

/** Of the text, that one step prints or brings into the layout, and the statement with which it ends. */
const STEP_CHARACTERS = 4 * 1024;

function* formatSteps(text: string): Steps<string> {
  const lines: string[] = [];
  let before: Statement['kind'] | undefined;
  const step = new StepSize(STEP_CHARACTERS);
  let laidTo = 0;
  for (const statement of statementsIn(text)) {
    const { comments } = statement;
    const kind = statement.kind === 'end' ? 'unknown' : statement.kind;
    const isBlock = kind === 'namespace' || (kind === 'condition' && before !== 'condition');
    const needsBlank = before !== undefined && (isBlock || (kind === 'list' && before !== 'list'));
    const written = [...commentLines(comments, before === undefined)];
    if (needsBlank && (written[0] ?? 'x') !== '') written.unshift('');
    if (statement.kind === 'end') {
      lines.push(...written);
      break;
    }
    if (statement.blankBefore && (comments.length > 0 || (before !== undefined && !needsBlank))) written.push('');
    if (kind === 'condition') written.push(...conditionLines(text, statement));
    else if (kind === 'unknown') written.push(text.slice(statement.from, statement.to));
    else written.push(...linesOf(statement.tokens, kind === 'definition' ? 2 : 0));
    lines.push(...written);
    before = kind;
    yield* step.add(statement.to - laidTo);
    laidTo = statement.to;
  }
  return `${lines.join('\n')}\n`;
}

/** The text in the one layout, with its comments. What cannot be read stays as it is. */
export const formatSource = (text: string): string => complete(formatSteps(text));

// ---- rules ----

function sequenceText(
  operator: 'any_of' | 'all_of',
  elements: readonly RuleElement[],
  butNot: readonly RuleElement[],
): string {
  const joined = elements.map(operandText).join(operator === 'all_of' ? ' and ' : ' or ');
  // Of one element alone, nothing else would show that all are wanted.
  const lead = operator === 'all_of' && elements.length === 1 ? 'and ' : '';
  return `${lead}${joined}${butNotText(butNot)}`;
}

function operandText(element: RuleElement): string {
  if (!isGate(element)) return textOfName(element, nameText);
  return `(${sequenceText(element.operator, element.elements, element.butNot)})`;
}

function butNotText(butNot: readonly RuleElement[]): string {
  const [first] = butNot;
  if (first === undefined) return '';
  // In the parentheses behind `but not` stand what is taken away, so a union that is one element has two pairs.
  const isUnion = isGate(first) && first.operator === 'any_of' && first.butNot.length === 0;
  if (butNot.length === 1 && !isUnion) return ` but not ${operandText(first)}`;
  return ` but not (${butNot.map(operandText).join(' or ')})`;
}

/** The elements of a rule. */
export function textOfElements(anyOf: readonly RuleElement[]): string {
  const [first] = anyOf;
  if (anyOf.length === 1 && first !== undefined && isGate(first)) {
    const { operator, elements, butNot } = first;
    if (operator === 'all_of' || butNot.length > 0) return sequenceText(operator, elements, butNot);
  }
  return anyOf.map(operandText).join(' or ');
}

/** What stands before its types in a list, so that the names that follow from the types come in the same order. */
function declared(names: readonly string[], implied: readonly string[]): readonly string[] {
  const order = new Map(implied.map((name, index) => [name, index]));
  let start = names.length;
  for (let next = Number.POSITIVE_INFINITY; start > 0; start -= 1) {
    const at = order.get(names[start - 1] ?? '');
    if (at === undefined || at >= next) break;
    next = at;
  }
  return names.slice(0, start);
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

function listLines(ruleSet: RuleSet): readonly string[] {
  const { relations, states, types, groups, public: open } = ruleSet;
  const subjects = types.flatMap((type) => type.subjects);
  const everyone = unique(subjects.filter(({ of }) => of === 'everyone').map(({ namespace }) => namespace));
  const isImplied = (relation: string): boolean =>
    !RELATIONS.some((name) => name === relation) && mistakenFor(relation) === undefined;
  const implied = unique(types.map(({ relation }) => relation)).filter(isImplied);
  const list = (keyword: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [`${keyword}: ${names.map(nameText).join(', ')}`];
  const isGrouped = subjects.some(({ of }) => of === 'group');
  return [
    ...(groups === isGrouped ? [] : [`groups: ${groups ? 'on' : 'off'}`]),
    ...list('public', declared(open, everyone)),
    ...list(
      'private',
      everyone.filter((each) => !open.includes(each)),
    ),
    ...list('states', states),
    ...list('relations', declared(relations, implied)),
  ];
}

/** Comments of what is printed, each a line without its `#`. A name is that of a relation or a rule. */
export interface RulesComments {
  /** By namespace. */
  readonly namespaces: ReadonlyMap<string, readonly string[]>;
  /** By namespace and name, with a blank between them. */
  readonly names: ReadonlyMap<string, readonly string[]>;
  /** By the name of a condition. */
  readonly conditions: ReadonlyMap<string, readonly string[]>;
  /** Behind everything. */
  readonly rest: readonly string[];
}

const NO_COMMENTS: RulesComments = Object.freeze({
  namespaces: new Map(),
  names: new Map(),
  conditions: new Map(),
  rest: Object.freeze([]),
});

const commentsOf = (comments: readonly string[] | undefined): readonly string[] =>
  (comments ?? []).map((comment) => (comment === '' ? '#' : `# ${comment}`));

/**
 * In blocks by namespace, as far as the orders of types and rules allow: a relation, and behind it what it follows
 * from.
 */
class NamespaceBlocks {
  readonly lines: string[] = [];
  readonly #ruleSet: RuleSet;
  readonly #comments: RulesComments;
  readonly #said = new Set<readonly string[]>();
  #type = 0;
  #rule = 0;
  readonly #step = new StepSize(STEP_CHARACTERS);

  constructor(ruleSet: RuleSet, comments: RulesComments) {
    this.#ruleSet = ruleSet;
    this.#comments = comments;
  }

  *print(): Steps<void> {
    const { types, rules } = this.#ruleSet;
    const typesLeft = new Map<string, number>();
    for (const { namespace } of types) typesLeft.set(namespace, (typesLeft.get(namespace) ?? 0) + 1);
    while (this.#type < types.length || this.#rule < rules.length) {
      const [ofType, ofRule] = [types[this.#type]?.namespace, rules[this.#rule]?.namespace];
      // A namespace without types yet to come is printed whole.
      const isRule = ofRule !== undefined && (typesLeft.get(ofRule) ?? 0) === 0;
      const namespace = (isRule ? ofRule : (ofType ?? ofRule)) ?? '';
      this.#comment(this.#comments.namespaces.get(namespace), '');
      this.lines.push(`namespace ${nameText(namespace)}`);
      const from = this.#type;
      yield* this.#block(namespace);
      typesLeft.set(namespace, (typesLeft.get(namespace) ?? 0) - (this.#type - from));
    }
  }

  *#block(namespace: string): Steps<void> {
    const { types } = this.#ruleSet;
    for (let type = types[this.#type]; type?.namespace === namespace; type = types[this.#type]) {
      const { relation, subjects } = type;
      yield* this.#define(
        namespace,
        relation,
        `: ${subjects.length === 0 ? 'nobody' : subjects.map((subject) => subjectTypeText(subject, nameText)).join(', ')}`,
      );
      this.#type += 1;
      yield* this.#rulesOf(namespace, relation);
    }
    yield* this.#rulesOf(namespace, undefined);
  }

  /** The next rules of the namespace, and if it is given, of the name. */
  *#rulesOf(namespace: string, name: string | undefined): Steps<void> {
    const { rules } = this.#ruleSet;
    for (let rule = rules[this.#rule]; rule?.namespace === namespace; rule = rules[this.#rule]) {
      if (name !== undefined && rule.name !== name) return;
      yield* this.#define(namespace, rule.name, ` = ${textOfElements(rule.anyOf)}`);
      this.#rule += 1;
    }
  }

  *#define(namespace: string, name: string, text: string): Steps<void> {
    this.#comment(this.#comments.names.get(`${namespace} ${name}`), '  ');
    this.lines.push(`  ${name}${text}`);
    yield* this.#step.add(name.length + text.length);
  }

  /** Each list once. */
  #comment(comments: readonly string[] | undefined, indentation: string): void {
    if (comments === undefined || this.#said.has(comments)) return;
    this.#said.add(comments);
    this.lines.push(...commentsOf(comments).map((line) => `${indentation}${line}`));
  }
}

/** Whether an expression that stands behind `=` reads as itself. */
function isBare(expression: string): boolean {
  if (expression.split('\n').some((line) => line.trimEnd() !== line || line.includes('\r'))) return false;
  if (/^\s/.test(expression)) return false;
  const read = expressionIn(
    `\n${expression
      .split('\n')
      .map((line) => (line === '' ? '' : `  ${line}`))
      .join('\n')}`,
  );
  return read.text === expression;
}

function conditionText({ name, parameters, expression }: Condition): string {
  const declaration = Object.entries(parameters).map(([parameter, type]) => `${nameText(parameter)}: ${type}`);
  const head = `condition ${nameText(name)}(${declaration.join(', ')})`;
  if (!isBare(expression)) return `${head} as ${JSON.stringify(expression)}`;
  const lines = expression.split('\n');
  if (lines.length === 1) return `${head} = ${expression}`;
  return [`${head} =`, ...lines.map((line) => (line === '' ? '' : `  ${line}`))].join('\n');
}

export function* printSteps(ruleSet: RuleSet, comments = NO_COMMENTS): Steps<string> {
  const lists = listLines(ruleSet);
  const blocks = new NamespaceBlocks(ruleSet, comments);
  yield* blocks.print();
  const conditions: string[] = [];
  const step = new StepSize(STEP_CHARACTERS);
  for (const each of ruleSet.conditions) {
    conditions.push(...commentsOf(comments.conditions.get(each.name)), conditionText(each));
    yield* step.add(each.expression.length);
  }
  const lines = [...lists, ...blocks.lines, ...conditions, ...commentsOf(comments.rest)];
  yield;
  return lines.length === 0 ? '# no rules\n' : yield* formatSteps(lines.join('\n'));
}

/** The rules in the text form, which reads as the same rules. */
export const printRules = (ruleSet: RuleSet, comments = NO_COMMENTS): string => complete(printSteps(ruleSet, comments));

/** The text form of rules: the one that was set, or one that is printed. */
export const sourceOf = (ruleSet: RuleSet): string => ruleSet.source ?? printRules(ruleSet);
