package io.github.grantd.examples;

import io.github.grantd.Filter;
import io.github.grantd.FilterOptions;
import io.github.grantd.Grantd;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** The newest documents that somebody may read, from the database of the application, which has a mirror of grants. */
public record NewestDocuments(Grantd grantd, Connection connection) {
    /**
     * Their titles.
     *
     * @param subject who reads
     * @return up to 50
     * @throws SQLException if the database has no answer
     */
    public List<String> titles(String subject) throws SQLException {
        Filter filter = grantd.filter(connection, subject, "document.can_read", FilterOptions.of("d.id", "bigint"));
        String sql = "SELECT d.title FROM documents d WHERE d.archived = ? AND " + filter.sql()
            + " ORDER BY d.updated_at DESC LIMIT 50";
        List<String> titles = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setBoolean(1, false);
            filter.bind(statement, 2);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) titles.add(rows.getString(1));
            }
        }
        return titles;
    }
}
