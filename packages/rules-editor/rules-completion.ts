// What the editor of rules offers at a place of the text: names, relations, namespaces and conditions that fit there,
// and the words of the language and of expressions. It runs in the browser, and in tests.

import { LISTS, type Token } from '../../src/rules/text/lexer.ts';
import {
  expressionTokens,
  type Facts,
  factsOf,
  isWord,
  namesIn,
  parametersOf,
  plainName,
  statementsOf,
  wordsOf,
} from './rules-language.ts';

/** What the server knows. */
export interface Vocabulary {
  /** The built-in ones. */
  readonly relations: readonly string[];
  /** The tenant's. */
  readonly namespaces: readonly string[];
  /** Of parameters. */
  readonly types: readonly string[];
  readonly functions: readonly string[];
  /** By name: the types of what they are called on. */
  readonly methods: Readonly<Record<string, readonly string[]>>;
}

export interface Offer {
  readonly label: string;
  readonly detail?: string;
  /** How the list shows it. */
  readonly kind: string;
  /** Which of equally good ones comes first. */
  readonly boost?: number;
  /** The text; the label by default. `|`: the place of the cursor; behind the text by default. */
  readonly insert?: string;
}

export interface Offers {
  /** What is replaced: the word at the cursor. */
  readonly from: number;
  readonly to: number;
  /** Whether they are shown before a letter is typed. */
  readonly eager: boolean;
  readonly options: readonly Offer[];
}

const MACROS = ['all', 'exists', 'exists_one', 'filter', 'map'];

const offersOf = (labels: Iterable<string>, kind: string, more: Partial<Offer> = {}): readonly Offer[] =>
  Array.from(labels, (label) => ({ label, kind, ...more }));

/** Words after which something else must follow. */
const words = (...labels: readonly string[]): readonly Offer[] =>
  labels.map((label) => ({ label, kind: 'keyword', insert: `${label} `, boost: -1 }));

const once = (offers: readonly Offer[]): readonly Offer[] =>
  [...new Map(offers.toReversed().map((offer) => [offer.label, offer])).values()].reverse();

/** What is known at the cursor: the text around it, without the statement in which it stands. */
interface Place {
  readonly facts: Facts;
  readonly vocabulary: Vocabulary;
  /** Of the definitions here. */
  readonly namespace: string | undefined;
}

/** The relations that may be granted here: those of which the namespace says who may be, or any. */
function grantedIn({ facts, vocabulary, namespace = '' }: Place): readonly Offer[] {
  const typed = facts.defined.get(namespace)?.relations;
  const own = offersOf(facts.relations, 'relation', { detail: 'own relation', boost: 1 });
  return typed === undefined || typed.size === 0
    ? once([...own, ...offersOf(vocabulary.relations, 'relation', { detail: 'relation' })])
    : once([...offersOf(typed.keys(), 'relation', { detail: `relation of ${namespace}`, boost: 1 }), ...own]);
}

const namespacesIn = ({ facts, vocabulary }: Place): readonly Offer[] =>
  offersOf(new Set([...facts.namespaces, ...vocabulary.namespaces]), 'namespace');

/** By relation: the namespaces to which it leads from here; empty: nothing is known. */
const leadsIn = ({ facts, namespace = '' }: Place): readonly (readonly [string, string])[] =>
  [...(facts.defined.get(namespace)?.relations ?? [])].flatMap(([relation, targets]) =>
    Array.from(targets, (target) => [relation, target] as const),
  );

/** Names on what a relation of the object leads to. */
function followedIn(place: Place): readonly Offer[] {
  const { facts, namespace = '' } = place;
  const leads = leadsIn(place);
  if (leads.length > 0) {
    return leads.flatMap(([relation, target]) =>
      Array.from(namesIn(facts.defined.get(target)), (name) => ({
        label: `${name} from ${relation}`,
        kind: 'name',
        detail: `of ${target}`,
      })),
    );
  }
  const here = namesIn(facts.defined.get(namespace));
  const elsewhere = [...facts.defined.values()].flatMap((each) => [...namesIn(each)]);
  return elsewhere
    .filter((name) => !here.has(name))
    .map((name) => ({ label: `${name} from`, kind: 'name', insert: `${name} from ` }));
}

