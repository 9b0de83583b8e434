/** Shared by the artifacts of grantd. It is not part of their API, and changes without notice. */
package io.github.grantd.internal;
