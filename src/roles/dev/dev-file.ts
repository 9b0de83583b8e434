// `dev.json` in the data directory: the addresses and secrets of the service that runs there. Only its owner can read
// it. It is always complete: a new version is written to another file and renamed.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceTarget } from '../../cli/service-client.ts';
import type { CliConfig } from '../../config/settings.ts';
import { StartError } from '../process/start-error.ts';

export interface DevFile {
  readonly base_url: string;
  readonly ops_url: string;
  readonly console_url: string;
  readonly operator_token: string;
  /** The demo tenant; absent if there is none. */
  readonly tenant_id?: string;
  /** Its key of all scopes; absent if there is no demo tenant. */
  readonly key?: string;
}

const REQUIRED = ['base_url', 'ops_url', 'console_url', 'operator_token'] as const;
const OPTIONAL = ['tenant_id', 'key'] as const;

export function devFilePath(dataDirectory: string): string {
  return join(dataDirectory, 'dev.json');
}

function parseDevFile(text: string): DevFile | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(parsed));
  const whole =
    REQUIRED.every((name) => typeof fields.get(name) === 'string') &&
    OPTIONAL.every((name) => ['string', 'undefined'].includes(typeof fields.get(name)));
  // Every field of the type was checked above.
  return whole ? (parsed as DevFile) : undefined;
}

/** The file, or undefined if there is none. Throws a StartError if it cannot be read or was altered. */
export function readDevFile(dataDirectory: string): DevFile | undefined {
  const path = devFilePath(dataDirectory);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw new StartError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
    });
  }
  const file = parseDevFile(text);
  if (file === undefined) {
    throw new StartError(
      `${path} is damaged or was not written by grantd. Remove it: the next start creates a new one with a new demo key.`,
    );
  }
  return file;
}

export function writeDevFile(dataDirectory: string, file: DevFile): void {
  const path = devFilePath(dataDirectory);
  const draft = `${path}.new`;
  const descriptor = openSync(draft, 'w', 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify(file, undefined, 2)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, path);
}

/**
 * How the operator's commands find the operator's API: by the settings, otherwise by the dev.json of the data
 * directory. Throws a StartError that says what to set if nothing names the service.
 */
export function resolveOperatorTarget(config: CliConfig): ServiceTarget {
  const token = config.operatorToken?.reveal();
  // The settings refuse an address without a token.
  if (config.operatorUrl !== undefined && token !== undefined) {
    return { api: 'operator', url: config.operatorUrl, secret: token };
  }
  const file = readDevFile(config.dataDirectory);
  if (file === undefined) {
    throw new StartError(
      `There is no ${devFilePath(config.dataDirectory)}. Start the service with "npm start" in the same directory, or set GRANTD_DATA_DIR, or GRANTD_OPERATOR_URL and GRANTD_OPERATOR_TOKEN.`,
    );
  }
  return { api: 'operator', url: file.console_url, secret: token ?? file.operator_token };
}
