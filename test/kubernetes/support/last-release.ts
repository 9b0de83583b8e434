// What an upgrade to this checkout begins with: the last release, by its tag. As long as there is none, the commit that
// last changed the schema in its place: a store that an earlier commit made cannot be opened any more.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SCHEMA = 'src/store/cassandra/schema/migrations.ts';

async function git(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('git', args, { cwd: ROOT })).stdout.trim();
}

/** A commit or a tag. Rejects in a shallow clone, which does not have it. */
export async function lastRelease(): Promise<string> {
  const [tag = ''] = (await git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort', '-version:refname')).split('\n');
  if (tag !== '') return tag;
  if ((await git('rev-parse', '--is-shallow-repository')) === 'true') {
    throw new Error('This clone is shallow, and has no tag: the last release is not in it. Run git fetch --unshallow.');
  }
  return git('log', '--max-count=1', '--format=%H', '--', SCHEMA);
}
