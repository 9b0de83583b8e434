// A tenant of the service that all tests of this module share.

package io.github.grantd;

import io.github.grantd.testing.GrantdService;

final class TestTenant {
    /** It ends with this process. */
    static final GrantdService SERVICE = GrantdService.start();

    private final String key = SERVICE.newKey();

    Grantd client() {
        return builder().build();
    }

    GrantdBuilder builder() {
        return SERVICE.builder().key(key);
    }
}
