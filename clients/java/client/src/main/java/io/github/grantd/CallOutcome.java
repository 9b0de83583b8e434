package io.github.grantd;

/**
 * How a call ended.
 *
 * @param status of the last response, or 0 if there was none
 * @param requestId of the last response, or null
 * @param attempts how many requests were sent
 * @param error null if the call succeeded
 */
public record CallOutcome(int status, String requestId, int attempts, GrantdException error) {}
