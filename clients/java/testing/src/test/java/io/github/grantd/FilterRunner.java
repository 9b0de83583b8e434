// Asks tables of a real Postgres with filters of this client: for each question of its standard input, a line of JSON,
// it writes a line with the ids of the rows that pass.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

public final class FilterRunner {
    private FilterRunner() {}

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Grantd client = Grantd.fromEnvironment();
        try (
            Connection connection = DriverManager.getConnection(System.getenv("FILTER_DATABASE"));
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Map<String, Object> question = Records.object(Json.parse(line.getBytes(StandardCharsets.UTF_8)));
                out.println(new String(Json.write(answer(client, connection, question)), StandardCharsets.UTF_8));
            }
        }
    }

    private static Object answer(Grantd client, Connection connection, Map<String, Object> question) throws Exception {
        try {
            Filter filter = client.filter(
                connection, (String) question.get("subject"), (String) question.get("name"),
                options(Records.object(question.get("options"))));
            return Json.object("ids", ids(connection, (String) question.get("table"), filter), "form", filter.form());
        } catch (MirrorException e) {
            return Json.object("mirror", e.reason());
        } catch (GrantdException e) {
            return Json.object("error", e.type());
        } catch (SQLException e) {
            return Json.object("sqlstate", e.getSQLState());
        }
    }

    private static FilterOptions options(Map<String, Object> given) throws ReflectiveOperationException {
        FilterOptions options = FilterOptions.of((String) given.get("id"), (String) given.get("idType"))
            .withContext(CallContext.of(Records.list(ContextGrant.class, given.get("contextGrants"))))
            .withCandidates(Boolean.TRUE.equals(given.get("candidates")))
            .withSchema((String) given.get("schema"))
            .withWaitTime(Duration.ofMillis((Long) given.get("waitMs")));
        if (given.get("deep") instanceof List<?> deep) options = options.withDeep(deep.stream().map(String.class::cast).toList());
        return given.get("objectsMax") instanceof Long max ? options.withObjectsMax(max.intValue()) : options;
    }

    private static List<String> ids(Connection connection, String table, Filter filter) throws SQLException {
        String sql = "SELECT CAST(d.id AS text) FROM " + table + " d WHERE d.archived = ? AND " + filter.sql();
        List<String> ids = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setBoolean(1, false);
            filter.bind(statement, 2);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) ids.add(rows.getString(1));
            }
        }
        return ids;
    }
}
