// Traces calls of grantd with OpenTelemetry: a span around each call with all its retries, whose context goes to the
// service.

package io.github.grantd.examples;

import io.github.grantd.Call;
import io.github.grantd.CallHook;
import io.github.grantd.CallOutcome;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.function.Consumer;

public final class TracingHook implements CallHook {
    private final OpenTelemetry telemetry;
    private final Tracer tracer;

    public TracingHook(OpenTelemetry telemetry) {
        this.telemetry = telemetry;
        tracer = telemetry.getTracer("io.github.grantd");
    }

    @Override
    public Consumer<CallOutcome> begin(Call call) {
        Span span = tracer.spanBuilder("grantd " + call.operation()).setSpanKind(SpanKind.CLIENT).startSpan();
        Context context = Context.current().with(span);
        telemetry.getPropagators().getTextMapPropagator().inject(context, call, Call::header);
        return outcome -> {
            if (outcome.status() != 0) span.setAttribute("http.response.status_code", outcome.status());
            if (outcome.requestId() != null) span.setAttribute("grantd.request_id", outcome.requestId());
            span.setAttribute("grantd.attempts", outcome.attempts());
            if (outcome.error() != null) span.setStatus(StatusCode.ERROR, outcome.error().type());
            span.end();
        };
    }
}
