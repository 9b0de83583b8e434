// What can go wrong between this process and the API server of Kubernetes, in the words of the port.

import type { DiscoveryFailure } from '../discovery.ts';

/** Expired: the changes since that version are not kept any more; whoever asked has to list again. */
type ApiFailureKind = DiscoveryFailure | 'expired';

/** The message goes to the log, so it never holds what a configuration or a credential says. */
export class ApiFailure extends Error {
  readonly kind: ApiFailureKind;
  /** The HTTP status of the answer, where there was one. */
  readonly status: number | undefined;

  constructor(kind: ApiFailureKind, message: string, status?: number) {
    super(message);
    this.name = 'ApiFailure';
    this.kind = kind;
    this.status = status;
  }
}

/** The failure that an HTTP status, or a Status object with that code, stands for. */
export function failureOfStatus(status: number, message: string): ApiFailure {
  if (status === 401 || status === 403) return new ApiFailure('forbidden', message, status);
  if (status === 410) return new ApiFailure('expired', message, status);
  return new ApiFailure('refused', message, status);
}
