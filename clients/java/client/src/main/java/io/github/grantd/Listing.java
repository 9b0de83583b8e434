package io.github.grantd;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The items of all pages of a listing. Each iteration begins anew, reads a page when it needs one, and throws a {@link
 * GrantdException} if it cannot.
 *
 * @param <T> the type of the items
 */
public final class Listing<T> implements Iterable<T> {
    /** One page; `next` is null at the end. */
    record Page<T>(List<T> items, String next) {}

    private final String first;
    private final Function<String, Page<T>> read;

    Listing(String first, Function<String, Page<T>> read) {
        this.first = first;
        this.read = read;
    }

    @Override
    public Iterator<T> iterator() {
        return new Pages();
    }

    /**
     * The items, read as the stream is consumed.
     *
     * @return a sequential stream
     */
    public Stream<T> stream() {
        return StreamSupport.stream(spliterator(), false);
    }

    private final class Pages implements Iterator<T> {
        private Page<T> page;
        private int at;

        @Override
        public boolean hasNext() {
            if (page == null) page = read(first);
            while (at == page.items().size() && page.next() != null) {
                page = read(page.next());
                at = 0;
            }
            return at < page.items().size();
        }

        private Page<T> read(String cursor) {
            Page<T> found = read.apply(cursor);
            if (found.next() != null && found.next().equals(cursor)) {
                throw GrantdException.of(Failure.endless());
            }
            return found;
        }

        @Override
        public T next() {
            if (!hasNext()) throw new NoSuchElementException();
            return page.items().get(at++);
        }
    }
}
