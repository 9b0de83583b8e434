// @ts-check
// What the editor of rules offers at a place of the text: members, names, relations, namespaces, conditions, and the
// words of expressions. It runs in the browser, and in tests.

import { expressionTokens, factsOf, isElement, isExpression, isSubjectType, scanJson } from './rules-language.js';

/** @import { Facts, JsonString } from './rules-language.js' */

/**
 * What the server knows.
 * @typedef {object} Vocabulary
 * @property {readonly string[]} relations The built-in ones.
 * @property {readonly string[]} namespaces The tenant's.
 * @property {readonly string[]} types Of parameters.
 * @property {readonly string[]} functions
 * @property {Readonly<Record<string, readonly string[]>>} methods By name: the types of what they are called on.
 */

/**
 * @typedef {object} Offer
 * @property {string} label
 * @property {string} [detail]
 * @property {string} kind How the list shows it.
 * @property {number} [boost] Which of equally good ones comes first.
 * @property {string} [insert] The text; the label by default. `|`: the place of the cursor; behind the text by default.
 */

/**
 * @typedef {object} Offers
 * @property {number} from Where the word begins that the labels are compared with.
 * @property {number} start What is replaced: `from`, or what stands before it.
 * @property {number} end
 * @property {readonly Offer[]} options
 */

/** By the path of the object, whose indices are `*`: its members, and the value that each begins with. */
const MEMBERS = new Map([
  [
    '',
    {
      relations: '["|"]',
      conditions: '[{"name": "|", "parameters": {}, "expression": ""}]',
      types: '[{"namespace": "|", "relation": "", "subjects": [""]}]',
      rules: '[{"namespace": "|", "name": "", "any_of": [""]}]',
      groups: 'true',
      public: '["|"]',
    },
  ],
  ['relations *', {}],
  ['conditions *', { name: '"|"', parameters: '{|}', expression: '"|"' }],
  ['types *', { namespace: '"|"', relation: '"|"', subjects: '["|"]' }],
  ['rules *', { namespace: '"|"', name: '"|"', any_of: '["|"]' }],
]);
const GATE = { any_of: '["|"]', all_of: '["|"]', but_not: '["|"]' };
const NAME = /[\w.-]*/y;
const MACROS = ['all', 'exists', 'exists_one', 'filter', 'map'];

/** @param {readonly (string | number)[]} path */
const shapeOf = (path) => path.map((each) => (typeof each === 'number' ? '*' : each)).join(' ');

/** @param {readonly (string | number)[]} path */
const membersAt = (path) => (isElement(path) ? GATE : MEMBERS.get(shapeOf(path)));

/**
 * @param {Iterable<string>} labels
 * @param {string} kind
 * @param {Partial<Offer>} [more]
 * @returns {Offer[]}
 */
const offersOf = (labels, kind, more = {}) => Array.from(labels, (label) => ({ label, kind, ...more }));

/** @param {readonly Offer[]} offers */
const once = (offers) => [...new Map(offers.toReversed().map((offer) => [offer.label, offer])).values()].toReversed();

/**
 * The relations that can be granted.
 * @param {Facts} facts
 * @param {Vocabulary} vocabulary
 */
const granted = (facts, vocabulary) => [
  ...offersOf(facts.relations, 'relation', { detail: 'own relation', boost: 1 }),
  ...offersOf(vocabulary.relations, 'relation', { detail: 'relation' }),
];

/**
 * @param {Facts} facts
 * @param {string | undefined} namespace
 */
const derivedIn = (facts, namespace) =>
  offersOf(facts.names.get(namespace) ?? [], 'name', { detail: `of ${namespace}`, boost: 2 });

/** @param {Facts} facts */
const derivedAnywhere = (facts) =>
  [...facts.names.keys()].flatMap((namespace) => derivedIn(facts, namespace).map((each) => ({ ...each, boost: 0 })));

