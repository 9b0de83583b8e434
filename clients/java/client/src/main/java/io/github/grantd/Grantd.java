package io.github.grantd;

import io.github.grantd.internal.Json;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The client of grantd. Create one per service and key, and share it: it is safe for concurrent use, and needs no end.
 * Everything that fails throws a {@link GrantdException}. A call has 10 seconds with all its retries, unless the builder
 * or {@link #withTimeout} says otherwise; an interrupt of its thread ends it earlier.
 */
public final class Grantd {
    private static final int KEY_NAME_BYTES = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Transport transport;
    private final Duration timeout;
    private final Checks checks;
    /** Null: each check is a request of its own. */
    private final Gatherer gatherer;

    Grantd(Transport transport, Duration timeout, boolean gathers) {
        this.transport = transport;
        this.timeout = timeout;
        checks = new Checks(transport);
        gatherer = gathers ? new Gatherer(checks, timeout) : null;
    }

    /**
     * Settings of a new client.
     *
     * @return the builder
     */
    public static GrantdBuilder builder() {
        return new GrantdBuilder();
    }

    /**
     * A client for {@code GRANTD_URL} and {@code GRANTD_KEY}.
     *
     * @return the client
     * @throws IllegalArgumentException if one of the two is missing or wrong
     */
    public static Grantd fromEnvironment() {
        return builder().build();
    }

    /**
     * The same client with another time for each call. Its checks are never gathered.
     *
     * @param ofCall for a call with all its retries
     * @return the new client, which shares connections and budget with this one
     */
    public Grantd withTimeout(Duration ofCall) {
        return new Grantd(transport, GrantdBuilder.positive(ofCall, "timeout"), false);
    }

    private Deadline deadline() {
        return Deadline.in(timeout);
    }

    private <T> T call(Request request, Function<Request.Response, T> decode) {
        return Futures.await(transport.call(request, decode, deadline()));
    }

    private <T> T callFor(Request request, Function<Object, T> decode) {
        return call(request, got -> decode.apply(got.value()));
    }

    /**
     * Whether the subject has the relation, or the derived name, on the object. Concurrent checks of a client are gathered
     * into bulk checks, unless the builder says otherwise.
     *
     * @param subject who, such as {@code user:ada}
     * @param relation a relation or derived name, such as {@code viewer}
     * @param object on what, such as {@code document:plan}
     * @return whether it holds
     */
    public boolean check(String subject, String relation, String object) {
        return Futures.await(checkAsync(subject, relation, object));
    }

    /**
     * The same with a context. It is never gathered.
     *
     * @param subject who
     * @param relation a relation or derived name
     * @param object on what
     * @param context the context of the call
     * @return whether it holds
     */
    public boolean check(String subject, String relation, String object, CallContext context) {
        Question question = new Question(subject, relation, object);
        return Futures.await(checks.one(question, context, false, deadline())).authorized();
    }

    /**
     * {@link #check(String, String, String)} without waiting. The future fails with a {@link GrantdException}.
     *
     * @param subject who
     * @param relation a relation or derived name
     * @param object on what
     * @return whether it holds, once that is known
     */
    public CompletableFuture<Boolean> checkAsync(String subject, String relation, String object) {
        Question question = new Question(subject, relation, object);
        if (gatherer != null) return gatherer.check(question);
        return checks.one(question, CallContext.NONE, false, deadline()).thenApply(CheckResult::authorized);
    }

    /**
     * Checks, and also returns a shortest chain of grants that proves a yes; under rules with gates, a proof of either
     * answer.
     *
     * @param subject who
     * @param relation a relation or derived name
     * @param object on what
     * @return the decision and why
     */
    public CheckResult explain(String subject, String relation, String object) {
        return explain(subject, relation, object, CallContext.NONE);
    }

    /**
     * The same with a context.
     *
     * @param subject who
     * @param relation a relation or derived name
     * @param object on what
     * @param context the context of the call
     * @return the decision and why
     */
    public CheckResult explain(String subject, String relation, String object, CallContext context) {
        return Futures.await(checks.one(new Question(subject, relation, object), context, true, deadline()));
    }

    /**
     * Checks any number of questions, in bulk checks of up to 100 each. Use {@link #checkBulk(List)} if all must be decided
     * at one moment.
     *
     * @param questions the questions
     * @return an answer for each, in order, with an error of its own if it failed
     */
    public List<CheckAnswer> checkEach(List<Question> questions) {
        List<CheckAnswer> answers = new ArrayList<>(questions.size());
        Deadline deadline = deadline();
        for (int i = 0; i < questions.size(); i += Checks.QUESTIONS_MAX) {
            List<Question> part = questions.subList(i, Math.min(i + Checks.QUESTIONS_MAX, questions.size()));
            answers.addAll(Futures.await(checks.each(List.copyOf(part), deadline)));
        }
        return answers;
    }

    /**
     * Checks up to 100 questions, which are decided at one moment. An error of one element refuses the whole call.
     *
     * @param questions the questions
     * @return one result per question, in order
     */
    public BulkCheckResult checkBulk(List<Question> questions) {
        return checkBulk(questions, CallContext.NONE);
    }

    /**
     * The same with a context for all of its checks.
     *
     * @param questions the questions
     * @param context the context of the call
     * @return one result per question, in order
     */
    public BulkCheckResult checkBulk(List<Question> questions, CallContext context) {
        return Futures.await(checks.bulk(List.copyOf(questions), context, deadline()));
    }

    private static Fields.UnexpectedException otherTuple() {
        return new Fields.UnexpectedException("it is the grant of another tuple");
    }

    /**
     * Creates a grant, or returns the existing one. It is durable when this returns.
     *
     * @param grant what to grant
     * @return the grant, and whether this call has created it
     */
    public WrittenGrant createGrant(GrantRequest grant) {
        return call(Request.post("createGrant", "/v1/grants", grant.toJson()).accepting(200, 201), got -> {
            Grant stored = Grant.decode(got.value());
            if (!grant.isFor(stored.subject(), stored.relation(), stored.object())) throw otherTuple();
            return new WrittenGrant(
                stored.grantId(), stored.subject(), stored.relation(), stored.object(), stored.createdAt(),
                stored.expiresAt(), stored.condition(), got.status() == 201);
        });
    }

    /**
     * Creates a grant without expiry and condition, or returns the existing one.
     *
     * @param subject who, such as {@code user:ada}
     * @param relation what, such as {@code viewer}
     * @param object on what, such as {@code document:plan}
     * @return the grant, and whether this call has created it
     */
    public WrittenGrant createGrant(String subject, String relation, String object) {
        return createGrant(GrantRequest.of(subject, relation, object));
    }

    /**
     * Revokes the grant of one tuple. After a lost response, the retry may find none although this call has removed it.
     *
     * @param subject who
     * @param relation what
     * @param object on what
     * @return whether it existed
     */
    public boolean revokeGrant(String subject, String relation, String object) {
        // In the query, since some proxies drop the body of a DELETE.
        Map<String, String> query = Request.query("subject", subject, "relation", relation, "object", object);
        return remove(Request.delete("revokeGrant", "/v1/grants", query), ErrorTypes.GRANT_NOT_FOUND, deadline());
    }

    /** Whether there was something to remove. */
    private boolean remove(Request request, String notFound, Deadline deadline) {
        try {
            return Futures.await(transport.call(request, got -> true, deadline));
        } catch (GrantdException e) {
            if (e.type().equals(notFound)) return false;
            throw e;
        }
    }

    /**
     * Makes all changes at one moment, or none.
     *
     * @param write grants, revocations and conditions
     * @return one result per grant and per revocation, in order
     * @throws GrantdException.PreconditionFailed if a condition is not met
     */
    public BulkWriteResult writeBulk(BulkWrite write) {
        Request request = Request.post("writeBulk", "/v1/grants/bulk", write.toJson());
        return callFor(request.conditionalIf(!write.conditions().isEmpty()), value -> {
            BulkWriteResult result = BulkWriteResult.decode(value);
            int grants = result.grants().size();
            int revocations = result.revocations().size();
            if (grants != write.grants().size() || revocations != write.revocations().size()) {
                throw new Fields.UnexpectedException(grants + " grants and " + revocations + " revocations");
            }
            for (int i = 0; i < grants; i++) {
                WrittenGrant stored = result.grants().get(i);
                GrantRequest wanted = write.grants().get(i);
                if (!wanted.isFor(stored.subject(), stored.relation(), stored.object())) throw otherTuple();
            }
            return result;
        });
    }

    /**
     * Revokes every grant that matches, 1,000 at a time, until none is left. If it throws, some may have been revoked.
     *
     * @param filter which grants
     * @return how many it has revoked
     */
    public long revokeGrants(GrantFilter filter) {
        long revoked = 0;
        while (true) {
            Request request = Request.post("revokeGrants", "/v1/grants/revoke", filter.toJson());
            RevokeResult result = callFor(request, RevokeResult::decode);
            revoked += result.revoked();
            if (result.complete()) return revoked;
        }
    }

    /**
     * All objects of a query, ascending by bytes.
     *
     * @param query which objects
     * @return the objects
     */
    public Listing<String> listObjects(ObjectsQuery query) {
        return new Listing<>(query.cursor(), cursor -> {
            ObjectList page = listObjectsPage(query.withCursor(cursor));
            return new Listing.Page<>(page.objects(), page.nextCursor());
        });
    }

    /**
     * One page of objects.
     *
     * @param query which objects
     * @return the page
     */
    public ObjectList listObjectsPage(ObjectsQuery query) {
        return callFor(query.request(), ObjectList::decode);
    }

    /**
     * All subjects of a query, ascending by bytes.
     *
     * @param query which subjects
     * @return the subjects
     */
    public Listing<String> listSubjects(SubjectsQuery query) {
        return new Listing<>(query.cursor(), cursor -> {
            SubjectList page = listSubjectsPage(query.withCursor(cursor));
            return new Listing.Page<>(page.subjects(), page.nextCursor());
        });
    }

    /**
     * One page of subjects.
     *
     * @param query which subjects
     * @return the page
     */
    public SubjectList listSubjectsPage(SubjectsQuery query) {
        return callFor(query.request(), SubjectList::decode);
    }

    /**
     * The stored grants of a query, ascending by relation, then by object or subject.
     *
     * @param query which grants
     * @return the grants
     */
    public Listing<Grant> listGrants(GrantsQuery query) {
        return new Listing<>(query.cursor(), cursor -> {
            GrantPage page = listGrantsPage(query.withCursor(cursor));
            return new Listing.Page<>(page.grants(), page.nextCursor());
        });
    }

    /**
     * One page of grants.
     *
     * @param query which grants
     * @return the page
     */
    public GrantPage listGrantsPage(GrantsQuery query) {
        return call(query.request(), got -> {
            GrantList page = GrantList.decode(got.value());
            String feedCursor = got.headers().firstValue("X-Service-Cursor").orElse(null);
            return new GrantPage(page.grants(), page.nextCursor(), feedCursor);
        });
    }

    /**
     * The pages of a snapshot, from which the change feed leads on.
     *
     * @param query which grants
     * @return the pages
     */
    public Listing<SnapshotPage> snapshotGrants(SnapshotQuery query) {
        return new Listing<>(query.cursor(), cursor -> {
            SnapshotPage page = snapshotGrantsPage(query.withCursor(cursor));
            return new Listing.Page<>(List.of(page), page.nextCursor());
        });
    }

    /**
     * One page of a snapshot.
     *
     * @param query which grants
     * @return the page
     */
    public SnapshotPage snapshotGrantsPage(SnapshotQuery query) {
        return call(query.request(), SnapshotPage::of);
    }

    /**
     * All namespaces, ascending by name.
     *
     * @return the namespaces
     */
    public List<Namespace> listNamespaces() {
        return callFor(Request.get("listNamespaces", "/v1/namespaces", Map.of()), NamespaceList::decode).namespaces();
    }

    /**
     * Creates a namespace, or returns the existing one.
     *
     * @param name the part of subjects and objects before the first colon
     * @return the namespace, and whether this call has created it
     */
    public CreatedNamespace createNamespace(String name) {
        Request request = Request.post("createNamespace", "/v1/namespaces", Json.object("name", name));
        return call(request.accepting(200, 201), got -> {
            Namespace stored = Namespace.decode(got.value());
            return new CreatedNamespace(stored.name(), stored.createdAt(), got.status() == 201);
        });
    }

    /**
     * All API keys that are not revoked. The keys themselves are not shown.
     *
     * @param query where to begin
     * @return the keys
     */
    public Listing<Key> listKeys(KeysQuery query) {
        return new Listing<>(query.cursor(), cursor -> {
            KeyList page = listKeysPage(query.withCursor(cursor));
            return new Listing.Page<>(page.keys(), page.nextCursor());
        });
    }

    /**
     * One page of API keys.
     *
     * @param query where to begin
     * @return the page
     */
    public KeyList listKeysPage(KeysQuery query) {
        return callFor(query.request(), KeyList::decode);
    }

    /**
     * Creates an API key. Only this result contains it. If the response to an attempt is lost, its key was never delivered:
     * without an idempotency key of the caller, the client then revokes it and creates another, within one deadline; with
     * one, it throws a {@link GrantdException.Conflict} with the id of the key.
     *
     * @param key what to create
     * @return the key
     */
    public CreatedKey createKey(KeyRequest key) {
        Deadline deadline = deadline();
        if (key.idempotencyKey() != null) return createKeyOnce(key, deadline);
        while (true) {
            byte[] random = new byte[KEY_NAME_BYTES];
            RANDOM.nextBytes(random);
            try {
                return createKeyOnce(key.withIdempotencyKey(HexFormat.of().formatHex(random)), deadline);
            } catch (GrantdException e) {
                if (!e.type().equals(ErrorTypes.ALREADY_CREATED) || e.keyId().isEmpty()) throw e;
                revokeKey(e.keyId().get(), deadline);
            }
        }
    }

    private CreatedKey createKeyOnce(KeyRequest key, Deadline deadline) {
        String name = Headers.quoted(key.idempotencyKey(), "the idempotency key");
        Request request = Request.post("createKey", "/v1/keys", key.toJson())
            .accepting(201)
            .withHeader("Idempotency-Key", name);
        return Futures.await(transport.call(request, got -> CreatedKey.decode(got.value()), deadline));
    }

    /**
     * Revokes an API key. Requests with it that start afterwards are refused everywhere.
     *
     * @param keyId the id of the key
     * @return whether it existed
     */
    public boolean revokeKey(String keyId) {
        return revokeKey(keyId, deadline());
    }

    private boolean revokeKey(String keyId, Deadline deadline) {
        // No path leads to these.
        if (keyId.isEmpty() || keyId.equals(".") || keyId.equals("..")) return false;
        String segment;
        try {
            segment = Request.encoded(keyId, "key_id");
        } catch (IllegalArgumentException e) {
            throw GrantdException.of(Failure.invalidRequest(e.getMessage()));
        }
        Request request = Request.delete("revokeKey", "/v1/keys/" + segment, Map.of());
        return remove(request, ErrorTypes.KEY_NOT_FOUND, deadline);
    }

    private static final Request READ_RULES = Request.get("readRules", "/v1/rules", Map.of());

    /**
     * The present rules. A tenant that has never set any has empty ones.
     *
     * @return the rules and their revision
     */
    public Rules readRules() {
        return call(READ_RULES, Rules::of);
    }

    /**
     * The present rules, unless they still have a revision.
     *
     * @param revision the known revision
     * @return the rules, or nothing if they have that revision
     */
    public Optional<Rules> readRulesUnless(String revision) {
        String tag = Headers.quoted(revision, "the revision");
        Request request = READ_RULES.accepting(200, 304).withHeader("If-None-Match", tag);
        return call(request, got -> got.status() == 304 ? Optional.empty() : Optional.of(Rules.of(got)));
    }

    /**
     * The versions of the rules that are kept, from the newest back.
     *
     * @return the versions
     */
    public List<RulesVersion> listRulesVersions() {
        Request request = Request.get("listRulesVersions", "/v1/rules/versions", Map.of());
        return callFor(request, RulesVersionList::decode).versions();
    }

    /**
     * The rules of a version.
     *
     * @param version its number
     * @return the rules and their revision
     * @throws GrantdException.NotFound if it is not kept
     */
    public Rules readRulesVersion(long version) {
        return call(versionRequest(version), Rules::of);
    }

    private static Request versionRequest(long version) {
        return Request.get("readRulesVersion", "/v1/rules/versions/" + version, Map.of());
    }

    /**
     * The present rules in the text form, with their comments.
     *
     * @return the text and the revision
     */
    public RulesText readRulesText() {
        return call(READ_RULES.withHeader("Accept", Request.RULES_TEXT), RulesText::of);
    }

    /**
     * The rules of a version in the text form, with their comments.
     *
     * @param version its number
     * @return the text and the revision
     * @throws GrantdException.NotFound if it is not kept
     */
    public RulesText readRulesText(long version) {
        return call(versionRequest(version).withHeader("Accept", Request.RULES_TEXT), RulesText::of);
    }

    /**
     * Replaces the rules, whatever they are.
     *
     * @param text the new rules in the text form
     * @return the rules and their revision
     */
    public Rules writeRules(String text) {
        return writeRules(text, null);
    }

    /**
     * Replaces the rules if they have a revision.
     *
     * @param text the new rules in the text form
     * @param revision the one that the present rules must have; null: any
     * @param options what else holds for this write
     * @return the rules and their revision
     * @throws GrantdException.PreconditionFailed if they have another one
     */
    public Rules writeRules(String text, String revision, RulesOption... options) {
        return call(textRequest(text, revision, null, options), Rules::of);
    }

    /**
     * What {@link #writeRules(String, String, RulesOption...)} would change. It changes nothing.
     *
     * @param text the new rules in the text form
     * @param revision the one that the present rules must have; null: any
     * @param options what else holds for this write
     * @return the preview
     */
    public RulesPreview previewRules(String text, String revision, RulesOption... options) {
        return callFor(textRequest(text, revision, "true", options), RulesPreview::decode);
    }

    private static Request textRequest(String text, String revision, String dryRun, RulesOption... options) {
        String outsideTypes = List.of(options).contains(RulesOption.KEEP_OUTSIDE_TYPES) ? "keep" : null;
        return ruleRequest(text, revision, Request.query("dry_run", dryRun, "outside_types", outsideTypes));
    }

    /**
     * Replaces the rules, whatever they are.
     *
     * @param rules the new rules
     * @return the rules and their revision
     */
    public Rules writeRules(RuleSetRequest rules) {
        return writeRules(rules, null);
    }

    /**
     * Replaces the rules if they have a revision.
     *
     * @param rules the new rules
     * @param revision the one that the present rules must have; null: any
     * @return the rules and their revision
     * @throws GrantdException.PreconditionFailed if they have another one
     */
    public Rules writeRules(RuleSetRequest rules, String revision) {
        return call(ruleRequest(rules.toJson(), revision, Map.of()), Rules::of);
    }

    /**
     * What {@link #writeRules(RuleSetRequest, String)} would change. It changes nothing.
     *
     * @param rules the new rules
     * @param revision the one that the present rules must have; null: any
     * @return the preview
     */
    public RulesPreview previewRules(RuleSetRequest rules, String revision) {
        return callFor(ruleRequest(rules.toJson(), revision, Map.of("dry_run", "true")), RulesPreview::decode);
    }

    private static Request ruleRequest(Object rules, String revision, Map<String, String> query) {
        Request request = Request.put("writeRules", "/v1/rules", query, rules);
        if (revision == null) return request;
        return request.withHeader("If-Match", Headers.quoted(revision, "the revision")).conditionalIf(true);
    }

    /**
     * Every change, in order and once, until the feed is closed.
     *
     * @param query where to begin, and which changes
     * @return the feed; close it
     */
    public ChangeFeed changes(ChangesQuery query) {
        return new ChangeFeed(this, transport, query);
    }

    /**
     * One page of changes. If there is none, the service waits.
     *
     * @param query where to begin, and which changes
     * @param limit at most so many changes; null: 100
     * @param wait how long to wait, in whole seconds of at most 30
     * @return the page
     */
    public ChangeList listChangesPage(ChangesQuery query, Integer limit, Duration wait) {
        return callFor(query.page(limit, wait.isZero() ? null : wait.toSeconds()), ChangeList::decode);
    }

    /**
     * Whether the subject may perform the action on the resource (AuthZEN).
     *
     * @param request the question
     * @return the decision
     */
    public Decision evaluate(EvaluationRequest request) {
        return callFor(Request.post("evaluate", "/access/v1/evaluation", request.toJson()), Decision::decode);
    }

    /**
     * Decides all evaluations at one moment (AuthZEN).
     *
     * @param request the questions
     * @return the decisions, in order; with a semantic that ends early, up to the one that ends it
     */
    public List<Decision> evaluateMany(EvaluationsRequest request) {
        return callFor(Request.post("evaluateMany", "/access/v1/evaluations", request.toJson()), value -> {
            if (request.evaluations().isEmpty()) return List.of(Decision.decode(value));
            List<Decision> decisions = Fields.of(value).required("evaluations", Fields.list(Decision::decode));
            if (!request.isComplete(decisions)) {
                throw new Fields.UnexpectedException(
                    decisions.size() + " decisions for " + request.evaluations().size() + " evaluations");
            }
            return decisions;
        });
    }

    /** `page` reads one page; the token of the one after the last is empty. */
    private static <T, P> Listing<T> search(
        SearchPage first, Function<SearchPage, P> page, Function<P, List<T>> items, Function<P, PageInfo> info) {
        SearchPage start = first == null ? SearchPage.of() : first;
        return new Listing<>(start.token(), token -> {
            P found = page.apply(start.withToken(token));
            String next = info.apply(found).nextToken();
            return new Listing.Page<>(items.apply(found), next.isEmpty() ? null : next);
        });
    }

    /**
     * The subjects of a type that may perform the action on the resource (AuthZEN).
     *
     * @param search which subjects
     * @return the subjects
     */
    public Listing<FoundEntity> searchSubjects(SubjectSearch search) {
        return search(search.page(), page -> searchSubjectsPage(search.withPage(page)),
            EntitySearchResult::results, EntitySearchResult::page);
    }

    /**
     * One page of subjects (AuthZEN).
     *
     * @param search which subjects
     * @return the page
     */
    public EntitySearchResult searchSubjectsPage(SubjectSearch search) {
        Request request = Request.post("searchSubjects", "/access/v1/search/subject", search.toJson());
        return callFor(request, EntitySearchResult::decode);
    }

    /**
     * The resources of a type on which the subject may perform the action (AuthZEN).
     *
     * @param search which resources
     * @return the resources
     */
    public Listing<FoundEntity> searchResources(ResourceSearch search) {
        return search(search.page(), page -> searchResourcesPage(search.withPage(page)),
            EntitySearchResult::results, EntitySearchResult::page);
    }

    /**
     * One page of resources (AuthZEN).
     *
     * @param search which resources
     * @return the page
     */
    public EntitySearchResult searchResourcesPage(ResourceSearch search) {
        Request request = Request.post("searchResources", "/access/v1/search/resource", search.toJson());
        return callFor(request, EntitySearchResult::decode);
    }

    /**
     * The actions that the subject may perform on the resource (AuthZEN).
     *
     * @param search which actions
     * @return the actions
     */
    public Listing<FoundAction> searchActions(ActionSearch search) {
        return search(search.page(), page -> searchActionsPage(search.withPage(page)),
            ActionSearchResult::results, ActionSearchResult::page);
    }

    /**
     * One page of actions (AuthZEN).
     *
     * @param search which actions
     * @return the page
     */
    public ActionSearchResult searchActionsPage(ActionSearch search) {
        Request request = Request.post("searchActions", "/access/v1/search/action", search.toJson());
        return callFor(request, ActionSearchResult::decode);
    }

    /**
     * How a list of objects of the namespace on which a subject holds the name follows from mirrored grants.
     *
     * @param namespace of the objects
     * @param name a relation, or a name that a rule defines
     * @param deep namespaces of containers whose grants are mirrored, too
     * @return the join, with the revision of the rules
     */
    public Map<String, Object> readJoin(String namespace, String name, String... deep) {
        Map<String, String> query = new LinkedHashMap<>(Map.of("namespace", namespace, "name", name));
        if (deep.length > 0) query.put("deep", String.join(",", deep));
        return callFor(Request.get("readJoin", "/v1/join", query), value -> {
            Fields.of(value).required("revision", Fields::text);
            return Fields.copy(Fields.map(value));
        });
    }

    /**
     * The sets of a subject for a join: its half of a list, of which the other are the grants that the join mirrors.
     *
     * @param sets of whom, and for which join
     * @return the sets
     */
    public SubjectSets readSets(SetsRequest sets) {
        return callFor(Request.post("readSets", "/v1/sets", sets.toJson()), SubjectSets::decode);
    }

    /**
     * A condition for a query on Postgres, with the mirror of grants that {@code grantd sync} keeps there: exactly the rows
     * of objects on which the subject holds the name meet it. In a transaction, an error of the mirror ends it, as any
     * error of Postgres does.
     *
     * @param connection to the database of the mirror
     * @param subject who, such as {@code user:ada}
     * @param name such as {@code document.can_read}: the name {@code can_read} of objects {@code document:…}
     * @param options what is filtered, and how
     * @return the condition
     * @throws MirrorException if the mirror has no answer now
     * @throws SQLException any other error of the database
     */
    public Filter filter(Connection connection, String subject, String name, FilterOptions options) throws SQLException {
        return new FilterCall(subject, name, options).ask(connection, this::readSets);
    }

    /**
     * The description of the API that the service serves (OpenAPI).
     *
     * @return the document
     */
    public Map<String, Object> readOpenapi() {
        return callFor(Request.get("readOpenapi", "/openapi.json", Map.of()), value -> {
            Fields.of(value).required("openapi", Fields::text);
            return Fields.copy(Fields.map(value));
        });
    }

    /** Keeps the key out of logs. */
    @Override
    public String toString() {
        return "Grantd[" + transport.base() + "]";
    }
}
