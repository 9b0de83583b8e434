// Tuples of OpenFGA in the forms that its command line writes: records `{user, relation, object, condition}` in YAML,
// JSON and lines of JSON, and CSV with a column for each part.

import { GrantdError } from '../../../../src/core/errors.ts';
import { isJsonObject, type JsonObject, unknownMember } from '../../../../src/core/json-members.ts';
import { parseCsvLine } from '../../../../src/core/text/csv.ts';
import { parseJson } from '../../../../src/core/text/json.ts';
import { CliFailure } from '../../../cli/src/failures.ts';
import { readLines, type SourceLine } from '../../../cli/src/import/import-lines.ts';
import type { YamlNode } from '../../../cli/src/yaml-file.ts';
import { lineOf, type SourceEntry, type SourceTuple, type SourceTupleCondition, splitEntity } from './source-tuple.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

interface TupleRecord {
  readonly user: unknown;
  readonly relation: unknown;
  readonly object: unknown;
  /** Not yet validated. */
  readonly condition: unknown;
}

const CONDITION_MEMBERS = ['name', 'context'];

/** A string is an error message. */
function conditionIn(condition: unknown): SourceTupleCondition | undefined | string {
  if (condition === undefined || condition === null) return undefined;
  if (!isJsonObject(condition) || typeof condition.name !== 'string' || condition.name === '') {
    return '"condition" must be an object with a "name".';
  }
  const { name, context = {} } = condition;
  if (context !== null && !isJsonObject(context)) return '"condition.context" must be an object.';
  return unknownMember(condition, CONDITION_MEMBERS, 'condition') ?? { name, context: context ?? {} };
}

/** A string is an error message. */
function tupleOf({ user, relation, object, condition }: TupleRecord): SourceTuple | string {
  if (typeof user !== 'string' || typeof relation !== 'string' || typeof object !== 'string') {
    return 'A tuple must have "user", "relation" and "object", which are strings.';
  }
  const hash = user.indexOf('#', Math.max(user.indexOf(':'), 0));
  const subject = splitEntity(hash < 0 ? user : user.slice(0, hash));
  const target = splitEntity(object);
  if (subject === undefined) return '"user" must be type:id, type:id#relation or type:*.';
  if (target === undefined) return '"object" must be type:id.';
  const holdsUnder = conditionIn(condition);
  if (typeof holdsUnder === 'string') return holdsUnder;
  return {
    subjectType: subject.type,
    subjectId: subject.id,
    subjectRelation: hash < 0 ? undefined : user.slice(hash + 1),
    relation,
    objectType: target.type,
    objectId: target.id,
    condition: holdsUnder,
    expiresAt: undefined,
  };
}

function entryOf(line: SourceLine, record: TupleRecord): SourceEntry {
  const tuple = tupleOf(record);
  return typeof tuple === 'string' ? { line, problem: tuple } : { line, tuple };
}

function plainOf(node: YamlNode | undefined): unknown {
  if (node === undefined) return undefined;
  if (node.kind === 'null') return null;
  if (node.kind === 'text') return node.text;
  if (node.kind === 'map') return Object.fromEntries([...node.fields].map(([name, each]) => [name, plainOf(each)]));
  return node.kind === 'value' ? node.value : node.items.map(plainOf);
}

const TUPLE_MEMBERS = ['user', 'relation', 'object', 'condition'];
/** The API wraps each tuple that it returns. */
const WRAPPED_MEMBERS = ['key', 'timestamp'];

/** Members that are not known are refused: one may restrict the tuple. */
function unknownIn(record: object, wrapper: object | undefined): string | undefined {
  const inWrapper = wrapper && unknownMember(wrapper, WRAPPED_MEMBERS);
  return inWrapper ?? unknownMember(record, TUPLE_MEMBERS, wrapper === undefined ? '' : 'key');
}

/** The tuples of a list, as a store, a file of tuples or a response of the API has it. */
export function* entriesOfNodes(items: readonly YamlNode[]): Generator<SourceEntry> {
  for (const item of items) {
    if (item.kind !== 'map') {
      yield { line: lineOf(item.line, ''), problem: 'A tuple must have "user", "relation" and "object".' };
      continue;
    }
    const key = item.fields.get('key');
    const wraps = key?.kind === 'map';
    const { fields, line } = wraps ? key : item;
    const problem = unknownIn(Object.fromEntries(fields), wraps ? Object.fromEntries(item.fields) : undefined);
    if (problem !== undefined) {
      yield { line: lineOf(item.line, ''), problem };
      continue;
    }
    const record = {
      user: plainOf(fields.get('user')),
      relation: plainOf(fields.get('relation')),
      object: plainOf(fields.get('object')),
      condition: plainOf(fields.get('condition')),
    };
    yield entryOf(lineOf(line, JSON.stringify(record)), record);
  }
}