/**
 * Offers for a string up to the cursor: how many characters of it the labels are compared with.
 * @typedef {readonly [options: readonly Offer[], word: string] | undefined} Part
 */

/**
 * @param {string} before
 * @param {Facts} facts
 * @param {Vocabulary} vocabulary
 * @param {string | number | undefined} rule
 * @returns {Part}
 */
function elementPart(before, facts, vocabulary, rule) {
  const [, followed] = /^(?:all of )?[\w.-]+ from ([\w.-]*)$/.exec(before) ?? [];
  if (followed !== undefined) return [once(granted(facts, vocabulary)), followed];
  const [, all, name] = /^(all of )?([\w.-]*)$/.exec(before) ?? [];
  if (name === undefined) {
    const [, word] = /^(?:all of )?[\w.-]+ ([a-z]*)$/.exec(before) ?? [];
    return word === undefined ? undefined : [[{ label: 'from', kind: 'keyword', insert: 'from ' }], word];
  }
  /** @param {readonly Offer[]} offers @returns {readonly Offer[]} */
  const followedBy = (offers) =>
    offers.map((each) => ({ ...each, label: `${each.label} from`, insert: `${each.label} from ` }));
  const everywhere = [...derivedAnywhere(facts), ...granted(facts, vocabulary)];
  if (all !== undefined) return [once(followedBy(everywhere)), name];
  const namespace = facts.namespaceOfRule.get(rule);
  const here = [...derivedIn(facts, namespace), ...granted(facts, vocabulary)];
  const labels = new Set([...here.map(({ label }) => label), facts.nameOfRule.get(rule)]);
  const own = facts.nameOfRule.get(rule);
  const inherited = everywhere.filter(({ label, kind }) => kind === 'name' && (!labels.has(label) || label === own));
  const allOf = { label: 'all of', kind: 'keyword', insert: 'all of ', boost: -1 };
  return [[...once(here.filter(({ label }) => label !== own)), ...once(followedBy(inherited)), allOf], name];
}

/**
 * @param {string} before
 * @param {Facts} facts
 * @param {Vocabulary} vocabulary
 * @returns {Part}
 */
function subjectPart(before, facts, vocabulary) {
  const [, condition] = / with ([\w.-]*)$/.exec(before) ?? [];
  if (condition !== undefined) return [offersOf(facts.conditions, 'condition'), condition];
  const [, word] = /^\S+ ([a-z]*)$/.exec(before) ?? [];
  if (word !== undefined) return [[{ label: 'with', kind: 'keyword', insert: 'with ' }], word];
  const [, namespace, name] = /^([\w.-]+)#([\w.-]*)$/.exec(before) ?? [];
  if (name !== undefined) return [once([...derivedIn(facts, namespace), ...granted(facts, vocabulary)]), name];
  if (!/^[\w.-]*$/.test(before)) return undefined;
  const namespaces = namespacesOf(facts, vocabulary);
  const everyone = namespaces.map(({ label }) => ({
    label: `${label}:*`,
    kind: 'namespace',
    detail: 'every one',
    boost: -1,
  }));
  return [[...namespaces, ...everyone], before];
}

/**
 * @param {Facts} facts
 * @param {Vocabulary} vocabulary
 */
const namespacesOf = (facts, vocabulary) =>
  once([...offersOf(facts.namespaces, 'namespace'), ...offersOf(vocabulary.namespaces, 'namespace')]);

/**
 * @param {string} before The expression up to the cursor, as it is written in JSON.
 * @param {ReadonlyMap<string, string>} parameters
 * @param {Vocabulary} vocabulary
 * @returns {Part}
 */
