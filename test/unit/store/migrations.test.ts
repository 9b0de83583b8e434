// Steps of a schema are only ever appended to: stores were made by those that stand here, and a step that is edited is
// not applied to them again.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { MIGRATIONS as CASSANDRA } from '../../../src/store/cassandra/schema/migrations.ts';
import { MIGRATIONS as SQLITE } from '../../../src/store/sqlite/migrations.ts';

/** By version; a new step adds its own. */
const DIGESTS = {
  cassandra: ['342715053c02b70d'],
  sqlite: ['723390b8965f8d51'],
};

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

const SCHEMAS = [
  ['cassandra', CASSANDRA.map(({ version, statements }) => ({ version, text: statements('k').join(';\n') }))],
  ['sqlite', SQLITE.map(({ version, sql }) => ({ version, text: sql }))],
] as const;

for (const [name, steps] of SCHEMAS) {
  describe(`the schema of ${name}`, () => {
    it('has versions from 1 up, without gaps', () => {
      assert.deepEqual(
        steps.map(({ version }) => version),
        steps.map((_, index) => index + 1),
      );
    });

    it('consists of the steps that stores were made with', () => {
      assert.deepEqual(
        steps.map(({ text }) => digestOf(text)),
        DIGESTS[name],
      );
    });
  });
}
