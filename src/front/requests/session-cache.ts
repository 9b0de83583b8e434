// The sessions that a front knows, by API key (or by tenant and operator). Invariants: a refused authentication leaves
// nothing behind; all requests for the same key share one authentication in flight; the number of sessions is bounded.

import type { GrantdError } from '../../core/errors.ts';
import type { ReceivedSettings } from '../../rpc/messages.ts';
import type { RequestContext } from '../front.ts';
import { AuthenticationRequest } from './flight-requests.ts';
import { Flight, type FlightControl } from './flights.ts';
import { RecentMap } from './recent-map.ts';
import { FrontSession, type SessionDependencies, type SessionIdentity } from './session.ts';

export interface SessionCacheOptions {
  /** Gets every session that was authenticated. */
  readonly tenants?: TenantSessions;
  /** The owner refuses a key that was known here. */
  readonly onLapsed?: (key: string) => void;
}

export type Credentials = Pick<
  SessionIdentity,
  'tenantId' | 'keyId' | 'authentication' | 'authenticationAtReader' | 'operator'
>;

/**
 * The sessions of each tenant, to tell them what its owner says about it. Held weakly: a session that the cache and all
 * requests have forgotten is gone, whether or not anybody says so.
 */
export class TenantSessions {
  readonly #byTenant = new Map<string, { sessions: WeakRef<FrontSession>[]; gone: number }>();
  readonly #collected = new FinalizationRegistry<string>((tenantId) => this.#noteGone(tenantId));

  add(session: FrontSession): void {
    const { tenantId } = session;
    const known = this.#byTenant.get(tenantId);
    const added = new WeakRef(session);
    if (known === undefined) this.#byTenant.set(tenantId, { sessions: [added], gone: 0 });
    else known.sessions.push(added);
    this.#collected.register(session, tenantId);
  }

  update(settings: ReceivedSettings): void {
    for (const session of this.#byTenant.get(settings.tenantId)?.sessions ?? []) {
      session.deref()?.updateSettings(settings);
    }
  }

  /** Those that are gone are left out once they are half of them, so that each costs little. */
  #noteGone(tenantId: string): void {
    const known = this.#byTenant.get(tenantId);
    if (known === undefined) return;
    known.gone += 1;
    if (2 * known.gone < known.sessions.length) return;
    known.sessions = known.sessions.filter((session) => session.deref() !== undefined);
    known.gone = 0;
    if (known.sessions.length === 0) this.#byTenant.delete(tenantId);
  }
}

export class SessionCache {
  readonly #dependencies: SessionDependencies;
  readonly #control: FlightControl;
  readonly #known: RecentMap<FrontSession>;
  readonly #options: SessionCacheOptions;
  /**
   * Sessions that authenticate for the first time. At most as many as flights: each is dropped with its last flight.
   */
  readonly #opening = new Map<string, FrontSession>();

  constructor(dependencies: SessionDependencies, sessionsMax: number, options: SessionCacheOptions = {}) {
    this.#dependencies = dependencies;
    this.#options = options;
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
        if (this.#close(key, session)) this.#options.tenants?.add(session);
        this.#known.set(key, session);
      },
      onRefused: (error: GrantdError) => {
        this.#close(key, session);
        if (error.retryable || this.#known.get(key) !== session) return;
        this.#known.delete(key);
        this.#options.onLapsed?.(key);
      },
      onAbandoned: () => this.#close(key, session),
    });
    return session;
  }

  /** Whether this was its first authentication. */
  #close(key: string, session: FrontSession): boolean {
    return this.#opening.get(key) === session && this.#opening.delete(key);
  }
}
