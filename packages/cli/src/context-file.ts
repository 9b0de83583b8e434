// The contexts of the command line: by name, the address of a service and the secret to call it with. One file, which
// only its owner may read, is whole at any moment: a new version is written beside it and renamed. A file that others
// can read is refused, since then the secrets in it are no longer secrets.

import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { demandMembers, isJsonObject } from '../../../src/core/json-members.ts';
import { parseJson } from '../../../src/core/text/json.ts';
import { utf8Text } from '../../../src/core/text/utf8.ts';
import { CliFailure, reasonOf } from './failures.ts';
import { privacyFault, replaceFile } from './output/whole-file.ts';
import type { ServiceApi } from './service-client.ts';

/** Far more than anybody has, and few enough to be read at every start. */
const CONTEXTS_MAX = 1000;
const FILE_BYTES_MAX = 1024 * 1024;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Windows has no such modes; there the folder belongs to the user. */

export interface ServiceContext {
  readonly api: ServiceApi;
  readonly url: string;
  readonly secret: string;
  /** For the operator's API: the tenant of commands without `--tenant`. */
  readonly tenant?: string | undefined;
}

export interface Contexts {
  readonly current: string | undefined;
  readonly named: ReadonlyMap<string, ServiceContext>;
}

export const isContextName = (text: string): boolean => NAME.test(text);

/** `XDG_CONFIG_HOME`, or ~/.config, as other programs do. */
export function contextFilePath(environment: Readonly<Record<string, string | undefined>>, home: string): string {
  const { XDG_CONFIG_HOME: configured } = environment;
  // The specification of these folders: a relative path counts as none.
  const base = configured?.startsWith('/') ? configured : join(home, '.config');
  return join(base, 'grantd', 'contexts.json');
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

/** Throws what is wrong; undefined: the value has another form. */
function parseContext(value: unknown, place: string): ServiceContext | undefined {
  if (!isJsonObject(value)) return undefined;
  demandMembers(value, ['url', 'key', 'operator_token', 'tenant'], place);
  const { url, key, operator_token: token, tenant } = value;
  if (typeof url !== 'string' || (tenant !== undefined && typeof tenant !== 'string')) return undefined;
  if (typeof key === 'string' && token === undefined) return { api: 'public', url, secret: key };
  if (typeof token === 'string' && key === undefined) return { api: 'operator', url, secret: token, tenant };
  return undefined;
}

/** Throws what is wrong; undefined: it is another kind of file. */
function parseContexts(bytes: Uint8Array): Contexts | undefined {
  const value = parseJson(utf8Text(bytes), 'The file');
  if (!isJsonObject(value)) return undefined;
  demandMembers(value, ['current', 'contexts']);
  if (!isJsonObject(value.contexts)) return undefined;
  const { current } = value;
  if (current !== undefined && typeof current !== 'string') return undefined;
  const named = new Map<string, ServiceContext>();
  for (const [name, each] of Object.entries(value.contexts)) {
    if (!isContextName(name)) return undefined;
    const context = parseContext(each, `contexts.${name}`);
    if (context === undefined) return undefined;
    named.set(name, context);
  }
  return { current, named };
}

const textOf = ({ current, named }: Contexts): string =>
  `${JSON.stringify(
    {
      current,
      contexts: Object.fromEntries(
        [...named].map(([name, { api, url, secret, tenant }]) => [
          name,
          { url, ...(api === 'public' ? { key: secret } : { operator_token: secret, tenant }) },
        ]),
      ),
    },
    undefined,
    2,
  )}\n`;

export class ContextFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  #failure(what: string, cause?: unknown): CliFailure {
    return new CliFailure(`${this.path} ${what}`, undefined, cause === undefined ? {} : { cause });
  }

  #readBytes(): Uint8Array | undefined {
    let descriptor: number;
    try {
      descriptor = openSync(this.path, 'r');
    } catch (cause) {
      if (isMissing(cause)) return undefined;
      throw this.#failure(`cannot be read: ${reasonOf(cause)}.`, cause);
    }
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) throw this.#failure('is not a regular file. Remove it.');
      const fault = privacyFault(this.path, stats);
      if (fault !== undefined) throw this.#failure(fault);
      if (stats.size > FILE_BYTES_MAX) throw this.#failure(`is larger than ${FILE_BYTES_MAX} bytes. Remove it.`);
      return readFileSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Throws a CliFailure for a file that others can read, or that was altered. */
  read(): Contexts {
    const bytes = this.#readBytes();
    if (bytes === undefined) return { current: undefined, named: new Map() };
    const foreign = 'was not written by grantd, or is damaged';
    let contexts: Contexts | undefined;
    try {
      contexts = parseContexts(bytes);
    } catch (error) {
      throw this.#failure(`${foreign} (${reasonOf(error)}). Mend or remove it.`, error);
    }
    if (contexts === undefined) throw this.#failure(`${foreign}. Mend or remove it.`);
    return contexts;
  }

  /** Through a link, so that the file may stand in another folder. */
  #target(): string {
    try {
      return realpathSync(this.path);
    } catch {
      return this.path;
    }
  }

  write(contexts: Contexts): void {
    if (contexts.named.size > CONTEXTS_MAX) throw this.#failure(`would have more than ${CONTEXTS_MAX} contexts.`);
    const target = this.#target();
    try {
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      replaceFile(target, textOf(contexts), 0o600);
    } catch (cause) {
      throw this.#failure(`cannot be written: ${reasonOf(cause)}.`, cause);
    }
  }
}
