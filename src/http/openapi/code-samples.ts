// The samples of each operation, as viewers of OpenAPI expect them (`x-codeSamples`). The one for curl is built from
// the example of the operation, so it is a request that the schemas accept. Address and key come from the environment.

import type { Operation } from '../operations/operation.ts';
import { CLIENT_SAMPLES } from './client-samples.ts';

interface Sample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** In single quotes, in which a shell changes nothing. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const pathOf = ({ path, pathParameters = {} }: Operation): string =>
  Object.entries(pathParameters).reduce((text, [name, { example }]) => text.replace(`{${name}}`, example), path);

function curlSample(operation: Operation): string {
  const { method, body, queryExamples = {} } = operation;
  const query = Object.entries(body === undefined ? queryExamples : {});
  const isDefault = method === (body === undefined ? 'GET' : 'POST');
  const options = [
    `curl -sS${isDefault ? '' : ` -X ${method}`}${query.length > 0 ? ' -G' : ''} "$GRANTD_URL${pathOf(operation)}"`,
    '-H "Authorization: Bearer $GRANTD_KEY"',
    ...query.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body.example))}`]),
  ];
  return options.join(' \\\n  ');
}

export function codeSamplesOf(operation: Operation): readonly Sample[] {
  const samples = CLIENT_SAMPLES[operation.id];
  return [
    { lang: 'Shell', label: 'curl', source: curlSample(operation) },
    ...(samples === undefined
      ? []
      : [
          { lang: 'TypeScript', label: 'TypeScript', source: samples.typescript },
          { lang: 'Go', label: 'Go', source: samples.go },
          { lang: 'Python', label: 'Python', source: samples.python },
        ]),
  ];
}
