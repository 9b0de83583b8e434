/** The client of grantd. It begins with {@link io.github.grantd.Grantd}, and needs nothing but the JDK. */
package io.github.grantd;
