// The HTTP client of the JDK with the fake in place of the network: the client of grantd is the real one.

package io.github.grantd.testing;

import io.github.grantd.internal.Json;
import java.io.IOException;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;

final class FakeHttpClient extends HttpClient {
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "grantd-fake");
        thread.setDaemon(true);
        return thread;
    });

    private final Tenant tenant;

    FakeHttpClient(Tenant tenant) {
        this.tenant = tenant;
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler) {
        return CompletableFuture.supplyAsync(() -> serve(request), THREADS)
            .thenCompose(result -> respond(request, handler, result));
    }

    private Service.Result serve(HttpRequest request) {
        byte[] body = request.bodyPublisher().map(FakeHttpClient::bytesOf).orElse(new byte[0]);
        String id = Values.newId("req");
        try {
            return Service.serve(tenant, new FakeRequest(id, request.method(), request.uri(), request.headers(), body));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] bytesOf(HttpRequest.BodyPublisher publisher) {
        BodySubscriber<byte[]> subscriber = HttpResponse.BodySubscribers.ofByteArray();
        publisher.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscriber.onSubscribe(subscription);
            }

            @Override
            public void onNext(ByteBuffer part) {
                subscriber.onNext(List.of(part));
            }

            @Override
            public void onError(Throwable error) {
                subscriber.onError(error);
            }

            @Override
            public void onComplete() {
                subscriber.onComplete();
            }
        });
        return subscriber.getBody().toCompletableFuture().join();
    }

    private <T> CompletableFuture<HttpResponse<T>> respond(
        HttpRequest request, BodyHandler<T> handler, Service.Result result) {
        Map<String, List<String>> headers = result.headers().entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, each -> List.of(each.getValue())));
        Info info = new Info(result.status(), HttpHeaders.of(headers, (name, value) -> true));
        BodySubscriber<T> subscriber = handler.apply(info);
        Parts parts = new Parts(tenant);
        subscriber.onSubscribe(parts);
        THREADS.execute(() -> {
            try {
                if (result.feed() == null) parts.send(subscriber, result.body());
                else parts.stream(subscriber, result.feed());
            } catch (InterruptedException e) {
                subscriber.onError(e);
            }
        });
        return subscriber.getBody().toCompletableFuture().thenApply(body -> new Response<>(request, info, body));
    }

    private record Info(int statusCode, HttpHeaders headers) implements ResponseInfo {
        @Override
        public Version version() {
            return Version.HTTP_1_1;
        }
    }

    /** Sends no more parts than are requested. */
    private static final class Parts implements Flow.Subscription {
        private final Tenant tenant;
        private final Semaphore requested = new Semaphore(0);
        private volatile boolean isCancelled;

        Parts(Tenant tenant) {
            this.tenant = tenant;
        }

        @Override
        public void request(long count) {
            requested.release((int) Math.min(count, 1 << 16));
        }

        /** Also wakes a feed that waits for changes. */
        @Override
        public void cancel() {
            isCancelled = true;
            requested.release();
            synchronized (tenant) {
                tenant.notifyAll();
            }
        }

        void send(BodySubscriber<?> subscriber, byte[] body) throws InterruptedException {
            requested.acquire();
            if (isCancelled) return;
            if (body.length > 0) subscriber.onNext(List.of(ByteBuffer.wrap(body)));
            subscriber.onComplete();
        }

        void stream(BodySubscriber<?> subscriber, Feed feed) throws InterruptedException {
            while (true) {
                requested.acquire();
                Map<String, Object> line = feed.line(() -> isCancelled);
                if (line == null || isCancelled) return;
                String text = new String(Json.write(line), StandardCharsets.UTF_8) + "\n";
                subscriber.onNext(List.of(StandardCharsets.UTF_8.encode(text)));
            }
        }
    }

    private record Response<T>(HttpRequest request, Info info, T body) implements HttpResponse<T> {
        @Override
        public int statusCode() {
            return info.statusCode();
        }

        @Override
        public Optional<HttpResponse<T>> previousResponse() {
            return Optional.empty();
        }

        @Override
        public HttpHeaders headers() {
            return info.headers();
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
    public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler)
        throws IOException, InterruptedException {
        try {
            return sendAsync(request, handler).get();
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        }
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(
        HttpRequest request, BodyHandler<T> handler, PushPromiseHandler<T> pushes) {
        return sendAsync(request, handler);
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
    public Redirect followRedirects() {
        return Redirect.NEVER;
    }

    @Override
    public Optional<ProxySelector> proxy() {
        return Optional.empty();
    }

    @Override
    public SSLContext sslContext() {
        throw new UnsupportedOperationException("The fake has no connections.");
    }

    @Override
    public SSLParameters sslParameters() {
        return new SSLParameters();
    }

    @Override
    public Optional<Authenticator> authenticator() {
        return Optional.empty();
    }

    @Override
    public Version version() {
        return Version.HTTP_1_1;
    }

    @Override
    public Optional<Executor> executor() {
        return Optional.empty();
    }
}
