// Keeps a copy of a tenant's grants in a SQLite database, in step with the change feed, to search and join. One
// transaction stores a change and the cursor after it, so after a crash at any moment the copy is the state of the
// tenant after some change, and resumes from there.
//
//   GRANTD_URL=http://127.0.0.1:8080 GRANTD_KEY=… node mirror.ts grants.db

import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

const { GRANTD_URL: url = 'http://127.0.0.1:8080', GRANTD_KEY: key = '' } = process.env;
const [, , file = 'grants.db'] = process.argv;
const PAUSE_MS = 500;
/** A stream has a checkpoint at least every 15 seconds. Without any for a minute, the connection is dead. */
const SILENCE_MS_MAX = 60_000;

interface Grant {
  readonly grant_id: string;
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  readonly expires_at: string | null;
  /** Of a conditional grant: without it, the copy would show it as one that always holds. */
  readonly condition?: { readonly name: string; readonly context: object };
}

interface Line {
  readonly cursor: string;
  readonly change?: { readonly action: string; readonly grant?: Grant };
}

const database = new DatabaseSync(file);
database.exec(`
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS grants (
    subject TEXT, relation TEXT, object TEXT, grant_id TEXT, expires_at TEXT, condition TEXT,
    PRIMARY KEY (object, relation, subject)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY CHECK (id = 0), cursor TEXT);
`);
const put = database.prepare('INSERT OR REPLACE INTO grants VALUES (?, ?, ?, ?, ?, ?)');
const remove = database.prepare('DELETE FROM grants WHERE subject = ? AND relation = ? AND object = ?');
const moveTo = database.prepare('INSERT OR REPLACE INTO place VALUES (0, ?)');
const readPlace = database.prepare('SELECT cursor FROM place');

function apply({ cursor, change }: Line): void {
  database.exec('BEGIN');
  if (change?.grant !== undefined) {
    const { subject, relation, object, grant_id: id, expires_at: expiresAt, condition } = change.grant;
    const holds = change.action === 'grant.created' || change.action === 'grant.updated';
    const meets = condition === undefined ? null : JSON.stringify(condition);
    if (holds) put.run(subject, relation, object, id, expiresAt, meets);
    else remove.run(subject, relation, object);
  }
  moveTo.run(cursor);
  database.exec('COMMIT');
}

/** Follows until the stream ends. */
async function follow(): Promise<void> {
  const cursor = readPlace.get()?.cursor;
  const from = typeof cursor === 'string' ? `?cursor=${encodeURIComponent(cursor)}` : '';
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
  try {
    const response = await fetch(`${url}/v1/changes${from}`, {
      headers: { Authorization: `Bearer ${key}`, Accept: 'application/x-ndjson' },
      signal: silence.signal,
    });
    if (response.status >= 400 && response.status < 500 && response.status !== 429) {
      // A wrong key; or a cursor that is too old, which needs a new copy, begun without a cursor.
      console.error(await response.text());
      process.exit(1);
    }
    if (!response.ok || response.body === null) return;
    for await (const line of createInterface({ input: Readable.from(response.body) })) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
      apply(JSON.parse(line));
    }
  } finally {
    clearTimeout(timer);
  }
}

for (;;) {
  await follow().catch((error: unknown) => console.error(`Trying again: ${error}`));
  await pause(PAUSE_MS * (1 + Math.random()));
}
