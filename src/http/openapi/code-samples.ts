// The samples of each operation, as viewers of OpenAPI expect them (`x-codeSamples`). The one for curl is built from
// the example of the operation, so it is a request that the schemas accept. Address and key come from the environment.

import type { JsonObject } from '../../core/json-members.ts';
import type { NamedTuple } from '../../rules/questions.ts';
import type { OperationDescription } from '../schema/operation-description.ts';
import { CLIENT_SAMPLES, type ClientSamples, checkBulkSamples, checkSamples, sampleJson } from './client-samples.ts';
import { PATH_PARAMETERS } from './headers.ts';
import { JAVA_SAMPLES, javaCheck, javaCheckBulk } from './java-samples.ts';

export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** In single quotes, in which a shell changes nothing. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The parts of an operation that a sample shows. */
type Sampled = Pick<OperationDescription, 'method' | 'path' | 'queryExamples'> & {
  readonly body?: Pick<NonNullable<OperationDescription['body']>, 'example'>;
};

function curlSample({ method, path, body, queryExamples = {} }: Sampled): string {
  const parameters = Object.entries(PATH_PARAMETERS);
  const target = parameters.reduce((text, [name, { example }]) => text.replace(`{${name}}`, example), path);
  const query = Object.entries(body === undefined ? queryExamples : {});
  const isDefault = method === (body === undefined ? 'GET' : 'POST');
  const options = [
    `curl -sSw '\\n'${isDefault ? '' : ` -X ${method}`}${query.length > 0 ? ' -G' : ''} "$GRANTD_URL${target}"`,
    '-H "Authorization: Bearer $GRANTD_KEY"',
    ...query.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(sampleJson(body.example))}`]),
  ];
  return options.join(' \\\n  ');
}

const CLIENTS = [
  ['TypeScript', 'typescript'],
  ['Go', 'go'],
  ['Python', 'python'],
  ['Java', 'java'],
] as const;

type Samples = ClientSamples & { readonly java: string };

const samplesIn = (curl: string, clients: Samples | undefined): readonly CodeSample[] => [
  { lang: 'Shell', label: 'curl', source: curl },
  ...(clients === undefined ? [] : CLIENTS.map(([lang, name]) => ({ lang, label: lang, source: clients[name] }))),
];

export function codeSamplesOf(operation: OperationDescription): readonly CodeSample[] {
  const clients = CLIENT_SAMPLES[operation.id];
  const java = JAVA_SAMPLES[operation.id];
  const samples = clients === undefined || java === undefined ? undefined : { ...clients, java };
  return samplesIn(curlSample(operation), samples);
}

/**
 * The samples of one check, or of several in one call. `context`: the members `context` and `context_grants`, which
 * only the sample for curl shows.
 */
export function codeSamplesOfChecks(
  questions: NamedTuple | readonly NamedTuple[],
  context: JsonObject = {},
): readonly CodeSample[] {
  const [path, body, samples] =
    'subject' in questions
      ? ['/v1/check', questions, () => ({ ...checkSamples(questions), java: javaCheck(questions) })]
      : [
          '/v1/check/bulk',
          { checks: questions },
          () => ({ ...checkBulkSamples(questions), java: javaCheckBulk(questions) }),
        ];
  const curl = curlSample({ method: 'POST', path, body: { example: { ...body, ...context } } });
  return samplesIn(curl, Object.keys(context).length === 0 ? samples() : undefined);
}
