// The OpenAPI file as committed: with relative addresses, so it is the same on every machine.

import { createOperations } from '../operation-table.ts';
import type { JsonObject } from './headers.ts';
import { createOpenapiDocument } from './openapi.ts';

const none = (): void => {};
const never = (): Promise<never> => Promise.reject(new Error('Nothing is served here.'));

export function createCommittedOpenapi(): JsonObject {
  const operations = createOperations({
    clock: { wallMs: () => 0, monotonicMs: () => 0 },
    outcomes: { authorized: none, denied: none, failed: none },
    streams: { open: never, awaitPage: never },
    readOpenapiText: () => '',
  });
  return createOpenapiDocument(operations, { serverUrl: '/', errorsBase: '/errors' });
}

/** The text of docs/reference/openapi.json. */
export function committedOpenapiText(): string {
  return `${JSON.stringify(createCommittedOpenapi(), undefined, 2)}\n`;
}
