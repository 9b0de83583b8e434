package io.github.grantd;

import java.sql.SQLException;
import java.util.Map;

/** The mirror of grants has no answer now. The same call can succeed later. Its cause is the error of the database. */
public final class MirrorException extends GrantdException {
    private static final long serialVersionUID = 1;

    private static final Map<String, String> REASONS =
        Map.of("GR001", "behind", "GR002", "stale", "GR003", "other-rules", "GR004", "not-ready");

    /** Without the type's prefix. */
    private final String reason;

    private MirrorException(String reason, SQLException cause) {
        super(Failure.mirror(reason, cause));
        this.reason = reason;
    }

    /** The error of the database, if it is none of a mirror. */
    static MirrorException of(SQLException error) throws SQLException {
        String reason = error.getSQLState() == null ? null : REASONS.get(error.getSQLState());
        if (reason == null) throw error;
        return new MirrorException(reason, error);
    }

    /**
     * Why: {@code behind} (it has not come as far as the sets of the subject), {@code stale} (it no longer has their
     * moment), {@code other-rules} (the rules have changed, and it is about to follow) or {@code not-ready} (it is being
     * made). The type is {@code mirror-} and the reason.
     *
     * @return the reason
     */
    public String reason() {
        return reason;
    }

    /** Newer sets may help. */
    boolean isWorthAsking() {
        return reason.equals("stale") || reason.equals("other-rules");
    }
}