const textIn = ({ bytes }: SourceLine): string | undefined => {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
};

function jsonEntry(line: SourceLine): SourceEntry | undefined {
  const text = line.cut ? undefined : textIn(line);
  if (text === undefined) return { line, problem: 'The line is too long, or is not valid UTF-8.' };
  if (text.trim() === '') return undefined;
  try {
    const value = parseJson(text, 'The line');
    const wraps = isJsonObject(value) && isJsonObject(value.key);
    const record = wraps ? value.key : value;
    if (!isJsonObject(record)) return { line, problem: 'The line is not a JSON object.' };
    const problem = unknownIn(record, wraps ? value : undefined);
    if (problem !== undefined) return { line, problem };
    const { user, relation, object, condition } = record;
    return entryOf(line, { user, relation, object, condition });
  } catch (error) {
    return { line, problem: GrantdError.from(error).message };
  }
}

/** Lines of JSON. */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly SourceEntry[]> {
  for await (const lines of readLines(chunks)) yield lines.flatMap((line) => jsonEntry(line) ?? []);
}

const COLUMNS = [
  'user_type',
  'user_id',
  'user_relation',
  'relation',
  'object_type',
  'object_id',
  'condition_name',
  'condition_context',
] as const;
type Column = (typeof COLUMNS)[number];
const OPTIONAL: readonly Column[] = ['user_relation', 'condition_name', 'condition_context'];

const isColumn = (text: string): text is Column => COLUMNS.some((column) => column === text);

function columnsIn(line: SourceLine): ReadonlyMap<Column, number> {
  const heads = parseCsvLine(textIn(line) ?? '') ?? [];
  const found = new Map<Column, number>();
  for (const [index, head] of heads.entries()) {
    if (!isColumn(head) || found.has(head)) {
      throw new CliFailure(
        `Line 1 must name the columns, each once: ${COLUMNS.join(',')}. It has ${JSON.stringify(head.slice(0, 60))}.`,
      );
    }
    found.set(head, index);
  }
  const missing = COLUMNS.filter((column) => !found.has(column) && !OPTIONAL.includes(column));
  if (missing.length > 0) throw new CliFailure(`Line 1 does not name the columns ${missing.join(', ')}.`);
  return found;
}

/** A string is an error message. */
function csvConditionIn(name: string, context: string): JsonObject | undefined | string {
  if (context === '') return name === '' ? undefined : { name };
  try {
    return { name, context: parseJson(context, 'The context of the condition') };
  } catch (error) {
    return GrantdError.from(error).message;
  }
}

function csvEntry(line: SourceLine, columns: ReadonlyMap<Column, number>): SourceEntry | undefined {
  const text = line.cut ? undefined : textIn(line);
  if (text === undefined) return { line, problem: 'The line is too long, or is not valid UTF-8.' };
  if (text === '') return undefined;
  const fields = parseCsvLine(text);
  if (fields === undefined) {
    // The rest might continue a value, and must not be read as tuples.
    throw new CliFailure(
      `Line ${line.number} has a quote that is not closed in it, and values of several lines cannot be read. Nothing after it is read.`,
    );
  }
  if (fields.length !== columns.size) {
    return { line, problem: `The line has ${fields.length} columns, and line 1 names ${columns.size}.` };
  }
  const fieldOf = (column: Column): string => fields[columns.get(column) ?? -1] ?? '';
  const relation = fieldOf('user_relation');
  const condition = csvConditionIn(fieldOf('condition_name'), fieldOf('condition_context'));
  if (typeof condition === 'string') return { line, problem: condition };
  return entryOf(line, {
    user: `${fieldOf('user_type')}:${fieldOf('user_id')}${relation === '' ? '' : `#${relation}`}`,
    relation: fieldOf('relation'),
    object: `${fieldOf('object_type')}:${fieldOf('object_id')}`,
    condition,
  });
}

/** CSV with a head. Throws a CliFailure if the head is wrong. */
export async function* readTupleCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly SourceEntry[]> {
  let columns: ReadonlyMap<Column, number> | undefined;
  for await (const lines of readLines(chunks)) {
    const entries: SourceEntry[] = [];
    for (const line of lines) {
      if (columns === undefined) columns = columnsIn(line);
      else {
        const entry = csvEntry(line, columns);
        if (entry !== undefined) entries.push(entry);
      }
    }
    yield entries;
  }
}
