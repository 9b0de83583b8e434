// The samples of each operation. The one for curl is built from the example of the operation, so it is a request that
// the schemas accept; those for the clients are in client-samples.md. Address and key come from the environment.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationDescription } from '../../src/http/schema/operation-description.ts';

export interface CodeSample {
  readonly label: string;
  /** As in a fenced block of Markdown. */
  readonly language: string;
  readonly source: string;
}

const LABELS = new Map([
  ['ts', 'TypeScript'],
  ['go', 'Go'],
  ['python', 'Python'],
  ['java', 'Java'],
]);

const CLIENT_SAMPLES: ReadonlyMap<string, readonly CodeSample[]> = new Map(
  readFileSync(join(import.meta.dirname, 'client-samples.md'), 'utf8')
    .split(/^## /m)
    .map((section) => [
      section.slice(0, section.indexOf('\n')),
      [...section.matchAll(/^```(\w+)\n(.*?)\n```$/gms)].map(([, language = '', source = '']) => {
        return { label: LABELS.get(language) ?? language, language, source };
      }),
    ]),
);

/** In single quotes, in which a shell changes nothing. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function curlSample({ method, path, pathParameters = {}, body, queryExamples = {} }: OperationDescription): string {
  const parameters = Object.entries(pathParameters);
  const target = parameters.reduce((text, [name, { example }]) => text.replace(`{${name}}`, example), path);
  const query = Object.entries(body === undefined ? queryExamples : {});
  const isDefault = method === (body === undefined ? 'GET' : 'POST');
  const options = [
    `curl -sSw '\\n'${isDefault ? '' : ` -X ${method}`}${query.length > 0 ? ' -G' : ''} "$GRANTD_URL${target}"`,
    '-H "Authorization: Bearer $GRANTD_KEY"',
    ...query.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ...(body === undefined
      ? []
      : body.text === undefined
        ? ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body.example))}`]
        : [`-H 'Content-Type: ${body.text.contentType}'`, `--data-binary ${quoted(String(body.text.example))}`]),
  ];
  return options.join(' \\\n  ');
}

export const codeSamplesOf = (operation: OperationDescription): readonly CodeSample[] => [
  { label: 'curl', language: 'sh', source: curlSample(operation) },
  ...(CLIENT_SAMPLES.get(operation.id) ?? []),
];
