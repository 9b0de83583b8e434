// What a mirror promises, in any database: at each moment that can be asked about, exactly the grants of that moment.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { MirrorPlace } from '../../../packages/sync/src/mirror.ts';
import { runMirror } from '../../../packages/sync/src/run-mirror.ts';
import { type MirrorDatabase, SqlMirror } from '../../../packages/sync/src/sql-mirror.ts';
import { Killed, killedAt } from '../../kit/killed-database.ts';
import { joinsOf, ScriptedHistory } from './scripted-history.ts';

const FEW = ['document:parent', 'document:viewer'];
const MORE = [...FEW, 'folder:viewer'];
const COMMITS = 60;
/** So the horizon moves soon. */
const COMMIT_MS = 60_000;

export interface MirrorHome {
  /** A connection of its own. */
  open(): Promise<MirrorDatabase>;
  /** Drops everything. */
  clear(): Promise<void>;
}

/** Compares every moment that can be asked about. */
export async function compareMoments(
  database: MirrorDatabase,
  history: ScriptedHistory,
  what: string,
): Promise<number> {
  const state = await new SqlMirror(database).state();
  if (state === undefined) return 0;
  const rows = await database.run(`SELECT object, relation, subject, since, until, expires_at, conditional
    FROM ${database.table('grants')}`);
  let moments = 0;
  for (let seq = state.horizon; seq <= history.seq; seq += 1) {
    if (history.through(seq, state.pairs) > state.seq) break;
    const found: string[] = rows
      .filter(({ since, until }) => Number(since) <= seq && seq < Number(until))
      .map(({ object, relation, subject, expires_at, conditional }) =>
        [object, relation, subject, expires_at, Number(conditional) === 1].map(String).join(' '),
      );
    const wanted: string[] = history
      .stateAt(seq, state.pairs)
      .map(({ object, relation, subject, expires_at, conditional }) =>
        [object, relation, subject, expires_at, conditional].map(String).join(' '),
      );
    assert.deepEqual(found.sort(), wanted.sort(), `${what}, entry ${seq} of ${state.horizon} to ${state.seq}`);
    moments += 1;
  }
  return moments;
}

/** To the end of the history. */
async function run(
  database: MirrorDatabase,
  history: ScriptedHistory,
  onPage: (places: readonly MirrorPlace[]) => Promise<void> = async () => undefined,
): Promise<readonly MirrorPlace[]> {
  const [ended, places]: [AbortController, MirrorPlace[]] = [new AbortController(), []];
  history.onEnd = () => ended.abort();
  history.beforePage = () => onPage(places);
  await runMirror({
    source: history,
    mirror: new SqlMirror(database),
    signal: ended.signal,
    nowMs: () => history.seq * COMMIT_MS,
    watch: { note: () => undefined, loaded: () => undefined, followed: (_page, place) => places.push(place) },
  });
  return places;
}

const historyOf = (seed: number): ScriptedHistory => new ScriptedHistory(seed, COMMITS, joinsOf('r1', FEW));

export function defineMirrorContract({ open, clear }: MirrorHome): void {
  for (let seed = 1; seed <= 5; seed += 1) {
    it(`has the grants of each moment after each page, history ${seed}`, async () => {
      await clear();
      const [database, history] = [await open(), historyOf(seed)];
      let moments = 0;
      const places = await run(database, history, async () => {
        moments += await compareMoments(database, history, `history ${seed}`);
      });
      moments += await compareMoments(database, history, `the end of history ${seed}`);
      assert.ok(moments > COMMITS, String(moments));
      assert.equal(history.snapshots, 1);
      assert.ok((places.at(-1)?.horizon ?? 0) > (places[0]?.horizon ?? 0));
      await database.close();
    });
  }

  it('goes on after an end at any statement', async () => {
    await clear();
    const history = historyOf(6);
    for (let [count, isKilled] = [0, true]; isKilled; count += 1) {
      history.left = 20;
      const database = await open();
      isKilled = await run(killedAt(database, count), history).then(
        () => false,
        (error: unknown) => {
          if (error instanceof Killed) return true;
          throw error;
        },
      );
      await database.close();
      const reader = await open();
      await new SqlMirror(reader).open();
      const moments = await compareMoments(reader, history, `killed at statement ${count}`);
      if (!isKilled) assert.ok(moments > 1);
      await reader.close();
    }
  });

  it('makes a new mirror where rules need more grants, and none where they need fewer', async () => {
    await clear();
    const [database, history] = [await open(), historyOf(7)];
    await run(database, history, async (places) => {
      const { revision } = history.joinSet;
      if (revision === 'r1' && places.length > 5) history.changeRules(joinsOf('r2', MORE));
      else if (revision === 'r2' && places.length > 10) {
        history.changeRules(joinsOf('r3', FEW));
        history.gone = MORE.slice(FEW.length);
      }
      await compareMoments(database, history, 'other rules');
    });
    const state = await new SqlMirror(database).state();
    assert.deepEqual([state?.revision, state?.pairs, history.snapshots], ['r3', FEW, 2]);
    assert.ok((await compareMoments(database, history, 'at the end')) > 1);
    await database.close();
  });

  it('makes a new mirror when the feed is lost', async () => {
    await clear();
    const [database, history] = [await open(), historyOf(8)];
    await run(database, history, async (places) => {
      if (places.length === 4 && history.snapshots === 1) history.lost = 'old';
      await compareMoments(database, history, 'a lost feed');
    });
    assert.equal(history.snapshots, 2);
    assert.ok((await compareMoments(database, history, 'at the end')) > 1);
    await database.close();
  });

  it('answers nothing of another tenant or store while it makes a new mirror', async () => {
    await clear();
    const [database, history] = [await open(), historyOf(8)];
    const revisions = new Set<string | undefined>();
    await run(database, history, async (places) => {
      if (places.length === 4 && history.snapshots === 1) history.lost = 'foreign';
      // What comes after the snapshot is read before the new mirror is complete.
      if (history.snapshots === 2 && revisions.size === 0) {
        revisions.add((await new SqlMirror(database).state())?.revision);
      }
    });
    assert.deepEqual([history.snapshots, [...revisions]], [2, ['null']]);
    assert.equal((await new SqlMirror(database).state())?.revision, 'r1');
    await database.close();
  });

  it('is kept by one process', async () => {
    await clear();
    const [first, second] = [await open(), await open()];
    assert.deepEqual([await first.lock(), await second.lock()], [true, false]);
    await first.close();
    assert.equal(await second.lock(), true);
    await second.close();
  });
}
