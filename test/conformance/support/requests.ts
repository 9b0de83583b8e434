// A request that an operation takes, by its documentation.

import type { OperationDescription } from '../../../src/http/schema/operation-description.ts';

export interface DocumentedRequest {
  readonly method: string;
  readonly path: string;
  /** In the query, if the operation is asked by it. */
  readonly search: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** `tenantId`: for a path that names a tenant. */
export function requestOf(
  { method, path, pathParameters = {}, queryExamples = {}, body }: OperationDescription,
  tenantId = '',
): DocumentedRequest {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => pathParameters[name]?.example ?? tenantId);
  if (body === undefined) return { method, path: filled, search: `?${new URLSearchParams(queryExamples)}` };
  const { example, contentType = 'application/json' } = body;
  const text = typeof example === 'string' ? example : JSON.stringify(example);
  return { method, path: filled, search: '', body: text, headers: { 'content-type': contentType } };
}
