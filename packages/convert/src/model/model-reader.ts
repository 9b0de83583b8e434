// Reads and parses the texts of a model, within bounds: files of a model, YAML with a model in it, and files that such
// YAML or the list of a modular model (fga.mod) names. Invariant: a file that another file names is read only if its
// path is relative and its ending is that of a model, so that a file from elsewhere cannot make the program read
// others.

import { createReadStream } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import { ORIGINS, type Origin } from '../../../cli/src/converter.ts';
import { CliFailure, EXIT, reasonOf } from '../../../cli/src/failures.ts';
import { readWhole } from '../../../cli/src/import/import-source.ts';
import {
  listIn,
  parseYaml,
  textIn,
  YAML_BYTES_MAX,
  type YamlMap,
  type YamlText,
  yamlFailure,
} from '../../../cli/src/yaml-file.ts';
import { parseOpenFgaDsl } from './openfga-dsl.ts';
import { parseOpenFgaJson } from './openfga-json.ts';
import { parsePermifySchema } from './permify-schema.ts';
import { type Declarations, joinDeclarations, MODEL_BYTES_MAX, quote, type SourceModel } from './source-model.ts';
import { parseSpiceDbSchema } from './spicedb-schema.ts';

/** A model, or one module of it. The text begins with as many empty lines as precede it in the file. */
export interface ModelText {
  readonly file: string;
  readonly text: string;
  readonly origin: Origin;
}

/** Modules of one model. Each has to be opened, even if it is empty; the largest known models have some dozens. */
const MODULES_MAX = 1000;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const FIELDS: Readonly<Record<Origin, { readonly text: string; readonly file: string; readonly endings: RegExp }>> = {
  openfga: { text: 'model', file: 'model_file', endings: /\.(fga|json|mod)$/i },
  spicedb: { text: 'schema', file: 'schemaFile', endings: /\.zed$/i },
  permify: { text: 'schema', file: 'schema_file', endings: /\.perm$/i },
};
/** How a schema of Permify begins, unlike one of SpiceDB. */
const PERMIFY_TEXT = /^[ \t]*(?:entity|rule)\s/m;

export const isYamlName = (file: string): boolean => /\.ya?ml$/i.test(file);
const isModuleList = (file: string): boolean => /\.mod$/i.test(file);

function originOfName(file: string): Origin {
  if (/\.(fga|json|mod)$/i.test(file)) return 'openfga';
  if (/\.zed$/i.test(file)) return 'spicedb';
  if (/\.perm$/i.test(file)) return 'permify';
  const unknown = `The name of ${file} does not say which format it has: pass --from ${ORIGINS.join(', --from ')}.`;
  throw new CliFailure(unknown, EXIT.usage);
}

const hasModel = ({ fields }: YamlMap, origin: Origin): boolean =>
  fields.has(FIELDS[origin].text) || fields.has(FIELDS[origin].file);

/** Throws a CliFailure if the file has no model, or those of two systems. */
export function originOfYaml(file: string, root: YamlMap): Origin {
  const [isOpenFga, isSpiceDb] = [hasModel(root, 'openfga'), hasModel(root, 'spicedb')];
  const schema = root.fields.get('schema');
  if (root.fields.has('schema_file')) return 'permify';
  if (schema?.kind === 'text' && !isOpenFga && PERMIFY_TEXT.test(schema.text)) return 'permify';
  if (isOpenFga !== isSpiceDb) return isOpenFga ? 'openfga' : 'spicedb';
  throw new CliFailure(
    isOpenFga
      ? `${file} has a model of OpenFGA and a schema of SpiceDB: pass --from openfga or --from spicedb.`
      : `${file} has no model: a store of OpenFGA has "model" or "model_file", and a file of SpiceDB or Permify has "schema", or "schemaFile". Rules of grantd need --from grantd.`,
    isOpenFga ? EXIT.usage : EXIT.failed,
  );
}

/** Lines before the model, so that findings name the lines of the file. */
const atItsLine = ({ text, textLine }: YamlText): string => `${'\n'.repeat(textLine - 1)}${text}`;

export class ModelReader {
  #bytesLeft = MODEL_BYTES_MAX;
  #modulesLeft = MODULES_MAX;
  readonly #stdin: Readable | undefined;

  /** Without `stdin`, `-` is the name of a file. */
  constructor(stdin?: Readable) {
    this.#stdin = stdin;
  }

