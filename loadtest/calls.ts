// The requests of a load test; each response is compared with the known right one. Wrong responses and failures are
// counted, and the first one of each virtual user is logged in full.

import { vu } from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import type { Listing, Question, Tuple } from './data-set.ts';
import {
  failedRequests,
  type Operation,
  rightListings,
  rightNegatives,
  rightPositives,
  rightWrites,
} from './judgement.ts';
import type { Tenant } from './tenants.ts';

/** More would only repeat the first. */
const LOGGED_MAX = 1;
/** Longer than the deadline of the service, which then responds with an error. */
const TIMEOUT = '20s';
const INTERRUPTED = 'context canceled';

type Response = RefinedResponse<'text'>;
type Tags = Readonly<Record<string, string>>;

let logged = 0;

function log(text: string): void {
  if (logged >= LOGGED_MAX) return;
  logged += 1;
  console.error(text);
}

const describe = ({ status, headers, body }: Response): string =>
  `status ${status}, request id ${headers['X-Service-Request-Id'] ?? 'none'}, ${body}`;

interface Request {
  readonly operation: Operation;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly body: object | undefined;
  readonly expected: readonly number[];
}

/** The response, or why there is none. */
function exchange(tenant: Tenant, { method, url, body }: Request, tags: Tags): Response | Error {
  const headers = { Authorization: `Bearer ${tenant.key}`, 'Content-Type': 'application/json' };
  const params = { headers, tags, timeout: TIMEOUT, responseType: 'text' as const };
  try {
    return http.request(method, url, body === undefined ? null : JSON.stringify(body), params);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** A response with one of the expected statuses; undefined if there is none. */
function send(tenant: Tenant, request: Request, tags: Tags): Response | undefined {
  const { operation, expected } = request;
  // In the measurements, the name replaces the URL: a listing has another URL for each subject.
  const allTags = { ...tags, operation, name: operation };
  const response = exchange(tenant, request, allTags);
  if (!(response instanceof Error) && expected.includes(response.status)) {
    failedRequests.add(false, allTags);
    return response;
  }
  const failure = response instanceof Error ? response.message : describe(response);
  // The run ended while it was in flight: that says nothing about the service.
  if (failure.includes(INTERRUPTED)) return undefined;
  failedRequests.add(true, allTags);
  log(`${operation} of ${tenant.tenant_id} failed: ${failure}`);
  return undefined;
}

/** The fields of a response; none if it is not JSON. */
function parse(response: Response): Record<string, unknown> {
  try {
    return Object(JSON.parse(response.body));
  } catch {
    return {};
  }
}

export interface Caller {
  readonly baseUrl: string;
  readonly tenant: Tenant;
  /** Added to every request. */
  readonly tags?: Tags;
}

/** Any other answer is wrong, and so is `undefined`. */
function judge(asked: Question, authorized: unknown, response: Response, tags: Tags): void {
  const right = authorized === asked.authorized;
  (asked.authorized ? rightPositives : rightNegatives).add(right, tags);
  if (!right) log(`A wrong answer to ${JSON.stringify(asked)}: ${describe(response)}`);
}

export function askCheck({ baseUrl, tenant, tags = {} }: Caller, asked: Question): void {
  const url = `${baseUrl}/v1/check`;
  const response = send(tenant, { operation: 'check', method: 'POST', url, body: asked.tuple, expected: [200] }, tags);
  if (response !== undefined) judge(asked, parse(response).authorized, response, tags);
}

export function askBulk({ baseUrl, tenant, tags = {} }: Caller, asked: readonly Question[]): void {
  const body = { checks: asked.map(({ tuple }) => tuple) };
  const url = `${baseUrl}/v1/check/bulk`;
  const response = send(tenant, { operation: 'bulk', method: 'POST', url, body, expected: [200] }, tags);
  if (response === undefined) return;
  const { results } = parse(response);
  const answers: unknown[] = Array.isArray(results) && results.length === asked.length ? results : [];
  for (const [index, each] of asked.entries()) judge(each, Object(answers[index]).authorized, response, tags);
}

export function askListing({ baseUrl, tenant, tags = {} }: Caller, { subject, relation, objects }: Listing): void {
  const url = `${baseUrl}/v1/objects?subject=${encodeURIComponent(subject)}&relation=${relation}`;
  const request = { operation: 'list', method: 'GET', url, body: undefined, expected: [200] } as const;
  const response = send(tenant, request, tags);
  if (response === undefined) return;
  const answer = parse(response);
  const right = JSON.stringify(answer.objects) === JSON.stringify(objects) && answer.next_cursor === null;
  rightListings.add(right, tags);
  if (!right) log(`A wrong listing of ${subject}: ${describe(response)}`);
}

/** Whether the grant exists afterwards; undefined if that is unknown. */
export function changeGrant(
  { baseUrl, tenant, tags = {} }: Caller,
  tuple: Tuple,
  { granted, before }: { readonly granted: boolean; readonly before: boolean | undefined },
): boolean | undefined {
  const request = granted
    ? ({ operation: 'grant', method: 'POST', expected: [200, 201] } as const)
    : ({ operation: 'revoke', method: 'DELETE', expected: [204, 404] } as const);
  const response = send(tenant, { ...request, url: `${baseUrl}/v1/grants`, body: tuple }, tags);
  if (response === undefined) return undefined;
  // The response says whether it was a change. If the previous state is unknown, either is right.
  const changed = response.status === (granted ? 201 : 204);
  const right = before === undefined || changed === (before !== granted);
  rightWrites.add(right, tags);
  if (!right) log(`A wrong answer to a write: ${JSON.stringify({ ...tuple, granted, before })}: ${describe(response)}`);
  return granted;
}

/** Identifies this virtual user in the whole run, on however many machines. */
export const writerNumber = (): number => vu.idInTest;
