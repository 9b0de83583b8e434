// Responses that the fault proxy gives in place of the service: as a case writes them, or a problem as the service
// would send it.

import { ERROR_CATALOGUE, isErrorCode } from '../../../src/core/errors.ts';
import type { Fault } from './fault-proxy.ts';

interface InventedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const REQUEST_ID = 'req_01jhm9r0g0e8xsg4k6t2v8w0yb';

function problem(code: string, { retry_after: retryAfter, members }: Fault): InventedResponse {
  if (!isErrorCode(code)) throw new Error(`There is no error type ${code}.`);
  const { httpStatus: status, title } = ERROR_CATALOGUE[code];
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'x-service-request-id': REQUEST_ID,
      ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    },
    body: JSON.stringify({
      type: `https://errors.example/${code}`,
      title,
      status,
      detail: 'As the case says.',
      instance: REQUEST_ID,
      ...members,
    }),
  };
}

export function invented(fault: Fault): InventedResponse {
  if (fault.problem !== undefined) return problem(fault.problem, fault);
  const body =
    fault.body ??
    fault.ndjson?.map((line) => `${JSON.stringify(line)}\n`).join('') ??
    (fault.json === undefined ? '' : JSON.stringify(fault.json));
  return {
    status: fault.status ?? 200,
    headers: { 'content-type': 'application/json', 'x-service-request-id': REQUEST_ID, ...fault.headers },
    body,
  };
}
