// A mirror in a real Postgres, and the functions by which it is asked.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PostgresDatabase } from '../../../packages/sync/src/postgres-database.ts';
import { SqlMirror } from '../../../packages/sync/src/sql-mirror.ts';
import { missingPostgres, PostgresServer } from '../../../tools/engines/postgres.ts';
import { defineMirrorContract } from './mirror-contract.ts';

const missing = await missingPostgres('the contract of a mirror in Postgres');
const SCHEMA = 'grantd "quoted"';

describe('a mirror in Postgres', { skip: missing ?? false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.stop());
  defineMirrorContract({
    open: () => PostgresDatabase.open(server.url, SCHEMA),
    clear: async () => {
      const database = await PostgresDatabase.open(server.url, SCHEMA);
      await database.run(`DROP SCHEMA ${database.table('').slice(0, -1)} CASCADE`);
      await database.close();
    },
  });
});