/** Behind the `=` of a definition. */
function elementPart(tokens: readonly Token[], place: Place): readonly Offer[] {
  const { facts, namespace = '' } = place;
  const [own, last, previous] = [tokens[0], tokens.at(-1), tokens.at(-2)];
  if (isWord(last, 'but')) return words('not');
  if (isWord(last, 'all')) return words('of');
  if (isWord(last, 'from')) {
    const fitting = leadsIn(place).flatMap(([relation, target]) =>
      namesIn(facts.defined.get(target)).has(plainName(previous)) ? [relation] : [],
    );
    return once([...offersOf(fitting, 'relation', { boost: 2 }), ...grantedIn(place)]);
  }
  if (isWord(last, 'of')) return followedIn(place);
  if (!isWord(last, '=', 'or', 'and', 'not', '(')) {
    const mayFollow = !isWord(last, ')') && !isWord(previous, 'from');
    return words(...(mayFollow ? ['from'] : []), 'or', 'and', 'but not');
  }
  const derived = offersOf(facts.defined.get(namespace)?.derived ?? [], 'name', {
    detail: `name of ${namespace}`,
    boost: 2,
  });
  const here = once([...derived, ...grantedIn(place)]).filter(({ label }) => label !== plainName(own));
  return once([...here, ...followedIn(place), ...words('all of'), { label: 'self', kind: 'keyword', boost: -1 }]);
}

/** Behind the `:` of a definition: who may be granted a relation. */
function subjectPart(tokens: readonly Token[], place: Place): readonly Offer[] {
  const { facts, vocabulary } = place;
  const [last, previous] = [tokens.at(-1), tokens.at(-2)];
  if (isWord(last, 'with')) return offersOf(facts.conditions.keys(), 'condition');
  if (isWord(last, '#')) {
    const names = namesIn(facts.defined.get(plainName(previous)));
    return offersOf(names.size === 0 ? vocabulary.relations : names, 'name');
  }
  if (isWord(last, ':', ',')) {
    const namespaces = namespacesIn(place);
    const everyone = namespaces.map(({ label }) => ({
      label: `${label}:*`,
      kind: 'namespace',
      detail: 'every one',
      boost: -1,
    }));
    return [...namespaces, ...everyone, ...(isWord(last, ':') ? offersOf(['nobody'], 'keyword', { boost: -2 }) : [])];
  }
  return isWord(previous, 'with') ? [] : words('with');
}

