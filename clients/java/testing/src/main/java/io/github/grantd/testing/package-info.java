/** The service in memory, for tests of applications that use the client: {@link io.github.grantd.testing.GrantdService}. */
package io.github.grantd.testing;
