// The image of this checkout, in as many versions as a test asks for, as files that a cluster loads.

import { spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SCRIPT = join(import.meta.dirname, 'image.sh');

export const REPOSITORY = 'example.com/grantd';

function run(...args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', [SCRIPT, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (status) => {
      if (status === 0) resolve();
      else reject(new Error(`image.sh ${args[0]} ended with status ${status}.`));
    });
  });
}

/** Builds the version and writes it to a file, whose path it returns. Versions differ in their label only. */
export async function buildImage(version: string, directory: string): Promise<string> {
  const reference = `${REPOSITORY}:${version}`;
  const path = join(directory, `grantd-${version}.tar`);
  await run('build', reference, ROOT, '--build-arg', `VERSION=${version}`);
  await run('save', reference, path);
  return path;
}
