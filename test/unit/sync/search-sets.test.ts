// What documents of a search engine have, and the query that goes with it, against the definition of a join, on random
// cases.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OPEN } from '../../../packages/sync/src/mirror.ts';
import {
  grantsAbove,
  ObjectSets,
  SETS_MAX,
  searchFields,
  searchQuery,
  structureOf,
} from '../../../packages/sync/src/search-sets.ts';
import { SqlMirror } from '../../../packages/sync/src/sql-mirror.ts';
import { SqliteDatabase } from '../../../packages/sync/src/sqlite-database.ts';
import { namespaceOf } from '../../../src/core/tuples.ts';
import type { Join, JoinedNode } from '../../../src/rules/join.ts';
import { NaiveJoin, type NaiveSets, searchTerms } from '../../kit/naive-join.ts';
import { naiveModel } from '../../kit/naive-rules.ts';
import { joinCases, setsOf } from '../rules/join-cases.ts';
import type { CaseKind } from '../rules/random-rules.ts';
import { type JoinedRow, mirroredRows } from './join-sql-cases.ts';

const ID = 'document_can_read';

type Fields = Readonly<Record<string, readonly string[]>>;
interface Query {
  readonly bool?: {
    readonly should?: readonly Query[];
    readonly filter?: readonly Query[];
    readonly must_not?: readonly Query[];
  };
  readonly terms?: Readonly<Record<string, '$sets' | '$sure'>>;
  readonly match_none?: object;
}

/** As the engines have it. */
function matches(fields: Fields, terms: ReturnType<typeof searchTerms>, query: Query): boolean {
  const all = (queries: readonly Query[] = []): readonly boolean[] =>
    queries.map((each) => matches(fields, terms, each));
  if (query.match_none !== undefined) return false;
  for (const [path, place] of Object.entries(query.terms ?? {})) {
    const wanted = terms[place === '$sure' ? 'sure' : 'sets'];
    return fields[path.slice(`grantd.${ID}.`.length)]?.some((each) => wanted.includes(each)) ?? false;
  }
  const { should, filter, must_not } = query.bool ?? {};
  return (
    (should === undefined || all(should).includes(true)) &&
    !all(filter).includes(false) &&
    !all(must_not).includes(true)
  );
}

async function withMirror<Result>(
  rows: readonly JoinedRow[],
  run: (database: SqliteDatabase) => Promise<Result>,
): Promise<Result> {
  const database = new SqliteDatabase(':memory:');
  await new SqlMirror(database).begin('grants');
  for (const row of rows)
    await database.run('INSERT INTO grantd_grants VALUES ($1, $2, $3, $4, $5, $6, $7, $8)', ...row);
  try {
    return await run(database);
  } finally {
    await database.close();
  }
}

const nodesOf = ({ atoms, nesting }: Join): readonly JoinedNode[] => [...Object.values(atoms), ...nesting];

function testCases(kind: CaseKind, seeds: number): void {
  it(`finds every object that may be held, and no other where nothing is undecided: ${kind}`, async () => {
    const counts = { true: 0, false: 0, undefined: 0 };
    for (const each of joinCases(kind, seeds)) {
      const { join, ruleSet, grants, subjects, objects } = each;
      const joins = { revision: 'r1', joins: [{ id: ID, join }] };
      const here = objects.filter((object) => namespaceOf(object) === join.namespace);
      const rows = mirroredRows(join, grants)
        .filter(([, , , since, , expiresAt]) => since < 8 && expiresAt === null)
        .map(([object, relation, subject, since, until, ...rest]): JoinedRow => {
          return [object, relation, subject, since, until === 1e15 ? OPEN : until, ...rest];
        });
      const stored = await withMirror(rows, (database) => grantsAbove(database, here, structureOf(joins)));
      const objectSets = new ObjectSets(join, stored);
      const isPlain =
        grants.every(({ condition }) => condition === undefined) && nodesOf(join).every(({ every }) => every !== true);
      const query: Query = searchQuery({ id: ID, join });
      for (const subject of subjects) {
        const sets = setsOf(each, subject, naiveModel(ruleSet, grants, subject));
        const naive = new NaiveJoin(join, grants, sets);
        for (const object of here) {
          const truth = naive.truthOf(object);
          counts[`${truth}`] += 1;
          const fields = objectSets.of(object);
          assert.deepEqual(Object.keys(fields).sort(), searchFields(join).toSorted());
          const isFound = matches(fields, searchTerms(sets), query);
          const what = `${each.what}, ${subject}, ${object}: ${truth}`;
          if (truth !== false) assert.equal(isFound, true, what);
          else if (isPlain) assert.equal(isFound, false, what);
        }
      }
    }
    assert.ok(counts.true > 0 && counts.false > 0);
    assert.equal(counts.undefined > 0, kind !== 'union');
  });
}

