// Processes that keep the sets in the documents of a real OpenSearch: one that ends at any call, and two at once.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { missingOpenSearch } from '../../../tools/engines/opensearch.ts';
import { folders, historyOf, joinSet, SearchedIndex, useOpenSearch } from '../mirror/searched-index.ts';

const missing = await missingOpenSearch('processes that keep sets in OpenSearch');

/** A page of the feed brings the changes of an entry in one or more parts, so calls differ. */
const [RUNS, CALLS] = [40, 9];

class Killed extends Error {}

/** Fails at the n-th call from now on, and at all after it. */
function fetchUntil(count: number): typeof fetch {
  let left = count;
  return (...call) => {
    left -= 1;
    return left < 0 ? Promise.reject(new Killed()) : fetch(...call);
  };
}

describe('sets in the documents of OpenSearch', { skip: missing ?? false }, () => {
  const server = useOpenSearch();
  const { file } = server;

  it('are right after an end at any call', async () => {
    const index = new SearchedIndex(server.url, 'killed');
    await index.create();
    const { history, move } = folders();
    let kills = 0;
    for (let run = 0; run < RUNS; run += 1) {
      const count = run % CALLS;
      move();
      const fetch = fetchUntil(count);
      await index.keep({ file: file('killed'), history, fetch }).catch((error: Error) => {
        if (!(error.cause instanceof Killed)) throw error;
        kills += 1;
      });
      await index.keep({ file: file('killed'), history });
      await index.compare(history, history.seq, `killed at call ${count} of run ${run}`);
      if (run === 5) history.changeRules(joinSet('r2', { formula: 'a' }));
    }
    assert.ok(kills > RUNS / 2);
  });

  it('are kept by one of two processes, the other one goes on without writing all again', async () => {
    const index = new SearchedIndex(server.url, 'two');
    await index.create();
    const history = historyOf(24, 4);
    let atMs = 1_000_000;
    const nowMs = (): number => atMs;
    const first = { file: file('two'), history, nowMs };
    const second = { file: file('other'), history, holder: 'second', nowMs };
    assert.match(await index.keep(first), /^Writing the sets of all documents of two\.$/m);
    const isWaiting = 'first keeps two. Waiting for its end.\n';
    for (const kept of ['', isWaiting, '']) {
      history.left = 2;
      assert.equal(await index.keep(kept === '' ? first : second), kept);
    }
    const onPage = async (): Promise<void> => {
      atMs += 31_000;
    };
    history.left = 4;
    assert.equal(await index.keep({ ...second, onPage }), isWaiting);
    await index.compare(history, history.seq, 'taken over');
    history.left = 4;
    assert.equal(await index.keep(first), 'second keeps two. Waiting for its end.\n');
    const { holder, seq } = await index.place();
    assert.equal(holder, 'second');
    assert.ok(Number(seq) < history.seq);
  });
});
