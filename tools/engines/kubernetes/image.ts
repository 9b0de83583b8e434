// The image of this checkout, or of another one, in as many versions as a test needs, as files that a cluster loads.

import { join } from 'node:path';
import { runScript } from '../engine-script.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SCRIPT = join(import.meta.dirname, 'image.sh');

export const REPOSITORY = 'example.com/grantd';

/** Builds the version, writes it to a file and returns its path. Versions differ only in their label. */
export async function buildImage(version: string, directory: string, checkout = ROOT): Promise<string> {
  const reference = `${REPOSITORY}:${version}`;
  const path = join(directory, `grantd-${version}.tar`);
  await runScript(SCRIPT, ['build', reference, checkout, '--build-arg', `VERSION=${version}`]);
  await runScript(SCRIPT, ['save', reference, path]);
  return path;
}
