// YAML (and JSON, which is YAML) as nodes that know their lines. Everything that could grow beyond the text is refused:
// aliases, deep nesting, keys that occur twice. So what is read is never larger than the file.

import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from 'yaml';
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
    // Of a block (`|`), the text begins in the next line.
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