const JOIN: Join = {
  namespace: 'document',
  name: 'can_read',
  groups: true,
  public: ['user'],
  mirror: [],
  atoms: {
    a: { relations: ['viewer'], own: [], from: [{ relation: 'parent', names: ['viewer'] }] },
    b: { relations: ['blocked'], own: [], from: [{ relation: 'parent', names: ['blocked'] }] },
  },
  formula: { all_of: ['a'], none_of: ['b'] },
  nesting: ['viewer', 'blocked'].map((name) => ({
    ...{ namespace: 'folder', name, relations: [], own: [], held: name },
    from: [{ relation: 'parent', names: [name] }],
  })),
  ask: ['viewer', 'blocked'],
  depth_max: 2,
};

async function fieldsOf(
  rows: readonly (readonly [object: string, relation: string, subject: string])[],
): Promise<Fields> {
  const all = rows.map((row): JoinedRow => [...row, 1, OPEN, null, 0, row[2].includes('#') ? 1 : 0]);
  const structure = structureOf({ revision: 'r1', joins: [{ id: ID, join: JOIN }] });
  return withMirror(all, async (database) =>
    new ObjectSets(JOIN, await grantsAbove(database, ['document:1'], structure)).of('document:1'),
  );
}

const NOBODY: NaiveSets = { subjects: ['user:eve'], held: [], perhaps: [], own: 'user:eve#self' };
const isFound = (fields: Fields, sets: NaiveSets): boolean =>
  matches(fields, searchTerms(sets), searchQuery({ id: ID, join: JOIN }));

describe('sets for search engines', () => {
  testCases('union', 12);
  testCases('conditions', 12);
  testCases('whole', 20);

  it('a document with more sets than a field holds is found by everybody, and hidden from nobody', async () => {
    const users = Array.from({ length: SETS_MAX + 1 }, (_, index) => `user:${index}`);
    const few = await fieldsOf(users.slice(1).map((user) => ['document:1', 'viewer', user]));
    assert.deepEqual([few.a?.length, isFound(few, NOBODY)], [SETS_MAX, false]);
    const many = await fieldsOf(
      users.flatMap((user) => [
        ['document:1', 'viewer', user],
        ['document:1', 'blocked', user],
      ]),
    );
    assert.deepEqual(many, { a: ['^'], b_sure: [] });
    assert.equal(isFound(many, NOBODY), true);
  });

  it('containers beyond the levels that are followed let a document be found, and never hide it', async () => {
    const above = (levels: number) =>
      fieldsOf([
        ['document:1', 'parent', 'folder:1'],
        ...Array.from({ length: levels - 1 }, (_, index) => {
          return [`folder:${index + 1}`, 'parent', `folder:${index + 2}`] as const;
        }),
      ]);
    const held = (names: readonly string[], level: number): NaiveSets => {
      return { ...NOBODY, held: names.map((name) => `folder:${level}#${name}`) };
    };
    const fields = await above(5);
    for (const level of [1, 3, 5]) assert.equal(isFound(fields, held(['viewer'], level)), true, String(level));
    for (const [level, wanted] of [
      [1, false],
      [3, false],
      [4, true],
    ] as const) {
      assert.equal(isFound(fields, held(['viewer', 'blocked'], level)), wanted, String(level));
    }
  });
});
