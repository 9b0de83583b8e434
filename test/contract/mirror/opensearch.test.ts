// The sets in the documents of a real OpenSearch: after each page of the feed, exactly what the mirror has.
// `test/contract/slow` has processes that end anywhere, and two at once.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SearchIndex } from '../../../packages/sync/src/search-index.ts';
import { searchQuery } from '../../../packages/sync/src/search-sets.ts';
import { missingOpenSearch } from '../../../tools/engines/opensearch.ts';
import { sync } from '../../unit/cli/scripted-sync.ts';
import { folders, historyOf, joinSet, SearchedIndex, SUBJECTS, useOpenSearch } from './searched-index.ts';

const missing = await missingOpenSearch('sets in the documents of OpenSearch');

describe('sets in the documents of OpenSearch', { skip: missing ?? false }, () => {
  const server = useOpenSearch();
  const { file } = server;

  it('are those of the mirror after each page, and after rules that read them otherwise', async () => {
    const index = new SearchedIndex(server.url, 'pages');
    await index.create();
    const history = historyOf(21, 14);
    let pages = 0;
    const onPage = async (seq: number): Promise<void> => {
      pages += 1;
      if (pages > 1) await index.compare(history, seq, `page ${pages}`);
      if (pages === 6) history.changeRules(joinSet('r2', { formula: 'a' }));
    };
    await index.keep({ file: file('pages'), history, onPage });
    assert.ok(pages > 8);
    await index.compare(history, history.seq, 'the end');
    const { revision, ready, seq, queries } = await index.place();
    assert.deepEqual([revision, ready, seq], ['r2', true, history.seq]);
    const [first] = history.joinSet.joins;
    assert.deepEqual(queries, { 'document.can_read': first && searchQuery(first) });
  });

  it('follow a folder that moves', async () => {
    const index = new SearchedIndex(server.url, 'folders');
    await index.create();
    const { history, move } = folders();
    for (const found of [[], [['1'], []], [[], ['1']], [['1'], []]]) {
      await index.keep({ file: file('folders'), history });
      const [ada, bob] = await Promise.all(SUBJECTS.map((sets) => index.search(sets, history.joinSet)));
      if (found.length > 0) assert.deepEqual([ada, bob], found);
      await index.compare(history, history.seq, 'moved');
      move();
    }
  });

  it('are in documents that the application has added or replaced, soon, and until then nobody finds these', async () => {
    const index = new SearchedIndex(server.url, 'new');
    await index.create();
    const history = historyOf(22, 4);
    await index.keep({ file: file('new'), history });
    await index.call('PUT', '/new/_doc/1?refresh=true', { title: 'replaced' });
    for (const sets of SUBJECTS) assert.ok(!(await index.search(sets, history.joinSet)).includes('1'));
    await index.keep({ file: file('new'), history });
    await index.compare(history, history.seq, 'replaced');
    const { _source } = await index.call('GET', '/new/_doc/1?_source_includes=title');
    assert.deepEqual(_source, { title: 'replaced' });
  });

  it('are never older than they were, however late a process writes', async () => {
    const searched = new SearchedIndex(server.url, 'late');
    await searched.create();
    const index = new SearchIndex({ url: server.url, index: 'late' });
    const [document, ...more] = await index.read(['1', 'missing']);
    assert.ok(document);
    assert.deepEqual(more, []);
    assert.deepEqual(await index.write([{ document, sets: { seq: 2 } }], false), []);
    assert.deepEqual(await index.write([{ document, sets: { seq: 1 } }], false), ['1']);
    assert.equal((await index.read(['1']))[0]?.seq, 2);
  });

  it('are kept by a command, which says what is wrong with an index', async () => {
    const index = new SearchedIndex(server.url, 'command');
    await index.create();
    const history = historyOf(26, 2);
    const run = (name: string) =>
      sync(history, [
        ...['opensearch', '--join', 'document.can_read', '--url', server.url, '--index', name],
        ...['--file', file('command')],
      ]);
    const kept = await run('command');
    assert.equal(kept.code, 0, kept.stderr);
    assert.match(kept.stderr, /^All documents of command have their sets, as of entry \d+\.$/m);
    await index.compare(history, history.seq, 'the end');
    history.left = 2;
    const wrong = await run('missing');
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /^grantd: 127\.0\.0\.1:\d+, index missing: status 404: no such index \[missing\]$/m);
  });
});
