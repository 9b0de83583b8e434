package io.github.grantd;

import java.util.List;

/**
 * One page of a snapshot.
 *
 * @param grants the grants of the page
 * @param nextCursor the cursor of the next page; null at the end
 * @param feedCursor follow the change feed from that of the first page, with the same relations
 * @param seq once the feed has come so far on every page, snapshot and feed together are exactly the grants after that
 *     entry
 */
public record SnapshotPage(List<Grant> grants, String nextCursor, String feedCursor, long seq) {
    static SnapshotPage of(Request.Response got) {
        GrantList page = GrantList.decode(got.value());
        long seq = Fields.of(got.value()).required("seq", Fields::integer);
        String feedCursor = got.headers().firstValue("X-Service-Cursor").orElse("");
        return new SnapshotPage(page.grants(), page.nextCursor(), Fields.cursor(feedCursor), seq);
    }
}
