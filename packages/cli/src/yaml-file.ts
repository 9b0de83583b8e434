// YAML (and JSON, which is YAML) as nodes that know their lines. Everything that could grow beyond the text is refused:
// aliases, deep nesting, keys that occur twice. So what is read is never larger than the file.

import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import { isUnknown } from '../../../src/core/json-members.ts';
import { CliFailure } from './failures.ts';

/** UTF-8 bytes of a file: parsed, it takes some hundred times as much memory for a moment. */
export const YAML_BYTES_MAX = 8 * 1024 * 1024;
/** Maps and lists within each other. No file that is meant has ten. */
const NESTING_MAX = 32;

export type YamlNode =
  | { readonly kind: 'map'; readonly fields: ReadonlyMap<string, YamlNode>; readonly line: number }
  | { readonly kind: 'list'; readonly items: readonly YamlNode[]; readonly line: number }
  | { readonly kind: 'text'; readonly text: string; readonly line: number; readonly textLine: number }
  | { readonly kind: 'value'; readonly value: number | boolean; readonly line: number }
  | { readonly kind: 'null'; readonly line: number };

export type YamlMap = Extract<YamlNode, { kind: 'map' }>;
export type YamlText = Extract<YamlNode, { kind: 'text' }>;

const decoder = new TextDecoder('utf-8', { fatal: true });

export const yamlFailure = (file: string, line: number, message: string): CliFailure =>
  new CliFailure(`${file}:${line}: ${message}`);

class Reader {
  readonly #file: string;
  readonly #lines: LineCounter;

  constructor(file: string, lines: LineCounter) {
    this.#file = file;
    this.#lines = lines;
  }

  #lineOf(node: ParsedNode): number {
    return this.#lines.linePos(node.range[0]).line;
  }

  read(node: ParsedNode | null, depth: number, lineAbove: number): YamlNode {
    if (node === null) return { kind: 'null', line: lineAbove };
    const line = this.#lineOf(node);
    if (isAlias(node)) throw yamlFailure(this.#file, line, 'Aliases are not allowed: write the value out.');
    if (depth > NESTING_MAX) {
      throw yamlFailure(this.#file, line, `More than ${NESTING_MAX} maps and lists are within each other.`);
    }
    if (isSeq(node)) {
      return { kind: 'list', items: node.items.map((item) => this.read(item, depth + 1, line)), line };
    }
    if (isMap(node)) return { kind: 'map', fields: this.#fieldsOf(node.items, depth, line), line };
    return this.#scalar(node, line);
  }

  #fieldsOf(
    pairs: readonly { readonly key: ParsedNode; readonly value: ParsedNode | null }[],
    depth: number,
    line: number,
  ): ReadonlyMap<string, YamlNode> {
    const fields = new Map<string, YamlNode>();
    for (const { key, value } of pairs) {
      if (!isScalar(key)) throw yamlFailure(this.#file, line, 'A key must be a word.');
      const name = String(key.value);
      const keyLine = this.#lineOf(key);
      if (fields.has(name)) {
        throw yamlFailure(this.#file, keyLine, `The key ${JSON.stringify(name.slice(0, 60))} occurs twice.`);
      }
      fields.set(name, this.read(value, depth + 1, keyLine));
    }
    return fields;
  }

  #scalar(node: ParsedNode, line: number): YamlNode {
    const value: unknown = isScalar(node) ? node.value : undefined;
    if (value === null) return { kind: 'null', line };
    if (typeof value === 'number' || typeof value === 'boolean') return { kind: 'value', value, line };
    if (typeof value !== 'string') throw yamlFailure(this.#file, line, 'This kind of value is not known here.');
    // The text of a block (`|`) begins in the next line.
    const isBlock = isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED');
    return { kind: 'text', text: value, line, textLine: isBlock ? line + 1 : line };
  }
}

/** Throws a CliFailure with file and line if it is not one document of plain YAML. */
export function parseYaml(file: string, bytes: Uint8Array): YamlNode {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw new CliFailure(`${file} is not valid UTF-8.`, undefined, { cause });
  }
  const lines = new LineCounter();
  let document: Document.Parsed;
  let node: YamlNode;
  try {
    // `uniqueKeys` of the library compares each key with each other.
    document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false, logLevel: 'error' });
    const [error] = document.errors;
    if (error !== undefined) throw yamlFailure(file, lines.linePos(error.pos[0]).line, error.message);
    node = new Reader(file, lines).read(document.contents, 0, 1);
  } catch (error) {
    // The library descends by recursion.
    if (error instanceof RangeError) throw new CliFailure(`${file} has too many maps and lists within each other.`);
    throw error;
  }
  return node;
}

