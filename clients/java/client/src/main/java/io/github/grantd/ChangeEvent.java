package io.github.grantd;

/**
 * One change, or a checkpoint, and the cursor behind it.
 *
 * @param cursor where a later run continues
 * @param change null: a checkpoint
 */
public record ChangeEvent(String cursor, Change change) {}
