// The HTTP client of the JDK, which keeps the texts of what it is to send, as a service reads them, and answers with a 503.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;

final class RecordingHttpClient extends HttpClient {
    final List<String> texts = new ArrayList<>();

    private void add(Object value) {
        if (value instanceof String text) texts.add(text);
        if (value instanceof List<?> list) list.forEach(this::add);
        if (value instanceof Map<?, ?> map) {
            map.forEach((name, each) -> {
                add(name);
                add(each);
            });
        }
    }

    private void read(HttpRequest request) {
        texts.add(request.method());
        texts.add(request.uri().getPath().replace("/v1/keys/", ""));
        if (request.uri().getRawQuery() != null) {
            for (String pair : request.uri().getRawQuery().split("&")) {
                texts.add(URLDecoder.decode(pair.substring(pair.indexOf('=') + 1), StandardCharsets.UTF_8));
            }
        }
        for (String name : List.of("Idempotency-Key", "If-Match", "If-None-Match")) {
            request.headers().firstValue(name).ifPresent(text -> texts.add(text.substring(1, text.length() - 1)));
        }
        BodySubscriber<byte[]> body = BodySubscribers.ofByteArray();
        request.bodyPublisher().ifPresent(publisher -> {
            publisher.subscribe(new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    body.onSubscribe(subscription);
                }

                @Override
                public void onNext(ByteBuffer part) {
                    body.onNext(List.of(part));
                }

                @Override
                public void onError(Throwable error) {
                    body.onError(error);
                }

                @Override
                public void onComplete() {
                    body.onComplete();
                }
            });
            byte[] bytes = body.getBody().toCompletableFuture().join();
            try {
                boolean isText = request.headers().firstValue("Content-Type").orElse("").equals(Request.RULES_TEXT);
                if (bytes.length > 0) add(isText ? Json.decode(bytes) : Json.parse(bytes));
            } catch (Json.MalformedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private record Info(int statusCode, HttpHeaders headers) implements ResponseInfo {
        @Override
        public Version version() {
            return Version.HTTP_1_1;
        }
    }

    private record Response<T>(HttpRequest request, T body, HttpHeaders headers) implements HttpResponse<T> {
        @Override
        public int statusCode() {
            return 503;
        }

        @Override
        public Optional<HttpResponse<T>> previousResponse() {
            return Optional.empty();
        }

        @Override
        public Optional<SSLSession> sslSession() {
            return Optional.empty();
        }

        @Override
        public URI uri() {
            return request.uri();
        }

        @Override
        public Version version() {
            return Version.HTTP_1_1;
        }
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler) {
        read(request);
        HttpHeaders none = HttpHeaders.of(Map.of(), (name, value) -> true);
        BodySubscriber<T> body = handler.apply(new Info(503, none));
        body.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long count) {}

            @Override
            public void cancel() {}
        });
        body.onComplete();
        return body.getBody().toCompletableFuture().thenApply(read -> new Response<>(request, read, none));
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(
        HttpRequest request, BodyHandler<T> handler, PushPromiseHandler<T> pushes) {
        return sendAsync(request, handler);
    }

    @Override
    public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler) {
        return sendAsync(request, handler).join();
    }

    @Override
    public Redirect followRedirects() {
        return Redirect.NEVER;
    }

    @Override
    public Version version() {
        return Version.HTTP_1_1;
    }

    @Override
    public Optional<CookieHandler> cookieHandler() {
        return Optional.empty();
    }

    @Override
    public Optional<Duration> connectTimeout() {
        return Optional.empty();
    }

    @Override
    public Optional<ProxySelector> proxy() {
        return Optional.empty();
    }

    @Override
    public SSLContext sslContext() {
        throw new UnsupportedOperationException();
    }

    @Override
    public SSLParameters sslParameters() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<Authenticator> authenticator() {
        return Optional.empty();
    }

    @Override
    public Optional<Executor> executor() {
        return Optional.empty();
    }
}
