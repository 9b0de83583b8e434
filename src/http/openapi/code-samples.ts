// The samples of each operation, as viewers of OpenAPI expect them (`x-codeSamples`). The one for curl is built from
// the example of the operation, so it is a request that the schemas accept. Address and key come from the environment.

import type { NamedTuple } from '../../rules/questions.ts';
import type { Operation } from '../operations/operation.ts';
import { type ClientSamples, checkBulkSamples, checkSamples, sampleJson } from './check-samples.ts';
import { CLIENT_SAMPLES } from './client-samples.ts';

export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** In single quotes, in which a shell changes nothing. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const pathOf = ({ path, pathParameters = {} }: Pick<Operation, 'path' | 'pathParameters'>): string =>
  Object.entries(pathParameters).reduce((text, [name, { example }]) => text.replace(`{${name}}`, example), path);

/** What a sample shows of an operation. */
type Sampled = Pick<Operation, 'method' | 'path' | 'pathParameters' | 'queryExamples'> & {
  readonly body: Pick<NonNullable<Operation['body']>, 'example'> | undefined;
};

function curlSample(operation: Sampled): string {
  const { method, body, queryExamples = {} } = operation;
  const query = Object.entries(body === undefined ? queryExamples : {});
  const isDefault = method === (body === undefined ? 'GET' : 'POST');
  const options = [
    `curl -sSw '\\n'${isDefault ? '' : ` -X ${method}`}${query.length > 0 ? ' -G' : ''} "$GRANTD_URL${pathOf(operation)}"`,
    '-H "Authorization: Bearer $GRANTD_KEY"',
    ...query.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(sampleJson(body.example))}`]),
  ];
  return options.join(' \\\n  ');
}

function samplesIn(curl: string, clients: ClientSamples | undefined): readonly CodeSample[] {
  return [
    { lang: 'Shell', label: 'curl', source: curl },
    ...(clients === undefined
      ? []
      : [
          { lang: 'TypeScript', label: 'TypeScript', source: clients.typescript },
          { lang: 'Go', label: 'Go', source: clients.go },
          { lang: 'Python', label: 'Python', source: clients.python },
        ]),
  ];
}

export function codeSamplesOf(operation: Operation): readonly CodeSample[] {
  return samplesIn(curlSample(operation), CLIENT_SAMPLES[operation.id]);
}

/** Of one check, or of several that are asked at one moment. */
export function codeSamplesOfChecks(questions: NamedTuple | readonly NamedTuple[]): readonly CodeSample[] {
  const call = { method: 'POST', pathParameters: {}, queryExamples: {} } as const;
  if ('subject' in questions) {
    const curl = curlSample({ ...call, path: '/v1/check', body: { example: questions } });
    return samplesIn(curl, checkSamples(questions));
  }
  const curl = curlSample({ ...call, path: '/v1/check/bulk', body: { example: { checks: questions } } });
  return samplesIn(curl, checkBulkSamples(questions));
}