/** `before`: the expression up to the word at the cursor. */
function expressionPart(
  before: string,
  parameters: ReadonlyMap<string, string>,
  { vocabulary }: Place,
): readonly Offer[] {
  const tokens = expressionTokens(before);
  const last = tokens.at(-1);
  const isAtEnd = last !== undefined && last.at + last.text.length === before.length;
  const isOpen = last?.kind === 'string' && !/^[bBrR]{0,2}("|').*\1$/s.test(last.text);
  if (isAtEnd && (last.kind === 'number' || last.kind === 'comment' || isOpen)) return [];
  const called = (labels: readonly string[]): readonly Offer[] =>
    labels.map((label) => ({ label, kind: 'function', insert: `${label}(|)` }));
  if (last?.text !== '.') {
    const named = Array.from(parameters, ([label, detail]) => ({ label, kind: 'parameter', detail, boost: 2 }));
    const constants = offersOf(['true', 'false', 'null', 'in'], 'keyword', { boost: -1 });
    return [...named, ...called([...vocabulary.functions, 'has']), ...constants];
  }
  // The type of a call or a field is not known here.
  const type = tokens.at(-3)?.text === '.' ? undefined : parameters.get(tokens.at(-2)?.text ?? '')?.replace(/<.*/, '');
  const fits = (types: readonly string[]): boolean =>
    type === undefined || type === 'any' || types.includes(type) || types.includes('dyn');
  const methods = Object.entries(vocabulary.methods).filter(([, types]) => fits(types));
  return called([...methods.map(([name]) => name), ...(fits(['list', 'map']) ? MACROS : [])]);
}

function listPart(tokens: readonly Token[], place: Place): readonly Offer[] {
  const [list, last] = [tokens[0], tokens.at(-1)];
  if (!isWord(last, ':', ',')) return [];
  if (isWord(list, 'groups')) return offersOf(['on', 'off'], 'keyword');
  return isWord(list, 'public', 'private') ? namespacesIn(place) : [];
}

/** At the beginning of a line. */
function beginnings(place: Place): readonly Offer[] {
  const { facts, vocabulary, namespace } = place;
  const blocks = [
    ...words('namespace'),
    { label: 'condition', kind: 'keyword', insert: 'condition |() = ', boost: -1 },
    ...LISTS.map((label) => ({ label, kind: 'keyword', insert: `${label}: `, boost: -2 })),
  ];
  if (namespace === undefined) return blocks;
  const here = namesIn(facts.defined.get(namespace));
  const others = [...facts.defined.values()];
  const derived = others.flatMap((each) => [...each.derived]);
  const granted = [...others.flatMap((each) => [...each.relations.keys()]), ...vocabulary.relations];
  return once([
    ...derived.map((label) => ({ label, kind: 'name', detail: 'follows from', insert: `${label} = `, boost: 1 })),
    ...granted.map((label) => ({ label, kind: 'relation', detail: 'may be granted', insert: `${label}: ` })),
    ...blocks,
  ]).filter(({ label, kind }) => kind === 'keyword' || !here.has(label));
}

/** In the head of a condition. */
function conditionPart(tokens: readonly Token[], { vocabulary }: Place): readonly Offer[] {
  if (!isWord(tokens.at(-1), ':', '<')) return [];
  return vocabulary.types.map((label) => ({ label, kind: 'type', insert: label.replace('<T>', '<string|>') }));
}

/** Whether a line that is indented further goes on with what ends so. */
const asksForMore = (token: Token | undefined): boolean =>
  isWord(token, '=', ':', ',', '(', 'or', 'and', 'but', 'not', 'from', 'with', 'all', 'of');

interface Part {
  readonly options: readonly Offer[];
  readonly eager: boolean;
}

/** `head`: the text up to the word at the cursor. */
function partAt(head: string, text: string, vocabulary: Vocabulary): Part {
  const none = { options: [], eager: false };
  const before = statementsOf(head);
  const last = before.at(-1);
  const line = head.slice(head.search(/[^\r\n]*$/));
  if (/^\s*#/.test(line)) return none;
  const opening = before.findLast(({ kind }) => kind === 'namespace' || kind === 'condition');
  const namespace = opening?.kind === 'namespace' ? plainName(wordsOf(opening)[1]) : undefined;
  const placeWithout = (from?: number): Place => ({
    facts: factsOf(statementsOf(text).filter((each) => each.from !== from)),
    vocabulary,
    namespace,
  });
  const tokens = last === undefined ? [] : wordsOf(last);
  const isIndented = line.length > 0;
  const goesOn = last?.kind === 'condition' || asksForMore(tokens.at(-1));
  if (last === undefined || (line.trim() === '' && !(isIndented && goesOn))) {
    return { options: beginnings(placeWithout()), eager: false };
  }
  const place = placeWithout(last.from);
  if (last.expressionAt !== undefined && isWord(tokens.at(-1), '=')) {
    const raw = head.slice(last.expressionAt);
    return { options: expressionPart(raw, parametersOf(tokens.slice(2)), place), eager: /\.$/.test(raw) };
  }
  const comment = last.tokens.at(-1);
  if (comment?.kind === 'comment' && !/[\r\n]/.test(head.slice(comment.at))) return none;
  const eager = asksForMore(tokens.at(-1)) || isWord(tokens.at(-1), '#');
  switch (last.kind) {
    case 'definition':
      return { options: isWord(tokens[1], '=') ? elementPart(tokens, place) : subjectPart(tokens, place), eager };
    case 'list':
      return { options: listPart(tokens, place), eager };
    case 'condition':
      return { options: conditionPart(tokens, place), eager };
    case 'namespace':
      return { options: tokens.length === 1 ? namespacesIn(place) : [], eager: true };
    case 'unknown':
      return none;
  }
}

/** What may stand at an offset of the text; undefined: nothing is known. */
export function complete(text: string, offset: number, vocabulary: Vocabulary): Offers | undefined {
  const [word = ''] = /[\w.-]*$/.exec(text.slice(Math.max(0, offset - 100), offset)) ?? [];
  // In an expression, a name ends at a dot.
  for (const typed of new Set([word, word.slice(word.lastIndexOf('.') + 1)])) {
    if (/^\d/.test(typed)) return undefined;
    const from = offset - typed.length;
    const { options, eager } = partAt(text.slice(0, from), text, vocabulary);
    const isCall = options.some(({ kind }) => kind === 'function');
    if (options.length === 0 || (isCall && typed.includes('.'))) continue;
    const [rest = ''] = /^[\w-]*/.exec(text.slice(offset, offset + 100)) ?? [];
    return { from, to: offset + rest.length, eager, options };
  }
  return undefined;
}

/** The change of the text that an offer is, with the place of the cursor after it. */
export function changeFor({ from, to }: Offers, { label, insert = label }: Offer) {
  const at = insert.indexOf('|');
  const text = at < 0 ? insert : insert.slice(0, at) + insert.slice(at + 1);
  return { from, to, insert: text, cursor: from + (at < 0 ? text.length : at) };
}
