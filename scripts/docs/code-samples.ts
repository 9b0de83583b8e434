// The samples of each operation. The one for curl is built from the example of the operation, so it is a request that
// the schemas accept. Address and key come from the environment.

import { PATH_PARAMETERS } from '../../src/http/openapi/headers.ts';
import type { OperationDescription } from '../../src/http/schema/operation-description.ts';
import { CLIENT_SAMPLES } from './client-samples.ts';
import { JAVA_SAMPLES } from './java-samples.ts';

export interface CodeSample {
  readonly label: string;
  readonly source: string;
}

/** In single quotes, in which a shell changes nothing. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function curlSample({ method, path, body, queryExamples = {} }: OperationDescription): string {
  const parameters = Object.entries(PATH_PARAMETERS);
  const target = parameters.reduce((text, [name, { example }]) => text.replace(`{${name}}`, example), path);
  const query = Object.entries(body === undefined ? queryExamples : {});
  const isDefault = method === (body === undefined ? 'GET' : 'POST');
  const options = [
    `curl -sSw '\\n'${isDefault ? '' : ` -X ${method}`}${query.length > 0 ? ' -G' : ''} "$GRANTD_URL${target}"`,
    '-H "Authorization: Bearer $GRANTD_KEY"',
    ...query.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body.example))}`]),
  ];
  return options.join(' \\\n  ');
}

export function codeSamplesOf(operation: OperationDescription): readonly CodeSample[] {
  const { typescript = '', go = '', python = '' } = CLIENT_SAMPLES[operation.id] ?? {};
  const clients = { TypeScript: typescript, Go: go, Python: python, Java: JAVA_SAMPLES[operation.id] ?? '' };
  return Object.entries({ curl: curlSample(operation), ...clients })
    .filter(([, source]) => source !== '')
    .map(([label, source]) => ({ label, source }));
}