  async #readBytes(file: string, bytesMax: number, tooLong: string): Promise<Buffer> {
    const source = file === '-' && this.#stdin !== undefined ? this.#stdin : createReadStream(file);
    const bytes = await readWhole(source, bytesMax).catch((cause: unknown) => {
      throw new CliFailure(`Cannot read ${file}: ${reasonOf(cause)}.`, EXIT.failed, { cause });
    });
    if (bytes === undefined) throw new CliFailure(`${file} is too long: ${tooLong}`);
    return bytes;
  }

  #take(bytes: number, file: string): void {
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft < 0) throw new CliFailure(`${file} is too long: ${this.#tooLong()}`);
  }

  #tooLong(): string {
    return `a model may have ${MODEL_BYTES_MAX / 1024} KiB, all files together.`;
  }

  async #readModelBytes(file: string): Promise<Buffer> {
    const bytes = await this.#readBytes(file, this.#bytesLeft, this.#tooLong());
    this.#take(bytes.length, file);
    return bytes;
  }

  async #readPlain(file: string, origin: Origin): Promise<readonly ModelText[]> {
    const bytes = await this.#readModelBytes(file);
    try {
      return [{ file, text: decoder.decode(bytes), origin }];
    } catch (cause) {
      throw new CliFailure(`${file} is not valid UTF-8.`, EXIT.failed, { cause });
    }
  }

  /** The path of a file that another one names. */
  #follow(by: string, { text, line }: YamlText, endings: RegExp): string {
    if (isAbsolute(text) || text.includes('\0') || !endings.test(text)) {
      throw yamlFailure(by, line, `${quote(text)} is not followed: it must be a relative path of a model.`);
    }
    return join(dirname(by), text);
  }

  async #readModules(file: string): Promise<ModelText[]> {
    const root = parseYaml(file, await this.#readModelBytes(file));
    const items = root.kind === 'map' ? listIn(file, root, 'contents') : undefined;
    if (items === undefined) throw new CliFailure(`${file} lists no modules: it has no "contents".`);
    if (items.length === 0) throw new CliFailure(`${file} lists no modules: its "contents" is empty.`);
    const texts: ModelText[] = [];
    for (const item of items) {
      if (item.kind !== 'text') throw yamlFailure(file, item.line, 'A module must be the path of a file.');
      if (--this.#modulesLeft < 0) throw yamlFailure(file, item.line, `A model has at most ${MODULES_MAX} modules.`);
      texts.push(...(await this.#readPlain(this.#follow(file, item, /\.fga$/i), 'openfga')));
    }
    return texts;
  }

  #readNamed(file: string, origin: Origin): Promise<readonly ModelText[]> {
    return isModuleList(file) ? this.#readModules(file) : this.#readPlain(file, origin);
  }

  /** The model in the YAML of a store or a validation file, or in the file that it names; none if it has none. */
  async readInYaml(file: string, root: YamlMap, origin: Origin): Promise<readonly ModelText[]> {
    const names = FIELDS[origin];
    const [text, named] = [textIn(file, root, names.text), textIn(file, root, names.file)];
    if (text !== undefined && named !== undefined) {
      throw yamlFailure(file, named.line, `"${names.text}" and "${names.file}" cannot both be there: remove one.`);
    }
    if (named !== undefined) return this.#readNamed(this.#follow(file, named, names.endings), origin);
    if (text === undefined) return [];
    this.#take(Buffer.byteLength(text.text), file);
    return [{ file, text: atItsLine(text), origin }];
  }

  async #readYaml(file: string, origin: Origin | undefined): Promise<readonly ModelText[]> {
    const tooLong = `YAML may have ${YAML_BYTES_MAX / (1024 * 1024)} MiB.`;
    const root = parseYaml(file, await this.#readBytes(file, YAML_BYTES_MAX, tooLong));
    if (root.kind !== 'map') throw new CliFailure(`${file} has no model: it is not a map.`);
    const from = origin ?? originOfYaml(file, root);
    const texts = await this.readInYaml(file, root, from);
    if (texts.length > 0) return texts;
    throw new CliFailure(`${file} has neither "${FIELDS[from].text}" nor "${FIELDS[from].file}".`);
  }

  /** A file named on the command line. */
  read(file: string, origin: Origin | undefined): Promise<readonly ModelText[]> {
    return isYamlName(file) ? this.#readYaml(file, origin) : this.#readNamed(file, origin ?? originOfName(file));
  }
}

/** The texts of all files, which are of one system. `-` is standard input. */
export async function readModelTexts(
  files: readonly string[],
  origin: Origin | undefined,
  stdin: Readable,
): Promise<readonly ModelText[]> {
  const reader = new ModelReader(stdin);
  const texts: ModelText[] = [];
  for (const file of files) texts.push(...(await reader.read(file, origin)));
  if (new Set(texts.map((text) => text.origin)).size > 1) {
    throw new CliFailure('The files are of different systems.', EXIT.usage);
  }
  return texts;
}

/** Throws a CliFailure that names file, line and column if the text is no model. */
export function parseModelFile(file: string, text: string, origin: Origin): Declarations {
  if (origin === 'spicedb') return parseSpiceDbSchema(file, text);
  if (origin === 'permify') return parsePermifySchema(file, text);
  return /^\uFEFF?\s*\{/.test(text) ? parseOpenFgaJson(file, text) : parseOpenFgaDsl(file, text);
}

export const parseModel = (texts: readonly ModelText[]): SourceModel =>
  joinDeclarations(texts.map(({ file, text, origin }) => parseModelFile(file, text, origin)));
