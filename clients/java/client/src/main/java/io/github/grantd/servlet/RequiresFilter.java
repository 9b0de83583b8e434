package io.github.grantd.servlet;

import io.github.grantd.Guard;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.function.Function;

/**
 * Lets a request through if its subject has a relation, or a derived name, on the object that it is about. Otherwise the
 * response has the status of the verdict of the guard: 401, 403, 404 or 503. Map it to the paths that it guards.
 */
public final class RequiresFilter extends HttpFilter {
    private static final long serialVersionUID = 1;

    private final transient Guard guard;
    private final transient Function<HttpServletRequest, String> subject;
    private final transient String relation;
    private final transient Function<HttpServletRequest, String> object;

    /**
     * A filter.
     *
     * @param guard decides
     * @param subject the subject of a request that has been authenticated, such as {@code user:ada}; null: it has not
     * @param relation a relation or derived name
     * @param object the object that a request is about, such as {@code document:plan}; null: none
     */
    public RequiresFilter(
        Guard guard,
        Function<HttpServletRequest, String> subject,
        String relation,
        Function<HttpServletRequest, String> object) {
        this.guard = guard;
        this.subject = subject;
        this.relation = relation;
        this.object = object;
    }

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
        throws IOException, ServletException {
        Guard.Verdict verdict = guard.decide(subject.apply(request), relation, object.apply(request));
        if (verdict == Guard.Verdict.ALLOWED) chain.doFilter(request, response);
        else response.sendError(verdict.status());
    }
}
