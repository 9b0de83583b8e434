// The body of a response in memory, of a bounded size.

package io.github.grantd;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;

final class BoundedBody implements BodySubscriber<Object> {
    /** A page of 1,000 grants with the longest identifiers has 3 MB. */
    private static final int BYTES_MAX = 16 << 20;

    static final class TooLargeException extends IOException {
        private static final long serialVersionUID = 1;

        TooLargeException() {
            super("it is too large");
        }
    }

    /** In place of a body. */
    static final Object TOO_LARGE = new Object();

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final CompletableFuture<Object> body = new CompletableFuture<>();
    private Subscription subscription;

    @Override
    public CompletionStage<Object> getBody() {
        return body;
    }

    @Override
    public void onSubscribe(Subscription given) {
        subscription = given;
        given.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        if (body.isDone()) return;
        for (ByteBuffer buffer : buffers) {
            if (bytes.size() + buffer.remaining() > BYTES_MAX) {
                subscription.cancel();
                body.complete(TOO_LARGE);
                return;
            }
            byte[] part = new byte[buffer.remaining()];
            buffer.get(part);
            bytes.writeBytes(part);
        }
        subscription.request(1);
    }

    @Override
    public void onError(Throwable error) {
        body.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
        body.complete(bytes.toByteArray());
    }
}
