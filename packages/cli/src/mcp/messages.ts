// One message of the protocol, read as strictly as the HTTP API reads bodies, whatever carries it. Invariant: what is
// wrong with it is said, and nothing of it is left out or repaired.

import { INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, type RequestId } from '@modelcontextprotocol/server';
import { isJsonObject } from '../../../../src/core/json-members.ts';
import { JSON_DEPTH_MAX, RULES_JSON_VALUES_MAX } from '../../../../src/core/limits.ts';
import { JsonScanner } from '../../../../src/core/text/json-scanner.ts';

/** A rule set has 128 KiB at most, and is the largest that a tool takes. */
export const MESSAGE_BYTES_MAX = 1024 * 1024;
/** Those of a request to the service, and of what is around it: the message, its params, a tool's arguments. */
const BOUNDS = { depthMax: JSON_DEPTH_MAX + 3, valuesMax: RULES_JSON_VALUES_MAX + 32 };

export interface Refusal {
  readonly code: number;
  readonly message: string;
}

export const parseError = (message: string): Refusal => ({ code: PARSE_ERROR, message });
export const invalidRequest = (message: string): Refusal => ({ code: INVALID_REQUEST, message });
export const invalidParams = (message: string): Refusal => ({ code: INVALID_PARAMS, message });

export const isRequestId = (id: unknown): id is RequestId => typeof id === 'string' || Number.isSafeInteger(id);

/** Null: it is unknown which request it would answer. */
export function idOf(value: unknown): RequestId | null {
  const id = isJsonObject(value) ? value.id : undefined;
  return isRequestId(id) ? id : null;
}

/** The libraries behind leave out a member of this name. */
function hasProto(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProto);
}

/** What is wrong with a message before anyone looks at its method. */
export function refusalOf(value: unknown): Refusal | undefined {
  if (!isJsonObject(value)) return invalidRequest('A message must be a JSON object.');
  if (hasProto(value)) return invalidRequest('No member may have the name "__proto__".');
  if (value.jsonrpc !== '2.0') return invalidRequest('"jsonrpc" must be "2.0".');
  if ('id' in value && !isRequestId(value.id)) return invalidRequest('"id" must be a string or a whole number.');
  const isResponse = !('method' in value) && ('result' in value || 'error' in value);
  if (isResponse) return undefined;
  if (typeof value.method !== 'string') return invalidRequest('"method" must be a string.');
  if ('params' in value && !isJsonObject(value.params)) return invalidParams('"params" must be an object.');
  return unknownTool(value.method, value.params);
}

/** The library looks tools up in an object, and finds what every object inherits. */
function unknownTool(method: string, params: unknown): Refusal | undefined {
  const name = method === 'tools/call' && isJsonObject(params) ? params.name : undefined;
  return typeof name === 'string' && name in Object.prototype ? invalidParams(`Tool ${name} not found`) : undefined;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const scan = (text: string): unknown => new JsonScanner(text, BOUNDS, 'The message').step(text.length);

/** The scanner says where, which the parser does not always do. */
function whyNoJson(text: string, error: unknown): string {
  try {
    scan(text);
  } catch (refusal) {
    return reasonOf(refusal);
  }
  return reasonOf(error);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export type ReadText =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'blank' }
  | { readonly kind: 'refused'; readonly id: RequestId | null; readonly refusal: Refusal };

/** The JSON of a message, or of a batch. */
export function readText(bytes: Uint8Array): ReadText {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { kind: 'refused', id: null, refusal: parseError('The message is not UTF-8.') };
  }
  if (text.trim() === '') return { kind: 'blank' };
  let value: unknown;
  try {
    value = JSON.parse(text);
    scan(text);
    return { kind: 'value', value };
  } catch (error) {
    const code = value === undefined ? PARSE_ERROR : INVALID_REQUEST;
    return { kind: 'refused', id: idOf(value), refusal: { code, message: whyNoJson(text, error) } };
  }
}
