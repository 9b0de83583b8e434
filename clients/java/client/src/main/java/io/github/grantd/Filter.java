package io.github.grantd;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;

/**
 * A condition for a query on Postgres: exactly the rows that the subject may see at one moment meet it.
 *
 * @param sql for the WHERE, with a {@code ?} for each value
 * @param values texts and whole numbers; {@link #bind} sets them
 * @param form {@code objects}: a list of ids. {@code rows}: a function of each row, which the query of the application may
 *     end with an error of the SQLSTATE {@code GR002} or {@code GR003} if it comes late: ask for another filter then
 * @param at the moment of the list
 * @param revision that of the rules
 */
public record Filter(String sql, List<Object> values, String form, LogMoment at, String revision) {
    /**
     * Sets the values of the filter.
     *
     * @param statement of a query with {@link #sql}
     * @param firstIndex the number of the first {@code ?} of the filter, from 1 on
     * @return the number behind the last one
     * @throws SQLException if the statement has no such parameter
     */
    public int bind(PreparedStatement statement, int firstIndex) throws SQLException {
        int index = firstIndex;
        for (Object value : values) {
            // Of no type: the database finds it in the query, and reads a list once, not as a text for each row.
            if (value instanceof String) statement.setObject(index++, value, Types.OTHER);
            else statement.setLong(index++, ((Number) value).longValue());
        }
        return index;
    }
}
