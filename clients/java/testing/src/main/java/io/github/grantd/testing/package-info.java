/** A grantd in memory, for tests of applications that use the client: {@link io.github.grantd.testing.GrantdFake}. */
package io.github.grantd.testing;
