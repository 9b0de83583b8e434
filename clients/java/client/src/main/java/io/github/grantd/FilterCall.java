// Asks for the sets of a subject, and then a mirror that "grantd sync" keeps in Postgres which form of a filter is
// right. Invariant: a filter passes exactly what the subject could list at one moment, or there is an exception.

package io.github.grantd;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

final class FilterCall {
    /** Sets that are too old, or of other rules than those of the mirror, are asked for again. */
    private static final int ATTEMPTS_MAX = 3;
    private static final int PAUSE_MS = 50;
    /** Postgres cuts longer names, and ":objects" comes behind. */
    private static final int FUNCTION_NAME_MAX = 55;
    private static final String TRANSACTION_ABORTED = "25P02";
    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_.-]{0,63}");
    /** It has one meaning behind every operator. */
    private static final Pattern PLAIN_COLUMN = Pattern.compile("[A-Za-z_]\\w*(\\.[A-Za-z_]\\w*)*");
    private static final List<String> TYPES =
        List.of("text[]", "text[]", "text[]", "text", "text", "bigint", "bigint", "bigint", "text");

    private final FilterOptions options;
    private final SetsRequest request;
    private final String function;
    private final String id;

    FilterCall(String subject, String name, FilterOptions options) {
        this.options = options;
        int dot = name.lastIndexOf('.');
        JoinQuery join = new JoinQuery(name.substring(0, Math.max(dot, 0)), name.substring(dot + 1), options.deep());
        List<String> parts = Stream.concat(Stream.of(join.namespace(), join.name()), join.deep().stream()).toList();
        for (String part : parts) require(NAME.matcher(part).matches(), "\"" + name + "\" is not like document.can_read");
        function = Stream.concat(Stream.of(name), join.deep().stream()).collect(Collectors.joining("+"));
        require(function.length() <= FUNCTION_NAME_MAX, "the mirror has no function of a name as long as " + function);
        String sql = options.id() + options.idType() + options.schema();
        require(sql.indexOf('\0') < 0, "a text of SQL has a NUL");
        id = PLAIN_COLUMN.matcher(options.id()).matches() ? options.id() : "(" + options.id() + ")";
        CallContext context = options.context();
        request = new SetsRequest(
            subject, join, context.values().isEmpty() ? null : context.values(), context.grants(),
            options.candidates() ? true : null);
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) throw GrantdException.of(Failure.invalidRequest(otherwise));
    }

    Filter ask(Connection connection, Function<SetsRequest, SubjectSets> readSets) throws SQLException {
        MirrorException last = null;
        for (int attempt = 1;; attempt++) {
            SubjectSets sets = readSets.apply(request);
            try {
                return filter(connection, sets);
            } catch (SQLException e) {
                // The first error of a transaction says why it has no more answers.
                if (last != null && TRANSACTION_ABORTED.equals(e.getSQLState())) throw last;
                last = MirrorException.of(e);
                if (attempt == ATTEMPTS_MAX || !last.isWorthAsking()) throw last;
            }
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw GrantdException.of(Failure.cancelled(e));
        }
    }

    private Filter filter(Connection connection, SubjectSets sets) throws SQLException {
        List<Object> values = valuesOf(sets);
        List<String> ids = objects(connection, sets, values);
        if (ids != null) {
            String listed = id + " = ANY(CAST(? AS " + options.idType() + "[]))";
            return new Filter(listed, List.of(arrayText(ids)), "objects", sets.at(), sets.revision());
        }
        String object = "'" + request.join().namespace() + ":' || " + id + ", ";
        String truth = options.candidates() ? " IS NOT FALSE" : " IS TRUE";
        String sql = called("", object + parameters(TYPES)) + truth;
        return new Filter(sql, values, "rows", sets.at(), sets.revision());
    }

    /** The ids of all objects, or null if there are too many. */
    private List<String> objects(Connection connection, SubjectSets sets, List<Object> values) throws SQLException {
        List<String> types = Stream.concat(TYPES.stream(), Stream.of("integer", "integer")).toList();
        List<Object> all = new ArrayList<>(values);
        Collections.addAll(all, options.objectsMax(), options.waitTime().toMillis());
        Filter query = new Filter(
            "SELECT object, sure FROM " + called(":objects", parameters(types)), all, null, sets.at(), sets.revision());
        String prefix = request.join().namespace() + ":";
        List<String> ids = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(query.sql())) {
            query.bind(statement, 1);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    String object = rows.getString(1);
                    if (object == null) return null;
                    if (!object.startsWith(prefix)) throw new SQLException("The mirror has " + object + " among " + prefix);
                    boolean isSure = rows.getBoolean(2);
                    boolean isUndecided = rows.wasNull();
                    if (isSure || (isUndecided && options.candidates())) ids.add(object.substring(prefix.length()));
                }
            }
        }
        return ids;
    }

    private String called(String suffix, String parameters) {
        return quoted(options.schema()) + "." + quoted(function + suffix) + "(" + parameters + ")";
    }

    private static String quoted(String name) {
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }

    /** Each in a query of its own: it is read once, and not for each row. */
    private static String parameters(List<String> types) {
        return types.stream().map(type -> "(SELECT CAST(? AS " + type + "))").collect(Collectors.joining(", "));
    }

    /** As the functions take them. */
    private static List<Object> valuesOf(SubjectSets sets) {
        int own = Math.max(sets.own().lastIndexOf('#'), 0);
        return List.of(
            arrayText(sets.subjects()), arrayText(sets.held()), arrayText(sets.perhaps()), sets.own().substring(0, own),
            own == 0 ? "" : sets.own().substring(own + 1), sets.at().seq(), sets.at().time().toEpochMilli(),
            sets.through(), sets.tenantId() + ":" + sets.revision());
    }

    /** The text of an array, which every driver can send. */
    private static String arrayText(List<String> items) {
        return items.stream()
            .map(item -> "\"" + item.replace("\\", "\\\\").replace("\"", "\\\"") + "\"")
            .collect(Collectors.joining(",", "{", "}"));
    }
}
