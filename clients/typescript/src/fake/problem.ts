// The errors of the fake: those that the service sends, with the same types and statuses.

import type { ServiceErrorType } from '../error.ts';

export class Refusal extends Error {
  readonly status: number;
  readonly type: ServiceErrorType;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(status: number, type: ServiceErrorType, detail: string, members: Readonly<Record<string, unknown>> = {}) {
    super(detail);
    this.status = status;
    this.type = type;
    this.members = members;
  }
}

export const invalidRequest = (detail: string): Refusal => new Refusal(400, 'invalid-request', detail);