function expressionPart(before, parameters, vocabulary) {
  const tokens = expressionTokens(before);
  const last = tokens.at(-1);
  const isAtEnd = last !== undefined && last.to === before.length;
  if (isAtEnd && (last.kind === 'number' || last.kind === 'comment')) return undefined;
  if (isAtEnd && last.kind === 'string') return undefined;
  const word = isAtEnd && last.kind === 'word' ? last.text : '';
  const previous = word === '' ? tokens : tokens.slice(0, -1);
  if (previous.at(-1)?.text !== '.') {
    const functions = offersOf([...vocabulary.functions, 'has'], 'function').map((each) => ({
      ...each,
      insert: `${each.label}(|)`,
    }));
    const named = Array.from(parameters, ([label, detail]) => ({ label, kind: 'parameter', detail, boost: 2 }));
    return [[...named, ...functions, ...offersOf(['true', 'false', 'null', 'in'], 'keyword', { boost: -1 })], word];
  }
  // The type of a call or a field is not known here.
  const target = previous.at(-2);
  const type = previous.at(-3)?.text === '.' ? undefined : parameters.get(target?.text ?? '')?.replace(/<.*/, '');
  const fits = (/** @type {readonly string[]} */ types) =>
    type === undefined || type === 'any' || types.includes(type) || types.includes('dyn');
  const macros = MACROS.map((name) => [name, ['list', 'map']]);
  const methods = [...Object.entries(vocabulary.methods), ...macros].flatMap(([name, types]) =>
    fits(/** @type {readonly string[]} */ (types)) ? [String(name)] : [],
  );
  return [offersOf(methods, 'function').map((each) => ({ ...each, insert: `${each.label}(|)` })), word];
}

/**
 * What may stand in a string that is a value.
 * @param {readonly (string | number)[]} path
 * @param {string} before The string up to the cursor.
 * @param {Facts} facts Of the rest of the text.
 * @param {Vocabulary} vocabulary
 * @returns {Part}
 */
function valuePart(path, before, facts, vocabulary) {
  const [, index] = path;
  if (isElement(path)) return elementPart(before, facts, vocabulary, index);
  if (isSubjectType(path)) return subjectPart(before, facts, vocabulary);
  if (isExpression(path)) return expressionPart(before, facts.parameters.get(index) ?? new Map(), vocabulary);
  switch (shapeOf(path)) {
    case 'rules * namespace':
    case 'types * namespace':
    case 'public *':
      return [namespacesOf(facts, vocabulary), before];
    case 'types * relation':
      return [once(granted(facts, vocabulary)), before];
    case 'rules * name': {
      const defined = facts.names.get(facts.namespaceOfRule.get(index));
      const names = once([...derivedAnywhere(facts), ...granted(facts, vocabulary)]);
      return [names.filter(({ label }) => !defined?.has(label)), before];
    }
    default: {
      const isParameter = path.length === 4 && path[0] === 'conditions' && path[2] === 'parameters';
      return isParameter ? [typesOf(vocabulary), before] : undefined;
    }
  }
}

/** @param {Vocabulary} vocabulary */
const typesOf = ({ types }) =>
  offersOf(types, 'type').map((each) => ({ ...each, insert: each.label.replace('<T>', '<string|>') }));

/**
 * @param {readonly (string | number)[]} path Of the object.
 * @param {readonly JsonString[]} strings Of the rest of the text.
 * @returns {readonly Offer[]}
 */
function memberOffers(path, strings) {
  const members = membersAt(path) ?? {};
  const present = new Set(
    strings.flatMap((each) => {
      const { isKey, path: named } = each;
      return isKey && named.length === path.length + 1 && path.every((part, at) => part === named[at])
        ? [String(named.at(-1))]
        : [];
    }),
  );
  return Object.entries(members).flatMap(([label, value]) =>
    present.has(label) ? [] : [{ label, kind: 'member', insert: `"${label}": ${value}` }],
  );
}

/** Objects that may stand in a list, whole. @param {readonly (string | number)[]} path @returns {readonly Offer[]} */
function objectOffers(path) {
  if (isElement(path)) {
    return [
      { label: 'all_of', kind: 'member', detail: 'each of several', insert: '{"all_of": ["|"]}' },
      { label: 'any_of', kind: 'member', detail: 'but not', insert: '{"any_of": ["|"], "but_not": [""]}' },
    ];
  }
  const value = Object.entries(MEMBERS.get('') ?? {}).find(([list]) => `${list} *` === shapeOf(path))?.[1] ?? '';
  return value.startsWith('[{')
    ? [{ label: String(path[0]).replace(/s$/, ''), kind: 'member', insert: value.slice(1, -1) }]
    : [];
}

