package io.github.grantd;

/**
 * One change, or a checkpoint, and the cursor behind it.
 *
 * @param cursor where a later run continues
 * @param change null: a checkpoint
 * @param seq only of a checkpoint: every change of the entries of the log up to this one that passes the query has been
 *     delivered, and no entry is half there by this measure; otherwise null
 */
public record ChangeEvent(String cursor, Change change, Long seq) {}
