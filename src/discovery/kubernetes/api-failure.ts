// Failures between this process and the API server of Kubernetes, in the terms of the port.

import type { DiscoveryFailure } from '../discovery.ts';

/** Expired: the changes since that version are no longer kept; the client must list again. */
type ApiFailureKind = DiscoveryFailure | 'expired';

/** The message goes to the log, so it never contains a configuration or a credential. */
export class ApiFailure extends Error {
  readonly kind: ApiFailureKind;
  /** The HTTP status of the response, if there was one. */
  readonly status: number | undefined;

  constructor(kind: ApiFailureKind, message: string, status?: number) {
    super(message);
    this.name = 'ApiFailure';
    this.kind = kind;
    this.status = status;
  }
}

/** The failure for an HTTP status, or for a Status object with that code. */
export function failureOfStatus(status: number, message: string): ApiFailure {
  if (status === 401 || status === 403) return new ApiFailure('forbidden', message, status);
  if (status === 410) return new ApiFailure('expired', message, status);
  return new ApiFailure('refused', message, status);
}
