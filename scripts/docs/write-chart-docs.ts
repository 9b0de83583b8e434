// Writes README.md and values.schema.json of the chart from the comments of its values.yaml, so that the three cannot
// disagree. The schema is strict: it refuses a value that is not in values.yaml. The head of that file defines what a
// comment may contain; a test compares the committed files.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { renderTable } from './markdown-table.ts';

const CHART = join(import.meta.dirname, '..', '..', 'charts', 'grantd');

type Schema = Record<string, unknown>;

/** A key of values.yaml. */
interface Entry {
  readonly path: readonly string[];
  readonly description: string;
  readonly section: string;
  /** The content of `@schema`. */
  readonly schema: Schema;
  readonly value: unknown;
}

/** Shapes that several values share. The API server validates what Kubernetes defines, and is strict too. */
const SHARED: Schema = {
  annotations: { type: 'object', additionalProperties: { type: 'string' } },
  object: { type: 'object' },
  numberOrPercentage: { type: ['integer', 'string'], pattern: '^[0-9]+%$', minimum: 0 },
  resources: {
    type: 'object',
    additionalProperties: false,
    properties: {
      requests: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
      limits: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
      claims: { type: 'array', items: { type: 'object' } },
    },
  },
};

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const at = (values: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (isMap(value) ? value[key] : undefined), values);

/** Whether the keys below it are values of the chart, and not a map for the user to fill. */
const isGroup = ({ value, schema }: Entry): boolean =>
  isMap(value) && !('$ref' in schema) && !isMap(schema.additionalProperties);

/** The keys of values.yaml in their order, with the comments right above them. */
function readEntries(text: string): Entry[] {
  const values: unknown = parse(text);
  const entries: Entry[] = [];
  let section = '';
  let comment: string[] = [];
  let path: string[] = [];
  let leafDepth = Number.POSITIVE_INFINITY;
  for (const line of text.split('\n')) {
    const comments = /^ *# ?(?<text>.*)$/.exec(line)?.groups?.text;
    const { indent = '', key } = /^(?<indent> *)(?<key>[A-Za-z]\w*):/.exec(line)?.groups ?? {};
    if (comments?.startsWith('@section ')) section = comments.slice('@section '.length);
    else if (comments !== undefined) comment.push(comments);
    else if (line.trim() === '') comment = [];
    const depth = indent.length / 2;
    if (key === undefined || depth > leafDepth) continue;
    path = [...path.slice(0, depth), key];
    const schemas = comment.filter((each) => each.startsWith('@schema ')).map((each) => each.slice('@schema '.length));
    const entry: Entry = {
      path,
      section,
      description: comment.filter((each) => !each.startsWith('@schema ')).join(' '),
      schema: Object.assign({}, ...schemas.map((each) => JSON.parse(each))),
      value: at(values, path),
    };
    entries.push(entry);
    leafDepth = isGroup(entry) ? Number.POSITIVE_INFINITY : depth;
    comment = [];
  }
  return entries;
}

const fail = ({ path }: Entry, what: string): never => {
  throw new Error(`charts/grantd/values.yaml: ${path.join('.')}: ${what}`);
};

function leafSchema(entry: Entry): Schema {
  const { value, schema, description } = entry;
  if (description === '') fail(entry, 'it has no comment');
  if ('$ref' in schema) return { description, ...schema };
  if (Array.isArray(value) && schema.items === undefined) fail(entry, 'a list needs a @schema with items');
  if (value === null && schema.type === undefined) fail(entry, 'an empty value needs a @schema with a type');
  const type = Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;
  return { description, default: value, type, ...schema };
}

const depthOf = ({ path }: Entry): number => path.length;

/** The schema of the entries below one, which `entries` consists of. */
function groupSchema(entries: readonly Entry[], shared: Schema): Schema {
  const [first] = entries;
  if (first === undefined) return {};
  const properties: Schema = {};
  for (const entry of entries.filter((each) => depthOf(each) === depthOf(first))) {
    const key = entry.path.at(-1) ?? '';
    if (!isGroup(entry)) {
      properties[key] = leafSchema(entry);
      continue;
    }
    const { $id: name, ...rest } = entry.schema;
    const below = entries.filter(
      (each) => depthOf(each) > depthOf(entry) && entry.path.every((part, index) => each.path[index] === part),
    );
    const group = { type: 'object', additionalProperties: false, ...rest, properties: groupSchema(below, shared) };
    if (typeof name === 'string') shared[name] = group;
    properties[key] = {
      ...(entry.description === '' ? {} : { description: entry.description }),
      ...(typeof name === 'string' ? { $ref: `#/$defs/${name}` } : group),
    };
  }
  return properties;
}

/** values.schema.json. */
export function renderValuesSchema(text: string): string {
  const shared: Schema = { ...SHARED };
  const properties = groupSchema(readEntries(text), shared);
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart grantd',
    type: 'object',
    additionalProperties: false,
    properties,
    $defs: shared,
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

const typeOf = (entry: Entry): string => {
  const { $ref: shared, type = leafSchema(entry).type, enum: choices } = entry.schema;
  if (Array.isArray(choices)) return choices.map((choice) => `\`${choice === '' ? '""' : choice}\``).join(', ');
  if (shared === '#/$defs/numberOrPercentage') return 'integer or percentage';
  if (shared === '#/$defs/pod') return 'as `pod`';
  if (shared === '#/$defs/probes') return 'as `probes`';
  if (shared !== undefined) return 'object';
  return Array.isArray(type) ? type.filter((each) => each !== 'null').join(' or ') : String(type);
};

function renderSection(entries: readonly Entry[]): string[] {
  const groups = entries.filter((entry) => isGroup(entry) && entry.description !== '');
  const rows = entries
    .filter((entry) => !isGroup(entry))
    .map((entry) => [
      `\`${entry.path.join('.')}\``,
      typeOf(entry),
      entry.value === null ? '' : `\`${JSON.stringify(entry.value)}\``,
      entry.description,
    ]);
  return [
    ...groups.flatMap(({ path, description }) => [`**\`${path.join('.')}\`**: ${description}`, '']),
    ...renderTable(['value', 'type', 'default', 'meaning'], rows),
    '',
  ];
}

/** README.md; `introduction` precedes the values. */
export function renderChartReadme(text: string, introduction: string): string {
  const entries = readEntries(text);
  const sections = [...new Set(entries.map(({ section }) => section))];
  return [
    introduction.trimEnd(),
    '',
    '## Values',
    '',
    '<!-- Made by `npm run generate -- docs` from values.yaml and files/introduction.md. Change it there. -->',
    '',
    'A value that is not in these tables is refused, and so is one of another type.',
    '',
    ...sections.flatMap((section) => [
      `### ${section}`,
      '',
      ...renderSection(entries.filter((entry) => entry.section === section)),
    ]),
  ].join('\n');
}

/** The current content of both files, by name. */
export function renderChartDocs(): ReadonlyMap<string, string> {
  const values = readFileSync(join(CHART, 'values.yaml'), 'utf8');
  const introduction = readFileSync(join(CHART, 'files', 'introduction.md'), 'utf8');
  return new Map([
    ['README.md', renderChartReadme(values, introduction)],
    ['values.schema.json', renderValuesSchema(values)],
  ]);
}

export function writeChartDocs(): void {
  for (const [name, text] of renderChartDocs()) {
    writeFileSync(join(CHART, name), text);
    process.stdout.write(`charts/grantd/${name}\n`);
  }
}
