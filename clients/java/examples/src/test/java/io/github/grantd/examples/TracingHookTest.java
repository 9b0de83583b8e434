package io.github.grantd.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.grantd.Grantd;
import io.github.grantd.GrantdException;
import io.github.grantd.testing.GrantdService;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class TracingHookTest {
    private final List<SpanData> ended = Collections.synchronizedList(new ArrayList<>());

    private final class Ended implements SpanProcessor {
        @Override
        public void onStart(Context parent, ReadWriteSpan span) {}

        @Override
        public boolean isStartRequired() {
            return false;
        }

        @Override
        public void onEnd(ReadableSpan span) {
            ended.add(span.toSpanData());
        }

        @Override
        public boolean isEndRequired() {
            return true;
        }

        @Override
        public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
        }
    }

    private final OpenTelemetry telemetry = OpenTelemetrySdk.builder()
        .setTracerProvider(SdkTracerProvider.builder().addSpanProcessor(new Ended()).build())
        .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
        .build();

    @Test
    void aSpanSurroundsEachCall() {
        Grantd grantd = GrantdService.start().builder().hook(new TracingHook(telemetry)).build();
        grantd.createGrant("user:ada", "viewer", "document:plan");
        assertThrows(GrantdException.InvalidRequest.class, () -> grantd.check("ada", "viewer", "document:plan"));
        assertEquals(List.of("grantd createGrant", "grantd check"), ended.stream().map(SpanData::getName).toList());
        assertEquals(StatusCode.UNSET, ended.get(0).getStatus().getStatusCode());
        assertEquals("invalid-subject", ended.get(1).getStatus().getDescription());
        assertTrue(ended.stream().allMatch(SpanData::hasEnded));
    }
}
