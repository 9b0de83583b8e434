// @ts-check
// What the editor knows about the text of rules, be it complete or not: its strings with their paths, the names that it
// defines, and the words of its elements and expressions. It runs in the browser, and in tests.

/**
 * A string of the text. Offsets are in UTF-16 units; `from` is that of the first quotation mark.
 * @typedef {object} JsonString
 * @property {number} from
 * @property {number} to
 * @property {string} text Between the quotation marks, as it is written.
 * @property {boolean} closed Whether it has its second quotation mark.
 * @property {boolean} isKey
 * @property {readonly (string | number)[]} path Of the value; of a key, that of the value that it names.
 */

/**
 * An object or an array that is open at the end of a text.
 * @typedef {object} Open
 * @property {'object' | 'array'} kind
 * @property {string | number} at The present key or index.
 * @property {'key' | 'colon' | 'value' | 'comma'} expects
 */

/**
 * @typedef {object} Scan
 * @property {readonly JsonString[]} strings
 * @property {readonly Open[]} open From the outermost on.
 */

const STRING = /"((?:[^"\\\n]|\\[^\n])*)("?)/y;
const COLON_BEHIND = /\s*:/y;
const OTHER = /[^"{}[\]:,]+/y;

/**
 * @param {RegExp} pattern
 * @param {string} text
 * @param {number} at
 */
function matchAt(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/**
 * Reads JSON that need not be complete: what is wrong is passed over. Takes time in proportion to the length.
 * @param {string} text
 * @returns {Scan}
 */
export function scanJson(text) {
  /** @type {JsonString[]} */
  const strings = [];
  /** @type {Open[]} */
  const open = [];
  const top = () => open.at(-1);
  const valueSeen = () => {
    const container = top();
    if (container !== undefined) container.expects = 'comma';
  };
  /** @param {'object' | 'array'} kind */
  const close = (kind) => {
    const at = open.findLastIndex((each) => each.kind === kind);
    if (at < 0) return;
    open.length = at;
    valueSeen();
  };
  for (let at = 0; at < text.length; ) {
    const container = top();
    const character = text[at];
    if (character === '"') {
      const [whole = '"', content = '', end = ''] = matchAt(STRING, text, at) ?? [];
      const mayBeKey = container?.kind === 'object' && container.expects !== 'value';
      const isKey =
        mayBeKey && (container.expects === 'key' || matchAt(COLON_BEHIND, text, at + whole.length) !== null);
      if (isKey) {
        container.at = content;
        container.expects = 'colon';
      }
      const path = open.map((each) => each.at);
      strings.push({ from: at, to: at + whole.length, text: content, closed: end !== '', isKey, path });
      if (!isKey) valueSeen();
      at += whole.length;
      continue;
    }
    if (character === '{') open.push({ kind: 'object', at: '', expects: 'key' });
    else if (character === '[') open.push({ kind: 'array', at: 0, expects: 'value' });
    else if (character === '}') close('object');
    else if (character === ']') close('array');
    else if (character === ':' && container?.kind === 'object') container.expects = 'value';
    else if (character === ',' && container?.kind === 'object') container.expects = 'key';
    else if (character === ',' && container !== undefined) {
      container.at = Number(container.at) + 1;
      container.expects = 'value';
    } else {
      const other = matchAt(OTHER, text, at)?.[0] ?? ' ';
      if (other.trim() !== '') valueSeen();
      at += other.length;
      continue;
    }
    at += 1;
  }
  return { strings, open };
}

/** @param {readonly (string | number)[]} path */
export const isElement = (path) =>
  path[0] === 'rules' && typeof path.at(-1) === 'number' && /^(any_of|all_of|but_not)$/.test(String(path.at(-2)));

/** @param {readonly (string | number)[]} path */
export const isSubjectType = (path) => path[0] === 'types' && path[2] === 'subjects' && path.length === 4;

/** @param {readonly (string | number)[]} path */
export const isExpression = (path) => path[0] === 'conditions' && path[2] === 'expression' && path.length === 3;

/**
 * The names that a text defines or uses.
 * @typedef {object} Facts
 * @property {ReadonlySet<string>} relations The tenant's own.
 * @property {ReadonlySet<string>} namespaces
 * @property {ReadonlyMap<string | undefined, ReadonlySet<string>>} names Of the rules, by namespace.
 * @property {ReadonlyMap<string | number | undefined, string>} namespaceOfRule By index.
 * @property {ReadonlyMap<string | number | undefined, string>} nameOfRule By index.
 * @property {ReadonlySet<string>} conditions
 * @property {ReadonlyMap<string | number | undefined, ReadonlyMap<string, string>>} parameters By the index of the
 *   condition: the type of each.
 */

/**
 * @param {readonly JsonString[]} strings
 * @returns {Facts}
 */
export function factsOf(strings) {
  const [relations, namespaces, conditions] = [new Set(), new Set(), new Set()];
  const [namespaceOfRule, nameOfRule, names, parameters] = [new Map(), new Map(), new Map(), new Map()];
  for (const { text, isKey, path } of strings) {
    const [list, index, member, inner] = path;
    if (isKey || text === '') continue;
    if (list === 'relations' && path.length === 2) relations.add(text);
    if (member === 'namespace' || (list === 'public' && path.length === 2)) namespaces.add(text);
    if (isSubjectType(path)) namespaces.add(text.replace(/[:# ].*$/, ''));
    if (list === 'rules' && member === 'namespace') namespaceOfRule.set(index, text);
    if (list === 'rules' && member === 'name') nameOfRule.set(index, text);
    if (list === 'conditions' && member === 'name') conditions.add(text);
    if (list === 'conditions' && member === 'parameters' && path.length === 4) {
      if (!parameters.has(index)) parameters.set(index, new Map());
      parameters.get(index).set(String(inner), text);
    }
  }
  for (const [index, name] of nameOfRule) {
    const namespace = namespaceOfRule.get(index);
    if (!names.has(namespace)) names.set(namespace, new Set());
    names.get(namespace).add(name);
  }
  return { relations, namespaces, names, namespaceOfRule, nameOfRule, conditions, parameters };
}

// ---- expressions ----

/**
 * A part of an expression that stands in a JSON string. `from` and `to` are offsets in what is written there.
 * @typedef {object} Token
 * @property {'string' | 'number' | 'word' | 'comment' | 'operator'} kind
 * @property {string} text
 * @property {number} from
 * @property {number} to
 */

/** A quotation mark of the expression has a backslash before it, and a backslash another. */
const DOUBLE = String.raw`\\"(?:\\\\(?:\\["\\]|[^"\\])|\\[^"\\]|[^"\\])*(?:\\"|$)`;
const SINGLE = String.raw`'(?:\\\\(?:\\["\\]|[^"\\])|\\[^\\]|[^'\\])*(?:'|$)`;
/** @type {readonly (readonly [Token['kind'] | 'space', RegExp])[]} */
const TOKENS = [
  ['space', /(?:\s|\\[nrt])+/y],
  ['comment', /\/\/(?:(?!\\n).)*/y],
  ['string', new RegExp(`[bBrR]{0,2}(?:${DOUBLE}|${SINGLE})`, 'y')],
  ['number', /0x[0-9a-fA-F]+u?|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?u?/y],
  ['word', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['operator', /&&|\|\||[=!<>]=|./sy],
];

/**
 * The tokens of an expression, as it is written in a JSON string.
 * @param {string} json
 * @returns {readonly Token[]}
 */
export function expressionTokens(json) {
  /** @type {Token[]} */
  const tokens = [];
  for (let from = 0; from < json.length; ) {
    let to = from + 1;
    for (const [kind, pattern] of TOKENS) {
      const [text] = matchAt(pattern, json, from) ?? [];
      if (text === undefined) continue;
      to = from + text.length;
      if (kind !== 'space') tokens.push({ kind, text, from, to });
      break;
    }
    from = to;
  }
  return tokens;
}

const CONSTANT = /^(true|false|null|in)$/;

/**
 * @param {readonly Token[]} tokens
 * @param {number} index
 * @param {ReadonlyMap<string, string> | undefined} parameters
 */
function classOf(tokens, index, parameters) {
  const { kind, text } = tokens[index] ?? { kind: 'operator', text: '' };
  if (kind !== 'word') return kind;
  if (CONSTANT.test(text)) return 'keyword';
  if (tokens[index + 1]?.text === '(') return 'function';
  return tokens[index - 1]?.text !== '.' && parameters?.has(text) ? 'parameter' : 'name';
}

/** The words of an element or of a kind of subjects that are not names. */
const KEYWORDS = /^all of (?=.* from )|(?<= )(?:from|with)(?= )/g;

/**
 * A part of the text that is highlighted, beyond what JSON itself tells.
 * @typedef {object} Mark
 * @property {number} from
 * @property {number} to
 * @property {string} of
 */

/**
 * In the order of the text; they do not overlap.
 * @param {readonly JsonString[]} strings
 * @returns {readonly Mark[]}
 */
export function marksOf(strings) {
  const { parameters } = factsOf(strings);
  return strings.flatMap(({ from, text, isKey, path }) => {
    if (isKey) return [];
    if (isElement(path) || isSubjectType(path)) {
      return Array.from(text.matchAll(KEYWORDS), ({ 0: word, index }) => {
        const start = from + 1 + index;
        return { from: start, to: start + word.trimEnd().length, of: 'keyword' };
      });
    }
    if (!isExpression(path)) return [];
    const tokens = expressionTokens(text);
    const ofCondition = parameters.get(path[1]);
    return tokens.map((token, index) => ({
      from: from + 1 + token.from,
      to: from + 1 + token.to,
      of: classOf(tokens, index, ofCondition),
    }));
  });
}
