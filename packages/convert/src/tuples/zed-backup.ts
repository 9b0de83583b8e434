// A backup of SpiceDB, as `zed backup create` writes it: the schema first, then every relationship.

import { CliFailure } from '../../../cli/src/failures.ts';
import { type AvroFile, openAvroFile } from './avro-file.ts';
import { AvroError, type AvroRecord, type AvroSchema, type AvroValue } from './avro-schema.ts';
import { lineOf, type SourceEntry, type SourceTuple } from './source-tuple.ts';
import { parseStruct, StructError } from './struct-message.ts';

const SCHEMA_RECORD = 'schema_v1';
const RELATIONSHIP_RECORD = 'relationship_v1';
const EXPIRATION = 'expiration';
/** The zero time of Go, the first moment of the year 1: there is no expiration. */
const NO_EXPIRATION_MS = -62_135_596_800_000n;
/** The last moment that a date can be. */
const TIME_MS_MAX = 8_640_000_000_000_000n;

export interface ZedBackup {
  readonly schemaText: string;
  /** Whether relationships have a field for their expiration: earlier versions of zed left it out. */
  readonly hasExpirations: boolean;
  readonly entries: AsyncGenerator<readonly SourceEntry[]>;
}

const failure = (error: unknown): unknown =>
  error instanceof AvroError ? new CliFailure(`This is not a backup of SpiceDB: ${error.message}`) : error;

const isRecord = (value: AvroValue | undefined, name: string): value is AvroRecord =>
  typeof value === 'object' && value !== null && 'fields' in value && value.name === name;

function relationshipSchema(schema: AvroSchema): AvroSchema | undefined {
  const branches = schema.kind === 'union' ? schema.branches : [schema];
  return branches.find((branch) => branch.kind === 'record' && branch.name === RELATIONSHIP_RECORD);
}

function demandText({ fields }: AvroRecord, name: string): string {
  const text = fields.get(name);
  if (typeof text !== 'string') throw new AvroError(`A record has no text ${JSON.stringify(name)}.`);
  return text;
}

function expirationIn({ fields }: AvroRecord): string | undefined {
  const ms = fields.get(EXPIRATION);
  if (ms === undefined || ms === null || ms === NO_EXPIRATION_MS) return undefined;
  if (typeof ms !== 'bigint' || ms > TIME_MS_MAX || ms < NO_EXPIRATION_MS)
    throw new AvroError('An expiration is not a time.');
  return new Date(Number(ms)).toISOString();
}

function caveatIn(record: AvroRecord): SourceTuple['condition'] {
  const name = demandText(record, 'caveat_name');
  if (name === '') return undefined;
  const context = record.fields.get('caveat_context');
  return { name, context: Buffer.isBuffer(context) ? parseStruct(context) : {} };
}

/** The relationship as it is written, so that a report shows it. */
const relationshipText = (record: AvroRecord): string =>
  JSON.stringify(Object.fromEntries([...record.fields].filter(([, value]) => typeof value === 'string')));

function entryOf(value: AvroValue, number: number): SourceEntry {
  if (!isRecord(value, RELATIONSHIP_RECORD)) throw new AvroError('Something other than a relationship follows.');
  const part = (name: string): string => demandText(value, name);
  const subjectRelation = part('subject_relation');
  const line = lineOf(number, relationshipText(value));
  let condition: SourceTuple['condition'];
  try {
    condition = caveatIn(value);
  } catch (error) {
    if (!(error instanceof StructError)) throw error;
    return { line, problem: `The context of its caveat cannot be read. ${error.message}` };
  }
  const tuple = {
    subjectType: part('subject_object_type'),
    subjectId: part('subject_object_id'),
    subjectRelation: subjectRelation === '' || subjectRelation === '...' ? undefined : subjectRelation,
    relation: part('relation'),
    objectType: part('object_type'),
    objectId: part('object_id'),
    condition,
    expiresAt: expirationIn(value),
  };
  return { line, tuple };
}

async function* entriesOf(
  blocks: AvroFile['blocks'],
  first: readonly AvroValue[],
): AsyncGenerator<readonly SourceEntry[]> {
  let number = 0;
  const read = (values: readonly AvroValue[]): SourceEntry[] =>
    values.map((value) => {
      number += 1;
      return entryOf(value, number);
    });
  try {
    yield read(first);
    for await (const values of blocks) yield read(values);
  } catch (error) {
    throw failure(error);
  }
}

/** Throws a CliFailure, here or from `entries`, if it is not a backup. */
export async function openZedBackup(chunks: AsyncIterable<Uint8Array>): Promise<ZedBackup> {
  try {
    const { schema, blocks } = await openAvroFile(chunks);
    const relationships = relationshipSchema(schema);
    if (relationships?.kind !== 'record') throw new AvroError('It has no relationships.');
    const { value: values = [] } = await blocks.next();
    const [first, ...others]: readonly AvroValue[] = values;
    if (!isRecord(first, SCHEMA_RECORD)) throw new AvroError('It does not begin with a schema.');
    return {
      schemaText: demandText(first, 'schema_text'),
      hasExpirations: relationships.fields.some(({ name }) => name === EXPIRATION),
      entries: entriesOf(blocks, others),
    };
  } catch (error) {
    throw failure(error);
  }
}
