// Gathers the checks of one moment into bulk checks. Invariants: each check gets the result of its own question; a
// check fails only for an error of its own or of the whole request.

import { GrantdError, restated } from './error.ts';
import type { Question } from './generated/schemas.ts';

export interface CheckSender {
  one(question: Question): Promise<boolean>;
  /** One result for each question, in order. */
  many(questions: readonly Question[]): Promise<readonly boolean[]>;
}

interface PendingCheck {
  readonly question: Question;
  resolve(authorized: boolean): void;
  reject(error: unknown): void;
}

/** The bound of the service for one request. */
export const BULK_CHECKS_MAX = 100;

const PLACE = /checks\[(\d{1,2})\]/;

/** Whether the request was refused for some of its checks: one alone can be too large for all. */
const concernsElements = (error: unknown): error is GrantdError =>
  error instanceof GrantdError && (error.status === 400 || error.status === 413 || error.status === 422);

export class Gatherer {
  readonly #sender: CheckSender;
  /** Those of the current moment. They are sent before the next turn of the event loop. */
  #waiting: PendingCheck[] = [];

  constructor(sender: CheckSender) {
    this.#sender = sender;
  }

  check(question: Question): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      if (this.#waiting.length === 1) queueMicrotask(() => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let start = 0; start < waiting.length; start += BULK_CHECKS_MAX) {
      void this.#send(waiting.slice(start, start + BULK_CHECKS_MAX));
    }
  }

  /** Settles all checks, and never rejects. */
  async #send(waiting: readonly PendingCheck[]): Promise<void> {
    const [first] = waiting;
    if (first === undefined) return;
    try {
      if (waiting.length === 1) {
        first.resolve(await this.#sender.one(first.question));
        return;
      }
      const results = await this.#sender.many(waiting.map(({ question }) => question));
      for (const [index, { resolve, reject }] of waiting.entries()) {
        const authorized = results[index];
        if (authorized === undefined) reject(new GrantdError('invalid-response', 200, 'A check has no result.'));
        else resolve(authorized);
      }
    } catch (error) {
      if (waiting.length > 1 && concernsElements(error)) await this.#sendApart(waiting, error);
      else for (const { reject } of waiting) reject(error);
    }
  }

  /** The check that the error names fails with it; if it names none, the two halves are sent separately. */
  async #sendApart(waiting: readonly PendingCheck[], error: GrantdError): Promise<void> {
    const [, text] = PLACE.exec(error.detail) ?? [];
    const index = text === undefined ? -1 : Number(text);
    const named = waiting[index];
    if (named === undefined) {
      const middle = waiting.length >> 1;
      await Promise.all([this.#send(waiting.slice(0, middle)), this.#send(waiting.slice(middle))]);
      return;
    }
    named.reject(restated(error, error.type, error.detail.replaceAll(`checks[${index}].`, '')));
    await this.#send(waiting.filter((each) => each !== named));
  }
}
