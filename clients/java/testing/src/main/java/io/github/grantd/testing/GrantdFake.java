package io.github.grantd.testing;

import io.github.grantd.Grantd;
import io.github.grantd.GrantdBuilder;
import java.time.Clock;

/**
 * A grantd in memory, for tests. Its client is the real one: it gathers, decodes and fails as it does over the network. The
 * service keeps one tenant, without the limits of a plan, with rules and the change feed, but without gates, conditions and
 * relations of its own. It needs no network and no end.
 */
public final class GrantdFake {
    private final Tenant tenant = new Tenant();
    private final String key = tenant.addKey("", Administration.SCOPES, null).text();

    /** An empty tenant. */
    public GrantdFake() {}

    /**
     * A client with a key that has all scopes.
     *
     * @return the client
     */
    public Grantd client() {
        return builder().build();
    }

    /**
     * A client with other settings: address, key and transport are those of the fake.
     *
     * @return the builder
     */
    public GrantdBuilder builder() {
        return Grantd.builder().url("http://grantd.test").key(key).httpClient(new FakeHttpClient(tenant));
    }

    /**
     * The clock of the service, for instance to let grants expire.
     *
     * @param clock the new one
     */
    public void setClock(Clock clock) {
        tenant.clock = clock;
    }

    /**
     * Turns on or off a 503 for every call, to test how an application handles an outage.
     *
     * @param isUnavailable whether every call fails
     */
    public void setUnavailable(boolean isUnavailable) {
        synchronized (tenant) {
            tenant.isUnavailable = isUnavailable;
        }
    }
}
