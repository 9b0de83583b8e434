// A place in a YAML file, with its line and path for messages; it reads what must be there.

import { isUnknown } from '../core/json-members.ts';
import type { CliFailure } from './failures.ts';
import { type YamlMap, type YamlNode, type YamlText, yamlFailure } from './yaml-file.ts';

const NAME_LENGTH_MAX = 256;

const isPlainText = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);

/** A node, with its place and path for messages. */
export class Cursor {
  readonly #file: string;
  readonly node: YamlNode;
  readonly path: string;

  constructor(file: string, node: YamlNode, path: string) {
    this.#file = file;
    this.node = node;
    this.path = path;
  }

  /** `file:line` */
  get location(): string {
    return `${this.#file}:${this.node.line}`;
  }

  get place(): string {
    return `${this.location}: ${this.path}`;
  }

  failure(message: string): CliFailure {
    const where = this.path === '' ? 'The file' : this.path;
    return yamlFailure(this.#file, this.node.line, `${where} ${message}`);
  }

  map(known: readonly string[]): YamlMap {
    if (this.node.kind !== 'map') throw this.failure(`must be a map with ${known.join(', ')}.`);
    for (const [name, node] of this.node.fields) {
      if (known.includes(name)) continue;
      const shown = JSON.stringify(name.slice(0, 60));
      throw new Cursor(this.#file, node, this.path).failure(`has a key ${shown}, which ${isUnknown(name, known)}.`);
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
      cursor = new Cursor(this.#file, inner, this.path);
    }
    return cursor;
  }

  /** Undefined if it is not there. */
  field(map: YamlMap, name: string): Cursor | undefined {
    const node = map.fields.get(name);
    const path = this.path === '' ? name : `${this.path}.${name}`;
    return node === undefined ? undefined : new Cursor(this.#file, node, path);
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
    return items.map((item, index) => new Cursor(this.#file, item, `${this.path}[${index}]`));
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
