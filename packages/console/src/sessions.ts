// Sessions of the console's pages, in the memory of this process. Invariants: a session ends at log-out, 8 hours after
// the log-in, 30 minutes after the last page, or as soon as its token is removed or its access changes. A session of
// the identity provider ends an hour after the log-in. The number of sessions is bounded; beyond the bound, the one
// that has been idle longest ends.

import { timingSafeEqual } from 'node:crypto';
import type { Clock, Random } from '../../../src/core/async/clock.ts';
import type { Operator, OperatorAccess } from '../../../src/core/scopes.ts';
import { hashOperatorToken, type OperatorTokens } from '../../../src/operator/operator-tokens.ts';

const AGE_MS_MAX = 8 * 3_600_000;
/**
 * The provider is not asked again during a session, so an operator whom it no longer admits keeps access for this long.
 * The next log-in usually needs no input.
 */
const PROVIDER_AGE_MS_MAX = 3_600_000;
const IDLE_MS_MAX = 30 * 60_000;
/** Operators are few; each session takes less than a kilobyte. */
const SESSIONS_MAX = 1000;
const SECRET_BYTES = 32;

/** A form that undoes the action of the notice. */
export interface Undo {
  /** Where it is sent. */
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  /** What the button does, for screen readers. */
  readonly label: string;
}

/** The result of the last action. */
export interface Notice {
  readonly text: string;
  readonly undo: Undo | undefined;
}

/** The session of one log-in. The id is in the cookie, `csrf` in every form. */
export interface OperatorSession {
  readonly id: string;
  /** The name. */
  readonly operator: string;
  readonly access: OperatorAccess;
  readonly csrf: string;
  /** Shown once, on the next page. */
  notice: Notice | undefined;
}

interface Entry {
  readonly session: OperatorSession;
  readonly endsMs: number;
  /** Whether the credential of the log-in is still good for this session. */
  readonly holds: () => boolean;
  usedMs: number;
}

interface SessionDependencies {
  readonly tokens: OperatorTokens;
  readonly clock: Clock;
  readonly random: Random;
}

export class OperatorSessions {
  readonly #tokens: OperatorTokens;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #sessionsMax: number;
  /** By id, in the order of their last use. */
  readonly #entries = new Map<string, Entry>();

  constructor({ tokens, clock, random }: SessionDependencies, options: { readonly sessionsMax?: number } = {}) {
    this.#tokens = tokens;
    this.#clock = clock;
    this.#random = random;
    this.#sessionsMax = options.sessionsMax ?? SESSIONS_MAX;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Undefined if no operator has this token. */
  start(token: string): OperatorSession | undefined {
    return this.startBySha256(hashOperatorToken(token));
  }

  /** The same for the token with this SHA-256. */
  startBySha256(tokenSha256: string): OperatorSession | undefined {
    const operator = this.#tokens.operatorOf(tokenSha256);
    if (operator === undefined) return undefined;
    return this.#start(operator, AGE_MS_MAX, () => {
      const current = this.#tokens.operatorOf(tokenSha256);
      return current?.name === operator.name && current.access === operator.access;
    });
  }

  /** For an operator whom the identity provider has just confirmed. */
  startConfirmed(operator: Operator): OperatorSession {
    return this.#start(operator, PROVIDER_AGE_MS_MAX, () => true);
  }

  #start({ name, access }: Operator, ageMsMax: number, holds: () => boolean): OperatorSession {
    this.#forgetEnded();
    const session = { id: this.#secret(), operator: name, access, csrf: this.#secret(), notice: undefined };
    const nowMs = this.#clock.monotonicMs();
    const entry = { session, holds, endsMs: nowMs + ageMsMax, usedMs: nowMs };
    this.#entries.set(session.id, entry);
    for (const id of this.#entries.keys()) {
      if (this.#entries.size <= this.#sessionsMax) break;
      this.#entries.delete(id);
    }
    return session;
  }

  /** `active`: the operator made the request; requests that a page sends by itself do not extend the session. */
  find(id: string, active: boolean): OperatorSession | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    if (this.#hasEnded(entry)) {
      this.#entries.delete(id);
      return undefined;
    }
    if (active) {
      entry.usedMs = this.#clock.monotonicMs();
      this.#entries.delete(id);
      this.#entries.set(id, entry);
    }
    return entry.session;
  }

  end(id: string): void {
    this.#entries.delete(id);
  }

  #secret(): string {
    return Buffer.from(this.#random.bytes(SECRET_BYTES)).toString('base64url');
  }

  #hasEnded({ endsMs, usedMs, holds }: Entry): boolean {
    const nowMs = this.#clock.monotonicMs();
    return nowMs >= endsMs || nowMs - usedMs >= IDLE_MS_MAX || !holds();
  }

  /** Sessions that were idle for too long come first; the others are detected when they are used. */
  #forgetEnded(): void {
    for (const [id, entry] of this.#entries) {
      if (!this.#hasEnded(entry)) return;
      this.#entries.delete(id);
    }
  }
}

/** Whether a form was rendered in this session. */
export function isFormOf(session: OperatorSession, csrf: string | undefined): boolean {
  const given = Buffer.from(csrf ?? '', 'utf8');
  const wanted = Buffer.from(session.csrf, 'utf8');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
