// The sessions that a front knows, by API key (or by tenant and operator). Invariants: a refused authentication leaves
// nothing behind; all requests for the same key share one authentication in flight; the number of sessions is bounded.

import type { GrantdError } from '../../core/errors.ts';
import type { RequestContext } from '../front.ts';
import { AuthenticationRequest } from './flight-requests.ts';
import { Flight, type FlightControl } from './flights.ts';
import { RecentMap } from './recent-map.ts';
import { FrontSession, type SessionDependencies, type SessionIdentity } from './session.ts';

export type Credentials = Pick<
  SessionIdentity,
  'tenantId' | 'keyId' | 'authentication' | 'authenticationAtReader' | 'operator'
>;

export class SessionCache {
  readonly #dependencies: SessionDependencies;
  readonly #control: FlightControl;
  readonly #known: RecentMap<FrontSession>;
  readonly #onLapsed: (key: string) => void;
  /**
   * Sessions that authenticate for the first time. At most as many as flights: each is dropped with its last flight.
   */
  readonly #opening = new Map<string, FrontSession>();

  /** `onLapsed`: the owner refuses a key that was known here. */
  constructor(dependencies: SessionDependencies, sessionsMax: number, onLapsed: (key: string) => void = () => {}) {
    this.#dependencies = dependencies;
    this.#onLapsed = onLapsed;
    this.#control = dependencies.control;
    this.#known = new RecentMap(sessionsMax);
  }

  get size(): number {
    return this.#known.size;
  }

  get(key: string): FrontSession | undefined {
    return this.#known.get(key);
  }

  /** Whether a first authentication of the key is in flight: a further one joins it. */
  isOpening(key: string): boolean {
    return this.#opening.has(key);
  }

  /** Authenticates a key that is not known. Rejects with the owner's error, or with `unavailable`. */
  open(context: RequestContext, key: string, credentialsOf: () => Credentials): Promise<FrontSession> {
    let session = this.#opening.get(key);
    if (session === undefined) {
      session = this.#create(key, credentialsOf());
      this.#opening.set(key, session);
    }
    const opening = session;
    return new Promise((resolve, reject) => {
      const request = new AuthenticationRequest(() => resolve(opening), reject);
      this.#control.flights.start(new Flight(this.#control, context, opening, request));
    });
  }

  #create(key: string, credentials: Credentials): FrontSession {
    const session: FrontSession = new FrontSession(this.#dependencies, {
      ...credentials,
      onGranted: () => {
        this.#close(key, session);
        if (!session.expired) this.#known.set(key, session);
      },
      onRefused: (error: GrantdError) => {
        this.#close(key, session);
        if (error.retryable || this.#known.get(key) !== session) return;
        this.#known.delete(key);
        this.#onLapsed(key);
      },
      onAbandoned: () => this.#close(key, session),
    });
    return session;
  }

  /** Forgets the session, unless another one has taken its place. */
  forget(key: string, session: FrontSession): void {
    if (this.#known.get(key) === session) this.#known.delete(key);
  }

  #close(key: string, session: FrontSession): void {
    if (this.#opening.get(key) === session) this.#opening.delete(key);
  }
}
