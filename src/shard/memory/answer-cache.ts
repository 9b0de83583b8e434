// Answers under rules, cached until the tenant's next commit of a grant or of rules, so that repeated checks and pages
// of listings are not evaluated again. Invariant: every answer is that of the present state. The commit that changes
// the state drops all of them in the same synchronous step, and an answer that depends on the time, because it met a
// grant that expires, is not cached.

import { bytesOfText } from './grant-page.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';

/** Divisor of the budget: of 256 MiB, one tenant's answers take 4 MiB at most, some 20,000 checks. */
const TENANT_SHARE = 64;
/** A page of more than this share of a tenant's bytes is not kept. */
const PAGE_SHARE = 8;
/** Estimated bytes of an answer, and of a string in a page, without characters. */
const ANSWER_BYTES = 80;
const TEXT_BYTES = 24;

interface Generation {
  readonly checks: Map<string, boolean>;
  readonly pages: Map<string, readonly string[]>;
  bytes: number;
}

/** `number`: of a built-in relation, or of a name that the present rules define. */
export const checkKey = (subject: string, number: number, object: string): string => `${number} ${subject} ${object}`;

const newGeneration = (): Generation => ({ checks: new Map(), pages: new Map(), bytes: 0 });

export class AnswerCache extends Evictable {
  readonly #budget: MemoryBudget;
  readonly #bytesMax: number;
  /** Recent answers; once they have half of the bytes, they replace the old ones. */
  #young = newGeneration();
  #old = newGeneration();
  #dropped = false;

  constructor(budget: MemoryBudget) {
    super();
    this.#budget = budget;
    this.#bytesMax = budget.bytesMax / TENANT_SHARE;
  }

  /** Whether a check with this key is authorized; undefined: it is not known. */
  check(key: string): boolean | undefined {
    const authorized = this.#young.checks.get(key);
    if (authorized !== undefined) return authorized;
    const previous = this.#old.checks.get(key);
    if (previous !== undefined) this.keepCheck(key, previous);
    return previous;
  }

  keepCheck(key: string, authorized: boolean): void {
    this.#young.checks.set(key, authorized);
    this.#grow(ANSWER_BYTES + bytesOfText(key));
  }

  page(key: string): readonly string[] | undefined {
    const texts = this.#young.pages.get(key);
    if (texts !== undefined) return texts;
    const previous = this.#old.pages.get(key);
    if (previous !== undefined) this.keepPage(key, previous);
    return previous;
  }

  keepPage(key: string, texts: readonly string[]): void {
    let bytes = ANSWER_BYTES + bytesOfText(key);
    for (const text of texts) bytes += TEXT_BYTES + bytesOfText(text);
    if (bytes > this.#bytesMax / PAGE_SHARE) return;
    this.#young.pages.set(key, texts);
    this.#grow(bytes);
  }

  /** Something was committed. */
  clear(): void {
    if (this.place < 0) return;
    this.#budget.remove(this);
    this.evict();
  }

  /** The tenure has ended. */
  drop(): void {
    this.clear();
    this.#dropped = true;
  }

  override evict(): void {
    this.#young = newGeneration();
    this.#old = newGeneration();
  }

  #grow(bytes: number): void {
    this.#young.bytes += bytes;
    if (this.#young.bytes > this.#bytesMax / 2) {
      this.#old = this.#young;
      this.#young = newGeneration();
    }
    const total = this.#young.bytes + this.#old.bytes;
    this.referenced = true;
    if (this.place >= 0) this.#budget.resize(this, total);
    else if (this.#dropped) this.evict();
    else this.#budget.add(this, total);
  }
}
