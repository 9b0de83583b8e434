// A file of OpenFGA or SpiceDB in one of the forms that their command lines write: its tuples, and the model if it has
// one. Files of lines and backups are read as a stream; YAML and JSON are read whole, within a bound.

import type { Origin, PeerFormat } from '../../../cli/src/converter.ts';
import { CliFailure } from '../../../cli/src/failures.ts';
import { readWhole } from '../../../cli/src/import/import-source.ts';
import { listIn, parseYaml, textIn, YAML_BYTES_MAX, type YamlNode } from '../../../cli/src/yaml-file.ts';
import { ModelReader, type ModelText, parseModel } from '../model/model-reader.ts';
import { MODEL_BYTES_MAX } from '../model/source-model.ts';
import { entriesOfNodes, readJsonLines, readTupleCsv } from './openfga-tuples.ts';
import { entriesOfAttributes, entriesOfRelationships } from './permify-data.ts';
import type { SourceEntry } from './source-tuple.ts';
import { entriesOfText, readRelationshipLines } from './spicedb-relationships.ts';
import { openZedBackup } from './zed-backup.ts';

/** The limit of `fga store export` without --max-tuples. */
const EXPORTED_TUPLES_DEFAULT = 100;
/** Entries per group. */
const ENTRIES_AT_ONCE = 1000;

export interface PeerFile {
  /** The texts of the model, if the file has or names one. */
  readonly model: readonly ModelText[];
  readonly entries: AsyncIterable<readonly SourceEntry[]>;
  readonly hasExpirations: boolean;
  /** Notes to print, as sentences. */
  readonly notes: readonly string[];
}

async function readYamlBytes(chunks: AsyncIterable<Uint8Array>, file: string): Promise<Buffer> {
  const bytes = await readWhole(chunks, YAML_BYTES_MAX);
  if (bytes !== undefined) return bytes;
  throw new CliFailure(
    `${file} is longer than ${YAML_BYTES_MAX / (1024 * 1024)} MiB. Write the tuples as lines: for OpenFGA as CSV or lines of JSON, for SpiceDB as a backup.`,
  );
}

async function* inGroups(entries: Iterable<SourceEntry>): AsyncGenerator<readonly SourceEntry[]> {
  let group: SourceEntry[] = [];
  for (const entry of entries) {
    group.push(entry);
    if (group.length < ENTRIES_AT_ONCE) continue;
    yield group;
    group = [];
  }
  yield group;
}

async function openStore(file: string, root: YamlNode): Promise<PeerFile> {
  if (root.kind === 'list') {
    return { model: [], entries: inGroups(entriesOfNodes(root.items)), hasExpirations: true, notes: [] };
  }
  const tuples = root.kind === 'map' ? listIn(file, root, 'tuples') : undefined;
  const others = root.kind === 'map' ? ['tuple_file', 'tuple_files'].filter((name) => root.fields.has(name)) : [];
  if (root.kind !== 'map' || (tuples === undefined && others.length === 0)) {
    throw new CliFailure(`${file} is neither a store of OpenFGA with "tuples" nor a list of tuples.`);
  }
  const notes: string[] = [];
  if (tuples?.length === EXPORTED_TUPLES_DEFAULT) {
    notes.push(
      `${file} has exactly ${EXPORTED_TUPLES_DEFAULT} tuples, which is where "fga store export" stops by default: there may be more. Export it again with --max-tuples.`,
    );
  }
  if (others.length > 0) notes.push(`${file} names further files of tuples (${others.join(', ')}): import them too.`);
  const token = root.fields.get('continuation_token');
  if (token?.kind === 'text' && token.text !== '') {
    notes.push(
      `${file} is one page of a listing: there are more tuples. Read all, with "fga tuple read --max-pages 0".`,
    );
  }
  const model = await new ModelReader().readInYaml(file, root, 'openfga');
  return { model, entries: inGroups(entriesOfNodes(tuples ?? [])), hasExpirations: true, notes };
}

async function openValidation(file: string, root: YamlNode): Promise<PeerFile> {
  if (root.kind !== 'map' || !root.fields.has('relationships')) {
    throw new CliFailure(`${file} is not a validation file of SpiceDB: it has no "relationships".`);
  }
  const relationships = textIn(file, root, 'relationships');
  const entries = relationships === undefined ? [] : entriesOfText(relationships.text, relationships.textLine);
  const model = await new ModelReader().readInYaml(file, root, 'spicedb');
  return { model, entries: inGroups(entries), hasExpirations: true, notes: [] };
}

async function openShape(file: string, root: YamlNode): Promise<PeerFile> {
  if (root.kind !== 'map') throw new CliFailure(`${file} is not a file of Permify: it has no "relationships".`);
  const model = await new ModelReader().readInYaml(file, root, 'permify');
  const attributes = listIn(file, root, 'attributes') ?? [];
  if (attributes.length > 0 && model.length === 0) {
    throw new CliFailure(`${file} has attributes and no "schema", without which they cannot become grants.`);
  }
  const entries = [
    ...entriesOfRelationships(listIn(file, root, 'relationships') ?? []),
    ...(model.length === 0 ? [] : entriesOfAttributes(parseModel(model), attributes)),
  ];
  return { model, entries: inGroups(entries), hasExpirations: true, notes: [] };
}

/** Throws a CliFailure, here or from `entries`, if it is not in that format. */
export async function openPeerFile(
  chunks: AsyncIterable<Uint8Array>,
  options: { readonly file: string; readonly origin: Origin; readonly format: PeerFormat },
): Promise<PeerFile> {
  const { file, origin, format } = options;
  const plain = { model: [], hasExpirations: true, notes: [] };
  switch (format) {
    case 'yaml': {
      const root = parseYaml(file, await readYamlBytes(chunks, file));
      if (origin === 'permify') return openShape(file, root);
      return origin === 'openfga' ? openStore(file, root) : openValidation(file, root);
    }
    case 'csv':
      return { ...plain, entries: readTupleCsv(chunks) };
    case 'ndjson':
      return { ...plain, entries: readJsonLines(chunks) };
    case 'text':
      return { ...plain, entries: readRelationshipLines(chunks) };
    case 'avro': {
      const { schemaText, hasExpirations, entries } = await openZedBackup(chunks);
      if (Buffer.byteLength(schemaText) > MODEL_BYTES_MAX) {
        throw new CliFailure(`The schema in ${file} has more than ${MODEL_BYTES_MAX / 1024} KiB.`);
      }
      return { model: [{ file: `${file} (schema)`, text: schemaText, origin }], entries, hasExpirations, notes: [] };
    }
  }
}
