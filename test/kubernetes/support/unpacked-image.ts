// The image of this checkout, built and taken apart by image.sh, which fetches what it needs on its first run.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingFor, runScript } from '../../../tools/engines/engine-script.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SCRIPT = join(ROOT, 'tools', 'engines', 'kubernetes', 'image.sh');
const REFERENCE = 'localhost/grantd:test';
const AGAIN_REFERENCE = 'localhost/grantd:again';

/** As the image says it: the names are of the OCI image format. */
export interface ImageConfig {
  readonly User: string;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
}

export interface UnpackedImage {
  /** Every file of the image, its base included. */
  readonly rootDirectory: string;
  readonly config: ImageConfig;
  remove(): void;
}

/** Undefined where images can be built and run; else why not. The first call on a machine takes some minutes. */
export function missingImageTools(what: string): Promise<string | undefined> {
  const reason =
    'Images cannot be built on this machine: root, buildah, debootstrap, runc or the packages are missing.';
  return missingFor(what, reason, SCRIPT, ['base']);
}

/** Builds it with that time in place of its own, and resolves with its id, which is the hash of all that it is. */
export async function buildImageAt(epochSeconds: number): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-image-'));
  try {
    const times = ['--timestamp', String(epochSeconds), '--build-arg', `SOURCE_DATE_EPOCH=${epochSeconds}`];
    await runScript(SCRIPT, ['build', AGAIN_REFERENCE, ROOT, ...times]);
    await runScript(SCRIPT, ['unpack', AGAIN_REFERENCE, directory]);
    return JSON.parse(readFileSync(join(directory, 'image.json'), 'utf8')).FromImageID;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export async function buildImage(labels: {
  readonly version: string;
  readonly revision: string;
}): Promise<UnpackedImage> {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-image-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  const { version, revision } = labels;
  try {
    const labelling = ['--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${revision}`];
    await runScript(SCRIPT, ['build', REFERENCE, ROOT, ...labelling]);
    await runScript(SCRIPT, ['unpack', REFERENCE, directory]);
  } catch (error) {
    remove();
    throw error;
  }
  const described = JSON.parse(readFileSync(join(directory, 'image.json'), 'utf8'));
  return { rootDirectory: join(directory, 'rootfs'), config: described.OCIv1.config, remove };
}
