package io.github.grantd;

import java.time.Duration;
import java.util.List;

/**
 * What is filtered, and how.
 *
 * @param id the column with the ids of the objects, which is what is behind {@code document:}; SQL of the application, and
 *    a part of the filter as it is; null: {@code id}
 * @param idType the type of the column, such as {@code bigint}; SQL, too; null: {@code text}
 * @param deep as the mirror was made with; null: none
 * @param context conditions are met with it; null: none
 * @param candidates whether objects pass for which a condition lacks a parameter, too: check them
 * @param schema of the mirror; null: {@code grantd}
 * @param objectsMax up to so many objects, the filter is a list of ids; above, a function of each row
 * @param waitTime how long the mirror may take to catch up; null: 200 ms
 */
public record FilterOptions(
    String id,
    String idType,
    List<String> deep,
    CallContext context,
    boolean candidates,
    String schema,
    int objectsMax,
    Duration waitTime) {
    private static final int OBJECTS_MAX = 10_000;
    /** For a column {@code id} of texts. */
    public static final FilterOptions DEFAULT = new FilterOptions(null, null, null, null, false, null, OBJECTS_MAX, null);

    /**
     * Puts in what is absent.
     *
     * @param id as in the record
     * @param idType as in the record
     * @param deep as in the record
     * @param context as in the record
     * @param candidates as in the record
     * @param schema as in the record
     * @param objectsMax as in the record
     * @param waitTime as in the record
     */
    public FilterOptions {
        id = id == null ? "id" : id;
        idType = idType == null ? "text" : idType;
        deep = Fields.copy(deep, List.of());
        context = context == null ? CallContext.NONE : context;
        schema = schema == null ? "grantd" : schema;
        waitTime = waitTime == null ? Duration.ofMillis(200) : waitTime;
    }

    /**
     * For a column.
     *
     * @param id the column with the ids of the objects
     * @param idType its type
     * @return the options
     */
    public static FilterOptions of(String id, String idType) {
        return new FilterOptions(id, idType, null, null, false, null, OBJECTS_MAX, null);
    }

    /**
     * The same with another {@code deep}.
     *
     * @param deep as the mirror was made with; null: none
     * @return the new options
     */
    public FilterOptions withDeep(List<String> deep) {
        return new FilterOptions(id, idType, deep, context, candidates, schema, objectsMax, waitTime);
    }

    /**
     * The same with another {@code context}.
     *
     * @param context conditions are met with it; null: none
     * @return the new options
     */
    public FilterOptions withContext(CallContext context) {
        return new FilterOptions(id, idType, deep, context, candidates, schema, objectsMax, waitTime);
    }

    /**
     * The same with another {@code candidates}.
     *
     * @param candidates whether objects pass for which a condition lacks a parameter, too: check them
     * @return the new options
     */
    public FilterOptions withCandidates(boolean candidates) {
        return new FilterOptions(id, idType, deep, context, candidates, schema, objectsMax, waitTime);
    }

    /**
     * The same with another {@code schema}.
     *
     * @param schema of the mirror; null: {@code grantd}
     * @return the new options
     */
    public FilterOptions withSchema(String schema) {
        return new FilterOptions(id, idType, deep, context, candidates, schema, objectsMax, waitTime);
    }

    /**
     * The same with another {@code objectsMax}.
     *
     * @param objectsMax up to so many objects, the filter is a list of ids; above, a function of each row
     * @return the new options
     */
    public FilterOptions withObjectsMax(int objectsMax) {
        return new FilterOptions(id, idType, deep, context, candidates, schema, objectsMax, waitTime);
    }

    /**
     * The same with another {@code waitTime}.
     *
     * @param waitTime how long the mirror may take to catch up; null: 200 ms
     * @return the new options
     */
    public FilterOptions withWaitTime(Duration waitTime) {
        return new FilterOptions(id, idType, deep, context, candidates, schema, objectsMax, waitTime);
    }
}
