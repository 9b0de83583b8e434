// Bulk checks that get an answer for each question: if the service refuses a bulk check because of one element, the
// others are sent again.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

final class Checks {
    static final int QUESTIONS_MAX = 100;
    /** Refused elements that are taken out of a bulk check one by one. With more, halves cost fewer requests. */
    private static final int REFUSED_MAX = 4;
    /** One element may be to blame. A status of 413 is also that of many that are too large together. */
    private static final Set<Integer> OF_ELEMENTS = Set.of(400, 413, 422);
    private static final Pattern ELEMENT = Pattern.compile("\\bchecks\\[(\\d{1,3})\\]\\.?");

    private final Transport transport;

    Checks(Transport transport) {
        this.transport = transport;
    }

    CompletableFuture<CheckResult> one(Question question, CallContext with, boolean explain, Deadline deadline) {
        var body = question.toJson();
        body.putAll(with.toJson());
        if (explain) body.put("explain", true);
        Request request = Request.post("check", "/v1/check", body);
        return transport.call(request, got -> CheckResult.decode(got.value()), deadline);
    }

    CompletableFuture<BulkCheckResult> bulk(List<Question> questions, CallContext with, Deadline deadline) {
        var body = Json.object("checks", Json.list(questions, Question::toJson));
        body.putAll(with.toJson());
        return transport.call(Request.post("checkBulk", "/v1/check/bulk", body), got -> {
            BulkCheckResult result = BulkCheckResult.decode(got.value());
            if (result.results().size() != questions.size()) {
                throw new Fields.UnexpectedException(
                    result.results().size() + " results for " + questions.size() + " checks");
            }
            return result;
        }, deadline);
    }

    /** Up to 100 questions. The answers are in order; the future only fails with what a hook throws. */
    CompletableFuture<List<CheckAnswer>> each(List<Question> questions, Deadline deadline) {
        List<GrantdException> refusals = questions.stream().map(Checks::refusalOf).toList();
        List<Question> sent = new ArrayList<>();
        for (int i = 0; i < questions.size(); i++) if (refusals.get(i) == null) sent.add(questions.get(i));
        return each(sent, REFUSED_MAX, deadline).thenApply(answers -> {
            Iterator<CheckAnswer> next = answers.iterator();
            return refusals.stream().map(each -> each == null ? next.next() : new CheckAnswer(false, each)).toList();
        });
    }

    /** Why a question cannot be sent; null: it can. */
    static GrantdException refusalOf(Question question) {
        try {
            question.toJson().forEach((name, text) -> Json.whole((String) text, name));
            return null;
        } catch (IllegalArgumentException e) {
            return GrantdException.of(Failure.invalidRequest(e.getMessage()));
        }
    }

    private CompletableFuture<List<CheckAnswer>> each(List<Question> questions, int named, Deadline deadline) {
        if (questions.isEmpty()) return CompletableFuture.completedFuture(List.of());
        if (questions.size() == 1) {
            return one(questions.get(0), CallContext.NONE, false, deadline)
                .handle((result, error) -> List.of(new CheckAnswer(error == null && result.authorized(), known(error))));
        }
        return bulk(questions, CallContext.NONE, deadline)
            .handle((result, error) -> {
                if (error != null) return afterRefusal(questions, named, deadline, known(error));
                List<CheckAnswer> answers = new ArrayList<>(questions.size());
                for (BulkCheckAnswer each : result.results()) answers.add(new CheckAnswer(each.authorized(), null));
                return CompletableFuture.completedFuture(answers);
            })
            .thenCompose(answers -> answers);
    }

    private static GrantdException known(Throwable error) {
        if (error == null) return null;
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause instanceof GrantdException found) return found;
        throw Futures.thrown(cause);
    }

    private CompletableFuture<List<CheckAnswer>> afterRefusal(
        List<Question> questions, int named, Deadline deadline, GrantdException refused) {
        if (!OF_ELEMENTS.contains(refused.status())) {
            List<CheckAnswer> same = new ArrayList<>();
            for (Question each : questions) same.add(new CheckAnswer(false, refused));
            return CompletableFuture.completedFuture(same);
        }
        Matcher place = ELEMENT.matcher(refused.detail());
        if (named > 0 && place.find() && Integer.parseInt(place.group(1)) < questions.size()) {
            // A wrong number would fail the wrong check, but never answer one.
            int index = Integer.parseInt(place.group(1));
            String detail = refused.detail().substring(0, place.start()) + refused.detail().substring(place.end());
            List<Question> others = new ArrayList<>(questions);
            others.remove(index);
            return each(others, named - 1, deadline).thenApply(answers -> {
                List<CheckAnswer> all = new ArrayList<>(answers);
                all.add(index, new CheckAnswer(false, GrantdException.of(refused.failure().withDetail(detail))));
                return all;
            });
        }
        int half = questions.size() / 2;
        var first = each(questions.subList(0, half), named, deadline);
        return first.thenCompose(before ->
            each(questions.subList(half, questions.size()), named, deadline).thenApply(after -> {
                List<CheckAnswer> all = new ArrayList<>(before);
                all.addAll(after);
                return all;
            }));
    }
}
