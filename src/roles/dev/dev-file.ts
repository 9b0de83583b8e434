// `dev.json` in the data directory: the addresses and secrets of the service that runs there. Only its owner can read
// it, and one that others could have written is refused. It is always complete: a new version is written to another
// file and renamed. Commands call it only on this machine, with its own secrets alone: the directory in which a command
// runs may come from anywhere.

import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { privacyFault, replaceFile } from '../../../packages/cli/src/output/whole-file.ts';
import type { ServiceTarget } from '../../../packages/cli/src/service-client.ts';
import type { CliConfig } from '../../config/settings.ts';
import { demandMembers, isJsonObject } from '../../core/json-members.ts';
import { parseJson } from '../../core/text/json.ts';
import { utf8Text } from '../../core/text/utf8.ts';
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

/** In the data directory, from the first time that the service has served. */
export const DEV_FILE = 'dev.json';

export function devFilePath(dataDirectory: string): string {
  return join(dataDirectory, DEV_FILE);
}

/** Throws what is wrong; undefined: it is another kind of file. */
function parseDevFile(bytes: Uint8Array): DevFile | undefined {
  const parsed = parseJson(utf8Text(bytes), 'The file');
  if (!isJsonObject(parsed)) return undefined;
  demandMembers(parsed, [...REQUIRED, ...OPTIONAL]);
  const fields = new Map<string, unknown>(Object.entries(parsed));
  const whole =
    REQUIRED.every((name) => typeof fields.get(name) === 'string') &&
    OPTIONAL.every((name) => ['string', 'undefined'].includes(typeof fields.get(name)));
  // Every field of the type was checked above.
  return whole ? (parsed as unknown as DevFile) : undefined;
}

function readPrivate(path: string): Uint8Array {
  const descriptor = openSync(path, 'r');
  try {
    const fault = privacyFault(path, fstatSync(descriptor));
    if (fault !== undefined) throw new StartError(`${path} ${fault}`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The file, or undefined if there is none. Throws a StartError if it cannot be read, was altered, or could have been
 * written or read by others.
 */
export function readDevFile(dataDirectory: string): DevFile | undefined {
  const path = devFilePath(dataDirectory);
  let bytes: Uint8Array;
  try {
    bytes = readPrivate(path);
  } catch (error) {
    if (error instanceof StartError) throw error;
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw new StartError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
    });
  }
  const damaged = `${path} is damaged or was not written by grantd`;
  const remove = 'Remove it: the next start creates a new one with a new demo key.';
  let file: DevFile | undefined;
  try {
    file = parseDevFile(bytes);
  } catch (cause) {
    throw new StartError(`${damaged} (${cause instanceof Error ? cause.message : String(cause)}). ${remove}`, {
      cause,
    });
  }
  if (file === undefined) throw new StartError(`${damaged}. ${remove}`);
  return file;
}

export function writeDevFile(dataDirectory: string, file: DevFile): void {
  replaceFile(devFilePath(dataDirectory), `${JSON.stringify(file, undefined, 2)}\n`, 0o600);
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
/** What a service that listens on every address writes. */
const EVERY_ADDRESS = ['0.0.0.0', '[::]'];

function isOnThisMachine(url: string): boolean {
  const hostname = URL.parse(url)?.hostname;
  if (hostname === undefined) return false;
  if (LOOPBACK.test(hostname) || EVERY_ADDRESS.includes(hostname)) return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some(({ address, family }) => hostname === (family === 'IPv6' ? `[${address}]` : address));
}

/**
 * The service of the dev.json of the data directory, for commands; undefined if there is none. Throws a StartError if
 * its addresses are not on this machine, or the settings have a token of another service.
 */
export function findLocalService(config: CliConfig): DevFile | undefined {
  const file = readDevFile(config.dataDirectory);
  if (file === undefined) return undefined;
  const path = devFilePath(config.dataDirectory);
  const foreign = [file.base_url, file.console_url].find((url) => !isOnThisMachine(url));
  if (foreign !== undefined) {
    throw new StartError(
      `${path} names ${foreign}, which is not on this machine. If you trust that service, name it yourself: set GRANTD_URL and GRANTD_KEY, or GRANTD_OPERATOR_URL and GRANTD_OPERATOR_TOKEN.`,
    );
  }
  if (config.operatorToken !== undefined && config.operatorToken.reveal() !== file.operator_token) {
    throw new StartError(
      `GRANTD_OPERATOR_TOKEN is not the token of the service of ${path}, and is not sent there. Set GRANTD_OPERATOR_URL to the address that it belongs to, or unset it.`,
    );
  }
  return file;
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
  const file = findLocalService(config);
  if (file === undefined) {
    throw new StartError(
      `There is no ${devFilePath(config.dataDirectory)}. Start the service with "npm start" in the same directory, or set GRANTD_DATA_DIR, or GRANTD_OPERATOR_URL and GRANTD_OPERATOR_TOKEN.`,
    );
  }
  return { api: 'operator', url: file.console_url, secret: file.operator_token };
}
