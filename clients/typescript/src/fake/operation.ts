// The request and response of an operation of the fake.

import type { Scope } from '../generated/schemas.ts';
import type { Actor, FakeState } from './state.ts';

export interface FakeRequest {
  readonly state: FakeState;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** Parsed; undefined without a body. */
  readonly body: unknown;
  readonly actor: Actor;
  /** The last segment of the path, where the operation has one. */
  readonly id: string;
  readonly signal: AbortSignal | undefined;
}

export interface FakeResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly stream?: ReadableStream<Uint8Array>;
}

export interface FakeOperation {
  readonly scope: Scope | undefined;
  readonly answer: (request: FakeRequest) => FakeResponse;
}

export const ok = (body: unknown, headers: Readonly<Record<string, string>> = {}): FakeResponse => ({
  status: 200,
  body,
  headers,
});
