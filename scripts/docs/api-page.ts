// Renders docs/reference/api.md from the OpenAPI document and the samples of the clients.

import { ERROR_CATALOGUE, type ErrorCode } from '../../src/core/errors.ts';
import { createCommittedOpenapi } from '../../src/http/openapi/openapi.ts';
import { renderTable } from './markdown-table.ts';
import {
  type Field,
  type ReferenceBody,
  type ReferenceOperation,
  type ReferenceType,
  readReference,
} from './reference.ts';

const fenced = (language: string, text: string): string[] => [`\`\`\`${language}`, text, '```', ''];

/** The text of a cell: without line ends. */
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

function typeText({ type, refers, place }: Field): string {
  const linked = type
    .split(/(?<= )|(?= )/)
    .map((word) => (refers.includes(word) ? `[${word}](#${word.toLowerCase()})` : word))
    .join('');
  return place === undefined || place === 'query' ? linked : `${linked}, in ${place}`;
}

function fieldTable(title: string, fields: readonly Field[]): string[] {
  if (fields.length === 0) return [];
  const rows = fields.map((field) => [
    `\`${field.name}\`${field.required ? '' : ', optional'}`,
    typeText(field),
    flat(field.description),
  ]);
  return [`${title}:`, '', ...renderTable(['Name', 'Type', 'Meaning'], rows), ''];
}

function bodyText(title: string, { fields, description, example, contentType }: ReferenceBody): string[] {
  const language = contentType.includes('json') ? 'json' : 'text';
  const code = example === undefined ? [] : fenced(language, example);
  return [
    ...fieldTable(title, fields),
    ...(description === '' ? [] : [flat(description), '']),
    ...(fields.length === 0 && code.length > 0 ? [`${title}:`, ''] : []),
    ...code,
  ];
}

const errorText = (code: ErrorCode): string => `${ERROR_CATALOGUE[code].httpStatus} [\`${code}\`](errors.md)`;

function operationText(operation: ReferenceOperation): string[] {
  const { method, path, summary, description, parameters, body, successes, errors, samples } = operation;
  return [
    `### ${summary}`,
    '',
    `\`${method} ${path}\``,
    '',
    description,
    '',
    ...samples.flatMap(({ language, source }) => fenced(language, source)),
    ...fieldTable('Parameters', parameters),
    ...(body === undefined ? [] : bodyText('Request body', body)),
    ...successes.flatMap(({ status, description: meaning, bodies }) => [
      `**${status}** ${flat(meaning)}`,
      '',
      ...bodies.flatMap((each) => bodyText(`Response, \`${each.contentType}\``, each)),
    ]),
    ...(errors.length === 0 ? [] : [`Errors of its own: ${errors.map(errorText).join(', ')}.`, '']),
  ];
}

const typeSection = ({ name, type, description, fields }: ReferenceType): string[] => [
  `### ${name}`,
  '',
  ...(fields.length === 0 ? [`${type[0]?.toUpperCase()}${type.slice(1)}.`, ''] : []),
  ...(description === '' ? [] : [flat(description), '']),
  ...fieldTable('Fields', fields),
];

export function renderApiPage(): string {
  const { sections, types, description, version, commonErrors } = readReference(createCommittedOpenapi());
  return [
    '# The API',
    '',
    '<!-- Made by `npm run generate -- docs` from the operations in src/http. -->',
    '',
    `Version ${version} of the interface, which [counts apart](versioning.md) from the version of the program. Every front`,
    'shows it at `/docs` with forms that send requests, and serves it for machines at `/openapi.json` ([a copy](openapi.json)).',
    '',
    description,
    '',
    'The samples take the address of the service and an API key from the environment. `grantd` and `client` are clients',
    'made from the two.',
    '',
    ...fenced('text', 'export GRANTD_URL=http://127.0.0.1:8080\nexport GRANTD_KEY=gk1_…'),
    ...sections.flatMap((section) => [
      `- [${section.name}](#${section.name.toLowerCase()}): ${section.operations
        .map(
          ({ summary }) =>
            `[${summary}](#${summary
              .toLowerCase()
              .replaceAll(/[^a-z0-9 -]/g, '')
              .replaceAll(' ', '-')})`,
        )
        .join(', ')}`,
    ]),
    '- [Types](#types)',
    '',
    ...sections.flatMap((section) => [
      `## ${section.name}`,
      '',
      section.description,
      '',
      ...section.operations.flatMap(operationText),
    ]),
    '## Types',
    '',
    ...types.flatMap(typeSection),
    '## Errors of every operation',
    '',
    'Errors are [problem documents](errors.md). Every request can meet these, and those of its own:',
    `${commonErrors.map(errorText).join(', ')}.`,
    '',
  ].join('\n');
}
