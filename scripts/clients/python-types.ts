// Writes the types of the Python client: frozen dataclasses with their decoders for responses, typed dictionaries for
// requests.

import { type ApiRecord, type Field, type FieldType, isCursor, readRecords, wrapped } from './records.ts';

const HEAD = `"""The objects of the API, generated from docs/reference/openapi.json by \`npm run generate -- types\`.

An answer decodes into its dataclass only if it has every field that the API promises, of the promised type. Unknown
fields are ignored. What callers send are typed dictionaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypedDict, Union

from ._decode import (
    Json,
    boolean,
    cursor,
    integer,
    list_of,
    mapping,
    nullable,
    object_of,
    optional,
    required,
    text,
    text_or,
    time,
)
`;

const COLUMNS_MAX = 116;

const answerTypes = { text: 'str', time: 'datetime', integer: 'int', boolean: 'bool', map: 'Mapping[str, Any]' };
const requestTypes = { ...answerTypes, time: 'str' };

function typeName(type: FieldType, names: typeof answerTypes, list: string, suffix: string): string {
  if (type.kind === 'list') return `${list}[${typeName(type.of, names, list, suffix)}]`;
  if (type.kind === 'record' || type.kind === 'textOr') return `${type.name}${suffix}`;
  return type.kind === 'any' ? 'Any' : names[type.kind];
}

function decoderName(type: FieldType): string {
  if (type.kind === 'list') return `list_of(${decoderName(type.of)})`;
  if (type.kind === 'record') return `${type.name}.decode`;
  if (type.kind === 'textOr') return `text_or(${type.record}.decode)`;
  if (type.kind === 'any') throw new Error('Answers have no fields of any type.');
  return type.kind === 'map' ? 'mapping' : type.kind;
}

/** Wrapped, each line indented. */
const prose = (sentences: string, indent: string): string =>
  wrapped(sentences.replaceAll('\\', '\\\\'), COLUMNS_MAX, indent.slice(1));

function docstring(description: string, indent: string): string {
  if (description === '') return '';
  const text = prose(`"""${description}"""`, indent);
  return text.includes('\n') ? `${prose(`"""${description}`, indent)}\n${indent}"""\n` : `${text}\n`;
}

const isAbsentable = ({ required, nullable }: Field): boolean => !required || nullable;

function answerClass({ name, description, fields }: ApiRecord): string {
  // A field with a default must not precede one without.
  const ordered = [...fields.filter(({ required }) => required), ...fields.filter(({ required }) => !required)];
  const lines = ordered.map((field) => {
    const type = typeName(field.type, answerTypes, 'list', '');
    const declared = `    ${field.name}: ${type}${isAbsentable(field) ? ' | None' : ''}${field.required ? '' : ' = None'}`;
    return `${declared}\n${docstring(field.description, '    ')}`;
  });
  const decoders = ordered.map((field) => {
    const how = field.nullable ? 'nullable' : field.required ? 'required' : 'optional';
    const decoder = isCursor(field.name) ? 'cursor' : decoderName(field.type);
    return `            ${field.name}=${how}(known, "${field.name}", ${decoder}),`;
  });
  return `
@dataclass(frozen=True, slots=True)
class ${name}:
${docstring(description || 'An answer of the service.', '    ')}
${lines.join('')}
    @classmethod
    def decode(cls, value: Json) -> ${name}:
        known = object_of(value)
        return cls(
${decoders.join('\n')}
        )
`;
}

/** In two classes, since Python 3.10 has no way of saying that one key of a typed dictionary may be absent. */
function requestClass({ name, description, fields }: ApiRecord): string {
  const line = (field: Field): string => {
    const type = typeName(field.type, requestTypes, 'list', 'Dict');
    return `    ${field.name}: ${type}${field.nullable ? ' | None' : ''}\n`;
  };
  const needed = fields.filter(({ required }) => required).map(line);
  const others = fields.filter(({ required }) => !required).map(line);
  const doc = docstring(description || 'A request.', '    ');
  const dict = `${name}Dict`;
  if (others.length === 0) return `\nclass ${dict}(TypedDict):\n${doc}\n${needed.join('')}`;
  if (needed.length === 0) return `\nclass ${dict}(TypedDict, total=False):\n${doc}\n${others.join('')}`;
  return (
    `\nclass _${dict}(TypedDict):\n${needed.join('')}\n` +
    `\nclass ${dict}(_${dict}, total=False):\n${doc}\n${others.join('')}`
  );
}

const innermost = (type: FieldType): FieldType => (type.kind === 'list' ? innermost(type.of) : type);

/** What is a text or a record: below the classes, since it is evaluated at once. */
function unions(records: readonly ApiRecord[], suffix: string): string {
  const lines = records.flatMap(({ fields }) =>
    fields.flatMap(({ type }) => {
      const of = innermost(type);
      return of.kind === 'textOr' ? [`${of.name}${suffix}: TypeAlias = Union[str, ${of.record}${suffix}]`] : [];
    }),
  );
  return `\n${[...new Set(lines)].join('\n')}\n`;
}

/** Classes are used before they are declared only inside annotations and functions, which Python allows. */
export function renderPythonTypes(openapiText: string): string {
  const { answers, requests } = readRecords(openapiText);
  return [
    HEAD,
    ...answers.map(answerClass),
    unions(answers, ''),
    ...requests.map(requestClass),
    unions(requests, 'Dict'),
  ].join('\n');
}