/** The text of a field; undefined if it is absent or blank. Throws a CliFailure if it is anything else. */
export function textIn(file: string, { fields }: YamlMap, name: string): YamlText | undefined {
  const node = fields.get(name);
  if (node === undefined || node.kind === 'null') return undefined;
  if (node.kind !== 'text') throw yamlFailure(file, node.line, `"${name}" must be a text.`);
  return node.text.trim() === '' ? undefined : node;
}

/** The items of a field; undefined if it is absent. Throws a CliFailure if it is anything else. */
export function listIn(file: string, { fields }: YamlMap, name: string): readonly YamlNode[] | undefined {
  const node = fields.get(name);
  if (node === undefined || node.kind === 'null') return undefined;
  if (node.kind !== 'list') throw yamlFailure(file, node.line, `"${name}" must be a list.`);
  return node.items;
}

// ---- places ----

const NAME_LENGTH_MAX = 256;

const isPlainText = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);

/** A place in a YAML file, with its line and path for messages; it reads what must be there. */
export class Cursor {
  readonly file: string;
  readonly node: YamlNode;
  readonly path: string;

  constructor(file: string, node: YamlNode, path: string) {
    this.file = file;
    this.node = node;
    this.path = path;
  }

  /** `file:line` */
  get location(): string {
    return `${this.file}:${this.node.line}`;
  }

  get place(): string {
    return `${this.location}: ${this.path}`;
  }

  failure(message: string): CliFailure {
    const where = this.path === '' ? 'The file' : this.path;
    return yamlFailure(this.file, this.node.line, `${where} ${message}`);
  }

  map(known: readonly string[]): YamlMap {
    if (this.node.kind !== 'map') throw this.failure(`must be a map with ${known.join(', ')}.`);
    for (const [name, node] of this.node.fields) {
      if (known.includes(name)) continue;
      const shown = JSON.stringify(name.slice(0, 60));
      throw new Cursor(this.file, node, this.path).failure(`has a key ${shown}, which ${isUnknown(name, known)}.`);
    }
    return this.node;
  }

  /** The part at a path such as `rules[3].any_of`, as far as it is there. */
  at(path: string): Cursor {
    let cursor: Cursor = this;
    for (const name of path.split(/[.[\]]+/).filter((each) => each !== '')) {
      const { node } = cursor;
      const inner =
        node.kind === 'map' ? node.fields.get(name) : node.kind === 'list' ? node.items[Number(name)] : undefined;
      if (inner === undefined) break;
      cursor = new Cursor(this.file, inner, this.path);
    }
    return cursor;
  }

  /** Undefined if it is not there. */
  field(map: YamlMap, name: string): Cursor | undefined {
    const node = map.fields.get(name);
    const path = this.path === '' ? name : `${this.path}.${name}`;
    return node === undefined ? undefined : new Cursor(this.file, node, path);
  }

  demand(map: YamlMap, name: string): Cursor {
    const found = this.field(map, name);
    if (found === undefined) throw this.failure(`has no "${name}".`);
    return found;
  }

  list(max: number): readonly Cursor[] {
    if (this.node.kind !== 'list') throw this.failure('must be a list.');
    const { items } = this.node;
    if (items.length > max) throw this.failure(`has ${items.length} entries; at most ${max} are allowed.`);
    return items.map((item, index) => new Cursor(this.file, item, `${this.path}[${index}]`));
  }

  text(): YamlText {
    if (this.node.kind !== 'text') throw this.failure('must be a text.');
    return this.node;
  }

  name(): string {
    const { text } = this.text();
    if (text === '' || [...text].length > NAME_LENGTH_MAX || !isPlainText(text)) {
      throw this.failure(`must have 1 to ${NAME_LENGTH_MAX} characters, none of them a control character.`);
    }
    return text;
  }
}

export function plainOf(node: YamlNode): unknown {
  switch (node.kind) {
    case 'map':
      return Object.fromEntries([...node.fields].map(([name, each]) => [name, plainOf(each)]));
    case 'list':
      return node.items.map(plainOf);
    case 'null':
      return null;
    case 'text':
      return node.text;
    case 'value':
      return node.value;
  }
}
