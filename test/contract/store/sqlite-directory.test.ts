// The data directory of the SQLite store: who may use it, and what is said to an operator when it cannot be used.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { useDirectory } from '../../kit/directory.ts';
import { openStore } from '../../kit/store/store-directory.ts';
import { META, soon } from '../../kit/store/store-fixtures.ts';

const WRITER = new URL('./store-writer-process.ts', import.meta.url).pathname;

async function makeDatabase(directory: string): Promise<void> {
  const store = await openStore(directory);
  await store.initializeMeta(META, soon());
  await store.close();
}

async function messageOf(opening: Promise<Store>): Promise<string> {
  const error: unknown = await opening.then(
    async (store) => {
      await store.close();
      return undefined;
    },
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Error, 'opening is refused');
  return error.message;
}

describe('data directory', () => {
  const temporary = useDirectory();
  let made = 0;
  const newPath = () => {
    made += 1;
    return join(temporary, `deep/${made}`);
  };

  it('is made, with all above it, for its owner alone', async () => {
    const path = newPath();
    const store = await openStore(path);
    assert.equal(statSync(path).mode & 0o777, 0o700);
    for (const file of readdirSync(path)) assert.equal(statSync(join(path, file)).mode & 0o777, 0o600, file);
    await store.close();
  });

  it('is held by one store at a time, also within one process', async () => {
    const path = newPath();
    const store = await openStore(path);
    const message = await messageOf(openStore(path));
    assert.equal(message, `The data directory ${path} cannot be used: it is held by this process.`);
    await store.close();
    await (await openStore(path)).close();
  });

  it('is refused to a second process at once, and free again once the first was killed', async () => {
    const path = newPath();
    const child: ChildProcess = spawn(process.execPath, [WRITER, path, '1', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    assert.ok(child.stdout !== null);
    await once(child.stdout, 'data');
    try {
      const startMs = performance.now();
      await (await openStore(newPath())).close();
      const freeMs = performance.now() - startMs;
      assert.match(await messageOf(openStore(path)), new RegExp(`held by another process \\(pid ${child.pid}\\)`));
      const refusedMs = performance.now() - startMs - freeMs;
      assert.ok(refusedMs < 1000 + 10 * freeMs, `${refusedMs} ms, where opening one takes ${freeMs} ms`);
    } finally {
      child.kill('SIGKILL');
      await exited;
    }
    await (await openStore(path)).close();
  });

  it('is refused when it is a file, or lies below one', async () => {
    const path = join(temporary, 'file');
    writeFileSync(path, 'x');
    for (const each of [path, join(path, 'below')]) {
      assert.equal(
        await messageOf(openStore(each)),
        `The data directory ${each} cannot be used: it is not a directory.`,
      );
    }
  });

  it('is refused when it cannot be written', async () => {
    const path = newPath();
    await makeDatabase(path);
    chmodSync(path, 0o500);
    // The superuser may write anywhere: be somebody else for the moment.
    const isSuperuser = process.geteuid?.() === 0;
    if (isSuperuser) process.seteuid?.(65534);
    try {
      for (const each of [path, join(path, 'below')]) {
        assert.equal(
          await messageOf(openStore(each)),
          `The data directory ${each} cannot be used: it is not writable.`,
        );
      }
    } finally {
      if (isSuperuser) process.seteuid?.(0);
      chmodSync(path, 0o700);
    }
    await (await openStore(path)).close();
  });

  it('is refused when its database was made with another number of slots', async () => {
    const path = newPath();
    await makeDatabase(path);
    assert.equal(
      await messageOf(openStore(path, { slots: 64 })),
      `The data directory ${path} cannot be used: it was made with 256 slots, 64 are configured.`,
    );
    await (await openStore(path)).close();
  });

  it('is refused when its database is of a newer version, and is left as it was', async () => {
    const path = newPath();
    await makeDatabase(path);
    const database = new DatabaseSync(join(path, 'grantd.db'));
    database.exec("INSERT INTO schema_versions VALUES (99, 'later', 1, '9.8.7', 'abc')");
    database.close();
    assert.match(
      await messageOf(openStore(path)),
      /cannot be used: it was made by a newer version, grantd 9\.8\.7 \(its schema is 99, this grantd [\d.]+ knows up to \d+\)\. Nothing was changed\. Start that version or a later one\.$/,
    );
  });

  it('is refused when grantd.db is no database, or the database of another program', async () => {
    const junk = newPath();
    await makeDatabase(junk);
    writeFileSync(join(junk, 'grantd.db'), 'not a database '.repeat(1000));
    const message = await messageOf(openStore(junk));
    assert.ok(
      message.startsWith(
        `The data directory ${junk} cannot be used: grantd.db is not a database; grantd.db is not as grantd left it: `,
      ),
      message,
    );
    const foreign = temporary;
    const database = new DatabaseSync(join(foreign, 'grantd.db'));
    database.exec('CREATE TABLE songs (title TEXT)');
    database.close();
    assert.equal(
      await messageOf(openStore(foreign)),
      `The data directory ${foreign} cannot be used: grantd.db was not made by grantd.`,
    );
  });

  it('is refused when the disk is full, and works once there is space', async () => {
    const path = newPath();
    assert.equal(
      await messageOf(openStore(path, { pagesMax: 2 })),
      `The data directory ${path} cannot be used: the disk is full.`,
    );
    await (await openStore(path)).close();
  });
});
