// Statements over a mirror in SQLite against the definition of a join, on random cases.

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { JoinSql, SQLITE } from '../../../packages/sync/src/join-sql.ts';
import { namespaceOf } from '../../../src/core/tuples.ts';
import { parseGroup } from '../../../src/rules/compiled-rules.ts';
import type { Join } from '../../../src/rules/join.ts';
import { NaiveJoin, type NaiveSets } from '../../kit/naive-join.ts';
import { type NaiveGrant, naiveModel, type Truth } from '../../kit/naive-rules.ts';
import { joinCases, setsOf } from '../rules/join-cases.ts';
import type { CaseKind } from '../rules/random-rules.ts';

export const TRUTHS: readonly Truth[] = [false, 'undefined', true];

function kindOf(subject: string): number {
  if (subject === '*') return 3;
  if (parseGroup(subject) !== undefined) return 1;
  return subject === `${namespaceOf(subject)}:*` ? 2 : 0;
}

export type JoinedRow = [
  ...texts: [string, string, string],
  since: number,
  until: number,
  number | null,
  0 | 1,
  number,
];

/** Rows of what a join mirrors at entry 7 and time 1000, and of what is no more, not yet, or has expired. */
export const mirroredRows = (join: Join, grants: readonly NaiveGrant[]): readonly JoinedRow[] =>
  grants
    .filter(({ relation, object }) =>
      join.mirror.some(({ namespace, relations }) => namespace === namespaceOf(object) && relations.includes(relation)),
    )
    .flatMap(({ subject, relation, object, condition }): readonly JoinedRow[] => [
      [object, relation, subject, 5, 1e15, null, condition === undefined ? 0 : 1, kindOf(subject)],
      [object, relation, subject, 1, 5, null, 0, kindOf(subject)],
      [object, relation, subject, 8, 1e15, null, 0, kindOf(subject)],
      [object, relation, subject, 2, 1e15, 1000, 0, kindOf(subject)],
    ]);

function databaseOf(rows: readonly JoinedRow[]): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(`CREATE TABLE grantd_grants (object TEXT, relation TEXT, subject TEXT, since INTEGER, until INTEGER,
    expires_at INTEGER, conditional INTEGER, kind INTEGER)`);
  const insert = database.prepare('INSERT INTO grantd_grants VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  for (const row of rows) insert.run(...row);
  return database;
}

const parametersOf = ({ subjects, held, perhaps, own }: NaiveSets) => ({
  ':subjects': JSON.stringify(subjects),
  ':held': JSON.stringify(held),
  ':perhaps': JSON.stringify(perhaps),
  ':own_object': own.slice(0, Math.max(0, own.lastIndexOf('#'))),
  ':own_name': own.slice(own.lastIndexOf('#') + 1),
  ':at_seq': 7,
  ':at_time': 1000,
});

export function testJoinSql(kind: CaseKind, seeds: number): void {
  it(`finds in SQLite what the join says: ${kind}`, () => {
    const counts = { true: 0, false: 0, undefined: 0 };
    for (const each of joinCases(kind, seeds)) {
      const { join, ruleSet, grants, subjects, objects } = each;
      const sql = new JoinSql(join, SQLITE);
      using database = databaseOf(mirroredRows(join, grants));
      const objectsOf = database.prepare(sql.objects());
      const values = `SELECT o.value AS object, ${sql.value('o.value', 'up')} AS up, ${sql.value('o.value', 'down')} AS down
        FROM json_each(:objects) AS o`;
      const valuesOf = database.prepare(`${sql.reach()} ${values}`);
      for (const statement of [objectsOf, valuesOf]) statement.setAllowUnknownNamedParameters(true);
      const here = objects.filter((object) => namespaceOf(object) === join.namespace);
      for (const subject of subjects) {
        const sets = setsOf(each, subject, naiveModel(ruleSet, grants, subject));
        const naive = new NaiveJoin(join, grants, sets);
        const parameters = parametersOf(sets);
        const listed = new Map(objectsOf.all(parameters).map(({ object, value }) => [String(object), Number(value)]));
        for (const { object, up, down } of valuesOf.all({ ...parameters, ':objects': JSON.stringify(here) })) {
          const truth = naive.truthOf(String(object));
          counts[`${truth}`] += 1;
          const found = [up, down, listed.get(String(object)) ?? 0].map((value) => TRUTHS[Number(value)]);
          assert.deepEqual(
            found,
            [truth, truth, truth],
            `${each.what}, ${subject}, ${object}: upwards, downwards, listed`,
          );
        }
        const isOf = (object: string): boolean => namespaceOf(object) === join.namespace;
        assert.deepEqual(
          [...listed].filter(([object, value]) => value > 0 && !isOf(object)),
          [],
        );
      }
    }
    assert.ok(counts.true > 0 && counts.false > 0);
    assert.equal(counts.undefined > 0, kind !== 'union');
  });
}
