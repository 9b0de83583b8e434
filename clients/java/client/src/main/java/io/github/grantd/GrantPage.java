package io.github.grantd;

import java.util.List;

/**
 * One page of grants.
 *
 * @param grants ascending by relation, then by object or subject
 * @param nextCursor the cursor of the next page; null at the end
 * @param feedCursor where the change feed stood before the page was read: follow it from that of the first page
 */
public record GrantPage(List<Grant> grants, String nextCursor, String feedCursor) {}
