// Steps of a schema are only ever appended to: stores were made by those that stand here, and a step that is edited is
// not applied to them again.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { MIGRATIONS as CASSANDRA } from '../../../src/store/cassandra/schema/migrations.ts';
import { MIGRATIONS as SQLITE } from '../../../src/store/sqlite/migrations.ts';

/** By version; a new step adds its own. */
const DIGESTS = {
  cassandra: [
    '54f52ae792e4eef2',
    '993b1abf6ff3e7e2',
    'd41a7a220e215f15',
    '6acecb806cd420f0',
    '429e5c17cf505b3a',
    '11243258fb5cddd1',
    'f0e4ff5bc502b710',
    '4babb80b5613c34c',
    'cdbb2176b7474c59',
    '7071ee70e6c2ff84',
  ],
  sqlite: [
    '856a45396569d5dd',
    'd54ed5690ccacb00',
    '1c1dd0d6c5335245',
    'e021abafdd810e96',
    '9eea971d49f07603',
    '22706fe54b3c1775',
    '88a1bba6935462a7',
    'df4c02a12c42cfc2',
    '749ec3d0bc2d5e46',
    'c77db18a88aae9f5',
    'caf9b5a82eb8bc95',
    '7737943004588067',
  ],
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
