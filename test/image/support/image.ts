// The image of this checkout, built and taken apart by image.sh, which fetches what it needs on its first run.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SCRIPT = join(ROOT, 'test', 'support', 'kubernetes', 'image.sh');
const REFERENCE = 'localhost/grantd:test';
/** The status with which the script ends where the tools cannot be had. */
const STATUS_MISSING = 3;

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

function runScript(args: readonly string[]): Promise<number | null> {
  const child = spawn('bash', [SCRIPT, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
}

/**
 * Undefined where images can be built and run; else why not, which is then said loudly and is a failure where CI is set.
 * The first call on a machine takes some minutes. For the head of a test file: its suites are skipped for that reason.
 */
export async function missingImageTools(what: string): Promise<string | undefined> {
  const status = await runScript(['base']);
  if (status === 0) return undefined;
  if (status !== STATUS_MISSING) throw new Error(`The base of the image could not be made (status ${status}).`);
  const reason =
    'Images cannot be built on this machine: root, buildah, debootstrap, runc or the packages are missing.';
  if (process.env.CI !== undefined) throw new Error(reason);
  console.error(`\nNOT TESTED: ${what}. ${reason}\n`);
  return reason;
}

export async function buildImage(labels: {
  readonly version: string;
  readonly revision: string;
}): Promise<UnpackedImage> {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-image-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  const { version, revision } = labels;
  for (const command of [
    ['build', REFERENCE, ROOT, '--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${revision}`],
    ['unpack', REFERENCE, directory],
  ]) {
    const status = await runScript(command);
    if (status === 0) continue;
    remove();
    throw new Error(`image.sh ${command[0]} ended with status ${status}.`);
  }
  const described = JSON.parse(readFileSync(join(directory, 'image.json'), 'utf8'));
  return { rootDirectory: join(directory, 'rootfs'), config: described.OCIv1.config, remove };
}
