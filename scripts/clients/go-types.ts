// Writes the types of the Go client: structs for requests and responses, and functions that decode the latter.

import {
  type ApiRecord,
  type Field,
  type FieldType,
  isCursor,
  readErrorTypes,
  readRecords,
  wrapped,
} from './records.ts';

const HEAD = `// Code generated from docs/reference/openapi.json by "npm run generate -- types". DO NOT EDIT.

package grantd

import "time"
`;

/** Written by hand, since an absent expiry, a \`null\` and a time mean three different things. */
const BY_HAND = new Set(['GrantRequest']);

const COLUMNS_MAX = 116;
const INITIALISMS = new Map([['id', 'ID']]);

const goName = (name: string): string =>
  name
    .split(/[_-]/)
    .map((word) => INITIALISMS.get(word) ?? word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');

const plainTypes = {
  text: 'string',
  time: 'time.Time',
  integer: 'int64',
  boolean: 'bool',
  map: 'map[string]any',
  any: 'any',
};

function typeName(type: FieldType): string {
  if (type.kind === 'list') return `[]${typeName(type.of)}`;
  return type.kind === 'record' || type.kind === 'textOr' ? type.name : plainTypes[type.kind];
}

/** Nil says that there is none, except for texts and booleans that may be absent, whose zero value does. */
function fieldType({ type, required, nullable }: Field): string {
  const name = typeName(type);
  if (type.kind === 'list' || type.kind === 'map' || type.kind === 'any') return name;
  const isZeroNone = !required && (type.kind === 'text' || type.kind === 'boolean');
  return (required && !nullable) || isZeroNone ? name : `*${name}`;
}

const comment = (text: string, indent: string): string =>
  text === '' ? '' : `${wrapped(text, COLUMNS_MAX, `${indent}//`)}\n`;

/** An omitted part of a request stays omitted, so that the service reports it as missing. */
function tagOf({ name, type, required }: Field, isRequest: boolean): string {
  const option = required ? (isRequest && type.kind === 'record' ? ',omitzero' : '') : ',omitempty';
  return `json:"${name}${option}"`;
}

function struct({ name, description, fields }: ApiRecord, isRequest: boolean): string {
  const lines = fields.map((field) => {
    const tag = tagOf(field, isRequest);
    return `${comment(field.description, '\t')}\t${goName(field.name)} ${fieldType(field)} \`${tag}\`\n`;
  });
  // Empty lines between the fields, so that gofmt has nothing to align.
  return `${comment(`${name}: ${description || 'an answer of the service.'}`, '')}type ${name} struct {\n${lines.join('\n')}}\n`;
}

function decoder(type: FieldType): string {
  if (type.kind === 'list') return `listOf(${decoder(type.of)})`;
  if (type.kind === 'any') throw new Error('Answers have no fields of any type.');
  return type.kind === 'record' || type.kind === 'textOr' ? `decode${type.name}` : `decode${goName(type.kind)}`;
}

function decodeFunction({ name, fields }: ApiRecord): string {
  const lines = fields.map((field) => {
    const isPointer = fieldType(field).startsWith('*');
    const how = field.nullable ? 'nullable' : field.required ? 'required' : isPointer ? 'optional' : 'orZero';
    return `\tdecoded.${goName(field.name)} = ${how}(o, "${field.name}", ${isCursor(field.name) ? 'decodeCursor' : decoder(field.type)})\n`;
  });
  return `func decode${name}(value any) (${name}, error) {
\tvar decoded ${name}
\to := objectOf(value)
${lines.join('')}\treturn decoded, o.err
}
`;
}

function errorTypes(types: readonly string[]): string {
  const width = Math.max(...types.map((type) => goName(type).length));
  const lines = types.map((type) => `\tType${goName(type).padEnd(width)} = "${type}"\n`);
  return `// The types of errors that this version of the service knows. Later versions may add some.\nconst (\n${lines.join('')})\n`;
}

/** Not yet formatted: \`gofmt\` aligns it. */
export function renderGoTypes(openapiText: string): string {
  const { answers, requests } = readRecords(openapiText);
  const all = new Map([...requests, ...answers].map((record) => [record.name, record]));
  const isAnswer = new Set(answers.map(({ name }) => name));
  const structs = [...all.values()]
    .filter(({ name }) => !BY_HAND.has(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return [
    HEAD,
    errorTypes(readErrorTypes(openapiText)),
    ...structs.map((record) => struct(record, !isAnswer.has(record.name))),
    ...answers.map(decodeFunction),
  ].join('\n');
}
