// Serves a request: authentication, route, scope, and a response or a problem document.

package io.github.grantd.testing;

import io.github.grantd.internal.Json;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

final class Service {
    private static final String READ = "check:read";
    private static final String WRITE = "grant:write";
    private static final String ADMIN = "admin";

    /** `feed` is null unless the body is a stream. `body` is null without one. */
    record Result(int status, Map<String, String> headers, byte[] body, Feed feed) {}

    private record Call(Tenant tenant, FakeRequest request, StoredKey caller) {
        Operations operations() {
            return new Operations(tenant, request, caller);
        }

        Administration administration() {
            return new Administration(tenant, request, caller);
        }

        Evaluations evaluations() {
            return new Evaluations(tenant, request, caller);
        }
    }

    private record Route<T extends Operations>(String scope, Function<Call, T> create, Function<T, Object> perform) {
        /** The parts of the response, with the lock held. */
        Object serve(Call call, Map<String, String> headers, int[] status) {
            T operations = create.apply(call);
            Object value = perform.apply(operations);
            headers.putAll(operations.headers);
            status[0] = operations.status;
            return value;
        }
    }

    private static Route<Operations> plain(String scope, Function<Operations, Object> perform) {
        return new Route<>(scope, Call::operations, perform);
    }

    private static Route<Administration> admin(String scope, Function<Administration, Object> perform) {
        return new Route<>(scope, Call::administration, perform);
    }

    private static Route<Evaluations> evaluation(Function<Evaluations, Object> perform) {
        return new Route<>(READ, Call::evaluations, perform);
    }

    private static final Map<String, Route<?>> ROUTES = Map.ofEntries(
        Map.entry("POST /v1/check", plain(READ, Operations::check)),
        Map.entry("POST /v1/check/bulk", plain(READ, Operations::checkBulk)),
        Map.entry("GET /v1/grants", plain(READ, Operations::listGrants)),
        Map.entry("POST /v1/grants", plain(WRITE, Operations::createGrant)),
        Map.entry("DELETE /v1/grants", plain(WRITE, Operations::revokeGrant)),
        Map.entry("POST /v1/grants/bulk", plain(WRITE, Operations::writeBulk)),
        Map.entry("POST /v1/grants/revoke", plain(WRITE, Operations::revokeGrants)),
        Map.entry("GET /v1/objects", plain(READ, Operations::listObjects)),
        Map.entry("POST /v1/objects", plain(READ, Operations::listObjects)),
        Map.entry("GET /v1/subjects", plain(READ, Operations::listSubjects)),
        Map.entry("POST /v1/subjects", plain(READ, Operations::listSubjects)),
        Map.entry("GET /v1/changes", plain(READ, Operations::listChanges)),
        Map.entry("GET /v1/namespaces", admin(READ, Administration::listNamespaces)),
        Map.entry("POST /v1/namespaces", admin(WRITE, Administration::createNamespace)),
        Map.entry("GET /v1/keys", admin(ADMIN, Administration::listKeys)),
        Map.entry("POST /v1/keys", admin(ADMIN, Administration::createKey)),
        Map.entry("DELETE /v1/keys/", admin(ADMIN, Administration::revokeKey)),
        Map.entry("GET /v1/rules", admin(ADMIN, Administration::readRules)),
        Map.entry("PUT /v1/rules", admin(ADMIN, Administration::writeRules)),
        Map.entry("GET /v1/rules/versions", admin(ADMIN, Administration::listRulesVersions)),
        Map.entry("GET /v1/rules/versions/", admin(ADMIN, Administration::readRulesVersion)),
        Map.entry("POST /access/v1/evaluation", evaluation(Evaluations::evaluate)),
        Map.entry("POST /access/v1/evaluations", evaluation(Evaluations::evaluateMany)),
        Map.entry("POST /access/v1/search/subject", evaluation(Evaluations::searchSubjects)),
        Map.entry("POST /access/v1/search/resource", evaluation(Evaluations::searchResources)),
        Map.entry("POST /access/v1/search/action", evaluation(Evaluations::searchActions)));

    private Service() {}

    static Result serve(Tenant tenant, FakeRequest request) throws InterruptedException {
        Map<String, String> headers = new HashMap<>();
        headers.put("X-Service-Request-Id", request.id());
        try {
            int[] status = {200};
            Object value;
            synchronized (tenant) {
                value = perform(tenant, request, headers, status);
            }
            if (value instanceof Feed feed) {
                if ("application/x-ndjson".equals(request.header("Accept"))) {
                    headers.put("Content-Type", "application/x-ndjson");
                    return new Result(status[0], headers, null, feed);
                }
                value = feed.page();
            }
            if (value == null) return new Result(status[0], headers, new byte[0], null);
            headers.put("Content-Type", "application/json");
            return new Result(status[0], headers, Json.write(value), null);
        } catch (Problem problem) {
            headers.put("Content-Type", "application/problem+json");
            if (problem.kind.equals("unavailable")) headers.put("Retry-After", "1");
            Map<String, Object> document = Json.object(
                "type", "http://grantd.test/errors/" + problem.kind, "title", problem.kind,
                "status", problem.status(), "detail", problem.getMessage(), "instance", request.id());
            document.putAll(problem.members);
            return new Result(problem.status(), headers, Json.write(document), null);
        }
    }

    private static Object perform(Tenant tenant, FakeRequest request, Map<String, String> headers, int[] status) {
        if (tenant.isUnavailable) throw new Problem("unavailable", "The service cannot answer right now.");
        tenant.expire();
        String bearer = String.valueOf(request.header("Authorization")).replaceFirst("^Bearer ", "");
        StoredKey caller = tenant.keys.stream()
            .filter(key -> key.text().equals(bearer))
            .filter(key -> key.expiresAt() == null || key.expiresAt().isAfter(tenant.now()))
            .findFirst()
            .orElseThrow(() -> new Problem("unauthorized", "The bearer token is no key of this tenant."));
        String path = request.uri().getRawPath().replaceFirst("^(/v1/keys/|/v1/rules/versions/).+$", "$1");
        Route<?> route = ROUTES.get(request.method() + " " + path);
        if (route == null) throw new Problem("not-found", "There is nothing at " + request.method() + " " + path + ".");
        if (!caller.scopes().contains(route.scope())) {
            throw new Problem("insufficient-scope", "The key does not have the scope " + route.scope() + ".");
        }
        return route.serve(new Call(tenant, request, caller), headers, status);
    }
}
