package io.github.grantd;

import io.github.grantd.internal.Json;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Every change of the tenant, in order and once. It waits for more, and after a lost connection it resumes at its last
 * cursor. It is for one thread; only {@link #close} may be called by another one, and ends the iteration. After an error,
 * which no retry can resolve, the iteration is over.
 */
public final class ChangeFeed implements Iterator<ChangeEvent>, AutoCloseable {
    private final Grantd client;
    private final Transport transport;
    private final CountDownLatch closed = new CountDownLatch(1);
    private ChangesQuery query;
    private final Queue<ChangeEvent> ready = new ArrayDeque<>();
    private boolean isOver;
    private volatile LineStream stream;
    private volatile CompletableFuture<LineStream> opening;
    // The last change.
    private long seq = -1;
    private long index = -1;
    private int failures;
    private int connections;

    ChangeFeed(Grantd client, Transport transport, ChangesQuery query) {
        this.client = client;
        this.transport = transport;
        this.query = query;
    }

    /**
     * Waits for the next event.
     *
     * @return false once the feed is closed, or has failed before
     * @throws GrantdException if it cannot go on
     */
    @Override
    public boolean hasNext() {
        while (ready.isEmpty() && !isOver) {
            try {
                if (isClosed()) isOver = true;
                else read();
            } catch (GrantdException e) {
                pauseAfter(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw over(Failure.cancelled(e));
            }
        }
        return !ready.isEmpty();
    }

    @Override
    public ChangeEvent next() {
        if (!hasNext()) throw new NoSuchElementException();
        return ready.remove();
    }

    @Override
    public void close() {
        closed.countDown();
        CompletableFuture<LineStream> current = opening;
        if (current != null) current.cancel(true);
        disconnect();
    }

    private boolean isClosed() {
        return closed.getCount() == 0;
    }

    private void disconnect() {
        LineStream current = stream;
        if (current != null) current.close();
    }

    private GrantdException over(Failure failure) {
        isOver = true;
        close();
        return GrantdException.of(failure);
    }

    private void pauseAfter(GrantdException error) {
        disconnect();
        stream = null;
        if (isClosed()) return;
        if (!error.isRetryable()) throw over(error.failure());
        failures++;
        Duration pause = transport.backoff().before(failures, error.retryAfter());
        try {
            if (closed.await(pause.toNanos(), TimeUnit.NANOSECONDS)) isOver = true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw over(Failure.cancelled(e));
        }
    }

    private void read() throws InterruptedException {
        if (query.cursor() == null && "now".equals(query.since())) begin();
        if (!ready.isEmpty()) return;
        if (stream == null) connect();
        byte[] line;
        try {
            line = stream.next(transport.silence());
        } catch (BoundedBody.TooLargeException e) {
            throw invalid(e.getMessage());
        } catch (IOException e) {
            throw GrantdException.of(Failure.connectionLost(e).at(transport.where(query.stream())));
        }
        if (line.length == 0) return;
        try {
            deliver(Fields.of(Json.parse(line)));
        } catch (Json.MalformedException e) {
            throw GrantdException.of(Failure.garbled(200, Failure.NO_HEADERS, e.getMessage()));
        } catch (Fields.UnexpectedException e) {
            throw invalid(e.getMessage());
        }
    }

    private static GrantdException invalid(String why) {
        return GrantdException.of(Failure.invalidResponse(200, Failure.NO_HEADERS, why));
    }

    /** A second "now" would be another moment, and miss the changes in between. The page may have a change already. */
    private void begin() {
        ChangeList page = client.listChangesPage(query, 1, Duration.ZERO);
        query = query.at(page.nextCursor());
        for (Change change : page.changes()) deliver(change, page.nextCursor());
    }

    private void connect() {
        connections++;
        Deadline deadline = Deadline.in(transport.silence());
        CompletableFuture<LineStream> opened = transport.open(query.stream(), connections, deadline);
        opening = opened;
        if (isClosed()) opened.cancel(true);
        try {
            stream = Futures.await(opened);
        } catch (GrantdException e) {
            // No response in time: the silence, not the deadline of a call.
            if (!e.type().equals(GrantdException.TIMEOUT)) throw e;
            throw GrantdException.of(Failure.connectionLost(new IOException("no data for too long")));
        }
        if (isClosed()) disconnect();
    }

    private void deliver(Fields line) {
        String type = line.required("type", Fields::text);
        String cursor = line.required("cursor", Fields::cursor);
        Change change = line.optional("change", Change::decode);
        line.optional("at", Fields::time);
        Long upTo = line.optional("seq", Fields::integer);
        if (type.equals("change") && change == null) throw new Fields.UnexpectedException("a line without its change");
        failures = 0;
        query = query.at(cursor);
        if (type.equals("checkpoint")) {
            if (query.checkpoints() && upTo == null) throw new Fields.UnexpectedException("a checkpoint without its seq");
            if (query.checkpoints()) ready.add(new ChangeEvent(cursor, null, upTo));
        } else if (type.equals("change")) {
            deliver(change, cursor);
        }
    }

    /** Leaves out what a connection repeats. */
    private void deliver(Change change, String cursor) {
        if (!isNew(change)) return;
        seq = change.seq();
        index = change.index();
        ready.add(new ChangeEvent(cursor, change, null));
    }

    private boolean isNew(Change change) {
        return change.seq() > seq || (change.seq() == seq && change.index() > index);
    }
}
