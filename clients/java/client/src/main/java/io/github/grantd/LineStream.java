// The body of a response as lines, while it comes. At most one part of it waits here: the next one is requested when it
// has been read.

package io.github.grantd;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

final class LineStream implements BodySubscriber<Object>, AutoCloseable {
    /** A line has one change, whose rules may have 128 KiB, twice, and be escaped. */
    private static final int LINE_BYTES_MAX = 2 << 20;

    /** What ends the stream: an error, or null. */
    private record End(Throwable error) {}

    private final BlockingQueue<Object> parts = new LinkedBlockingQueue<>();
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private volatile Subscription subscription;
    private volatile boolean isClosed;
    private List<ByteBuffer> part = List.of();

    @Override
    public CompletionStage<Object> getBody() {
        return CompletableFuture.completedFuture(this);
    }

    @Override
    public void onSubscribe(Subscription given) {
        subscription = given;
        if (isClosed) given.cancel();
        else given.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        parts.add(buffers);
    }

    @Override
    public void onError(Throwable error) {
        parts.add(new End(error));
    }

    @Override
    public void onComplete() {
        parts.add(new End(null));
    }

    /**
     * The next line without its end. Half a line of a lost connection is dropped. Throws a TooLargeException if it is
     * too long, and any other IOException if there is none, or none in time.
     */
    byte[] next(Duration silence) throws IOException, InterruptedException {
        Deadline deadline = Deadline.in(silence);
        while (true) {
            for (ByteBuffer buffer : part) {
                while (buffer.hasRemaining()) {
                    byte each = buffer.get();
                    if (each == '\n') {
                        byte[] whole = line.toByteArray();
                        line.reset();
                        return whole;
                    }
                    if (line.size() == LINE_BYTES_MAX) throw new BoundedBody.TooLargeException();
                    line.write(each);
                }
            }
            part = nextPart(deadline);
        }
    }

    @SuppressWarnings("unchecked")
    private List<ByteBuffer> nextPart(Deadline deadline) throws IOException, InterruptedException {
        Object next = parts.poll(Math.max(deadline.leftNanos(), 0), TimeUnit.NANOSECONDS);
        if (next == null) throw new IOException("no data for too long");
        if (next instanceof End end) throw new IOException("the stream has ended", end.error());
        subscription.request(1);
        return (List<ByteBuffer>) next;
    }

    /** A reader that waits gets an IOException. */
    @Override
    public void close() {
        isClosed = true;
        if (subscription != null) subscription.cancel();
        parts.add(new End(null));
    }
}
