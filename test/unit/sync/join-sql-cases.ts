// Statements over a mirror in SQLite against the definition of a join, on random cases.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { JoinSql, SQLITE } from '../../../packages/sync/src/join-sql.ts';
import { namespaceOf } from '../../../src/core/tuples.ts';
import { CompiledRules, parseGroup } from '../../../src/rules/compiled-rules.ts';
import { joinOf } from '../../../src/rules/join.ts';
import { NaiveJoin, type NaiveSets } from '../../kit/naive-join.ts';
import { type NaiveGrant, naiveModel, type Truth } from '../../kit/naive-rules.ts';
import { setsOf, typed } from '../rules/join-cases.ts';
import { randomCase } from '../rules/random-rules.ts';

const TRUTHS: readonly Truth[] = [false, 'undefined', true];

function kindOf(subject: string): number {
  if (subject === '*') return 3;
  if (parseGroup(subject) !== undefined) return 1;
  return subject === `${namespaceOf(subject)}:*` ? 2 : 0;
}

function databaseOf(grants: readonly NaiveGrant[], isMirrored: (grant: NaiveGrant) => boolean): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(`CREATE TABLE grantd_grants (object TEXT, relation TEXT, subject TEXT, since INTEGER, until INTEGER,
    expires_at INTEGER, conditional INTEGER, kind INTEGER)`);
  const insert = database.prepare('INSERT INTO grantd_grants VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  for (const grant of grants.filter(isMirrored)) {
    const { subject, relation, object, condition } = grant;
    insert.run(object, relation, subject, 5, 1e15, null, condition === undefined ? 0 : 1, kindOf(subject));
    // What is no more, not yet, or has expired.
    insert.run(object, relation, subject, 1, 5, null, 0, kindOf(subject));
    insert.run(object, relation, `${subject}`, 8, 1e15, null, 0, kindOf(subject));
    insert.run(object, relation, `${subject}`, 2, 1e15, 1000, 0, kindOf(subject));
  }
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

export function testJoinSql(kind: 'union' | 'conditions' | 'whole', cases: number): void {
  it(`finds in SQLite what the join says: ${kind}`, () => {
    const counts = { true: 0, false: 0, undefined: 0 };
    for (let seed = 1; seed <= cases; seed += 1) {
      const drawn = randomCase(seed, kind);
      const world = seed % 2 === 0 ? drawn : { ...drawn, ruleSet: typed(drawn) };
      const { ruleSet, grants, subjects, objects, names } = world;
      const rules = new CompiledRules(ruleSet);
      const name = names[seed % names.length] ?? '';
      for (const namespace of ['document', 'folder']) {
        const number = rules.numberOf(name) ?? 0;
        const join = joinOf(ruleSet, rules, { namespace, name, deep: seed % 3 === 0 ? ['folder'] : [] }, number);
        const sql = new JoinSql(join, SQLITE);
        const database = databaseOf(grants, ({ relation, object }) =>
          join.mirror.some((each) => each.namespace === namespaceOf(object) && each.relations.includes(relation)),
        );
        const objectsOf = database.prepare(sql.objects(10_000));
        const values = `SELECT o.value AS object, ${sql.value('o.value', 'up')} AS up, ${sql.value('o.value', 'down')} AS down
          FROM json_each(:objects) AS o`;
        const valuesOf = database.prepare(`${sql.reach(10_000)} ${values}`);
        for (const statement of [objectsOf, valuesOf]) statement.setAllowUnknownNamedParameters(true);
        const here = objects.filter((each) => namespaceOf(each) === namespace);
        for (const subject of subjects) {
          const sets = setsOf(world, rules, join, subject, naiveModel(ruleSet, grants, subject));
          const naive = new NaiveJoin(join, grants, sets);
          const parameters = parametersOf(sets);
          const found = new Map(objectsOf.all(parameters).map(({ object, value }) => [object, value]));
          for (const { object, up, down } of valuesOf.all({ ...parameters, ':objects': JSON.stringify(here) })) {
            const truth = naive.truthOf(String(object));
            const what = `seed ${seed}: ${subject} ${name} ${object}`;
            assert.equal(TRUTHS[Number(up)], truth, `${what}, upwards`);
            assert.equal(TRUTHS[Number(down)], truth, `${what}, downwards`);
            assert.equal(TRUTHS[Number(found.get(object) ?? 0)], truth, `${what}, listed`);
            counts[`${truth}`] += 1;
            found.delete(object);
          }
          assert.deepEqual([...found].filter(([object, value]) => here.includes(String(object)) || Number(value) > 0 && !objects.includes(String(object)) && namespaceOf(String(object)) !== namespace), []);
        }
      }
    }
    console.log(counts);
  });
}
