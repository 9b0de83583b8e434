// The last release of this repository before the checkout: its newest tag, or without one, the commit that set the
// version of the chart.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..', '..');

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
  return git('log', '--max-count=1', '--format=%H', '-G^version: ', '--', 'charts/grantd/Chart.yaml');
}
