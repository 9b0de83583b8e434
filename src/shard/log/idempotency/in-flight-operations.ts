// Operations that are queued or being appended, by operation id: a repeat in that time gets the promise of the first.

import type { OperationResult } from '../write-decisions.ts';

type Pending = Promise<OperationResult>;

export class InFlightOperations {
  /** Most requests have one operation; a call with many has a map of its own. */
  readonly #byRequest = new Map<string, { readonly index: number; readonly pending: Pending } | Map<number, Pending>>();

  get(requestId: string, index: number): Pending | undefined {
    const found = this.#byRequest.get(requestId);
    if (found instanceof Map) return found.get(index);
    return found?.index === index ? found.pending : undefined;
  }

  /** The operation must not be in flight yet. */
  set(requestId: string, index: number, pending: Pending): void {
    const found = this.#byRequest.get(requestId);
    if (found === undefined) this.#byRequest.set(requestId, { index, pending });
    else if (found instanceof Map) found.set(index, pending);
    else {
      this.#byRequest.set(
        requestId,
        new Map([
          [found.index, found.pending],
          [index, pending],
        ]),
      );
    }
  }

  delete(requestId: string, index: number): void {
    const found = this.#byRequest.get(requestId);
    if (found instanceof Map) {
      found.delete(index);
      if (found.size > 0) return;
    } else if (found?.index !== index) {
      return;
    }
    this.#byRequest.delete(requestId);
  }
}
