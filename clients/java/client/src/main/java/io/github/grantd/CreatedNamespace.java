package io.github.grantd;

import java.time.Instant;

/**
 * A namespace of the tenant.
 *
 * @param name the part of subjects and objects before the first colon
 * @param createdAt when it was created
 * @param created whether this call has created it
 */
public record CreatedNamespace(String name, Instant createdAt, boolean created) {}