/**
 * Within a string.
 * @param {string} text
 * @param {number} offset
 * @param {JsonString} string
 * @param {readonly JsonString[]} others
 * @param {Vocabulary} vocabulary
 * @returns {Offers | undefined}
 */
function offersWithin(text, offset, string, others, vocabulary) {
  const before = text.slice(string.from + 1, offset);
  if (string.isKey) {
    const hasValue = /^\s*:/.test(text.slice(string.to, string.to + 100));
    const options = memberOffers(string.path.slice(0, -1), others);
    const named = hasValue ? options.map((each) => ({ ...each, insert: `"${each.label}"` })) : options;
    return { from: string.from + 1, start: string.from, end: string.to, options: named };
  }
  const part = valuePart(string.path, before, factsOf(others), vocabulary);
  if (part === undefined) return undefined;
  const [options, word] = part;
  NAME.lastIndex = offset;
  const end = offset + (NAME.exec(text)?.[0].length ?? 0);
  return { from: offset - word.length, start: offset - word.length, end, options };
}

/**
 * Where a value or a member is missing: the same as in a string, with its quotation marks.
 * @param {string} text
 * @param {number} offset
 * @param {Vocabulary} vocabulary
 * @returns {Offers | undefined}
 */
function offersBetween(text, offset, vocabulary) {
  const [word = ''] = /[\w.-]*$/.exec(text.slice(Math.max(0, offset - 100), offset)) ?? [];
  const start = offset - word.length;
  const { open } = scanJson(text.slice(0, start));
  const { strings } = scanJson(text);
  const container = open.at(-1);
  if (container === undefined) return undefined;
  const path = open.map(({ at }) => at);
  const found = { from: start, start, end: offset };
  if (container.expects === 'key') return { ...found, options: memberOffers(path.slice(0, -1), strings) };
  if (container.expects !== 'value') return undefined;
  if (shapeOf(path) === 'groups') return { ...found, options: offersOf(['true', 'false'], 'keyword') };
  const [options] = valuePart(path, '', factsOf(strings), vocabulary) ?? [[]];
  const quoted = options.map((each) => ({
    ...each,
    insert: `"${each.insert ?? each.label}${each.insert?.includes('|') ? '' : '|'}"`,
  }));
  return {
    ...found,
    options: [...(isExpression(path) ? [] : quoted), ...(container.kind === 'array' ? objectOffers(path) : [])],
  };
}

/**
 * What may stand at an offset of the text; undefined: nothing is known.
 * @param {string} text
 * @param {number} offset
 * @param {Vocabulary} vocabulary
 * @returns {Offers | undefined}
 */
export function complete(text, offset, vocabulary) {
  const { strings } = scanJson(text);
  const isInside = (/** @type {JsonString} */ { from, to, closed }) =>
    from < offset && (closed ? offset < to : offset <= to);
  const string = strings.find(isInside);
  const offers =
    string === undefined
      ? offersBetween(text, offset, vocabulary)
      : offersWithin(
          text,
          offset,
          string,
          strings.filter((each) => each !== string),
          vocabulary,
        );
  return offers === undefined || offers.options.length === 0 ? undefined : offers;
}

/**
 * The change of the text that an offer is, with the place of the cursor after it.
 * @param {Offers} offers
 * @param {Offer} offer
 */
export function changeFor({ start, end }, { label, insert = label }) {
  const at = insert.indexOf('|');
  const text = at < 0 ? insert : insert.slice(0, at) + insert.slice(at + 1);
  return { from: start, to: end, insert: text, cursor: start + (at < 0 ? text.length : at) };
}
