// Why a role cannot start, in one message for the person who started it. Every mistake that a newcomer can make ends
// here; any other error is a defect and shows its stack.

import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { ConfigError } from '../../config/read-config.ts';
import { type Clock, delay } from '../../core/async/clock.ts';
import { splitAddress } from '../../core/text/addresses.ts';
import type { Log } from '../../telemetry/log.ts';

/** Its message is complete: the problem, where it is, and what to do. */
export class StartError extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = 'StartError';
  }
}

/** The message to a person at the terminal for an error that ended a command. */
export function describeFailure(error: unknown): string {
  if (error instanceof StartError || error instanceof ConfigError) return `grantd: ${error.message}`;
  if (error instanceof Error && error.name === 'GrantdError') return `grantd: ${error.message}`;
  return `grantd: unexpected error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

const IN_USE = /EADDRINUSE|address already in use/i;
const ADDRESS_REASONS: readonly (readonly [RegExp, string])[] = [
  [IN_USE, 'is in use by another process'],
  [/EACCES|permission denied/i, 'needs permissions that this process does not have'],
  [/EADDRNOTAVAIL|cannot assign requested address/i, 'is not an address of this machine'],
  [/ENOTFOUND|EAI_AGAIN|name resolution/i, 'has a host name that does not resolve'],
];

const textOf = (error: unknown): string =>
  error instanceof Error ? `${'code' in error ? String(error.code) : ''} ${error.message}` : '';

/** Why nothing can listen on the address, as a sentence; undefined: the error says nothing about that. */
function faultOf(error: unknown, setting: string, address: string): string | undefined {
  const text = textOf(error);
  const reason = ADDRESS_REASONS.find(([pattern]) => pattern.test(text))?.[1];
  if (reason === undefined) return undefined;
  const holder = IN_USE.test(text) ? findPortHolder(splitAddress(address).port) : undefined;
  const why = holder === undefined ? reason : `is in use by ${holder}`;
  return `The address ${address} ${why}. Set ${setting} to another address.`;
}

/** Runs `listen`; an address that is not available becomes a StartError that names the setting. */
export async function listenOn<Server>(
  setting: string,
  address: string,
  listen: () => Promise<Server>,
): Promise<Server> {
  try {
    return await listen();
  } catch (error) {
    const fault = faultOf(error, setting, address);
    if (fault === undefined) throw error;
    throw new StartError(fault, { cause: error });
  }
}

/** The watch of a place (place-watch.ts) holds the address of a shard that has died for so long at most. */
const ADDRESS_FREE_MS_MAX = 2000;
const ADDRESS_POLL_MS = 10;

/** Runs `listen` again while another process has the address, for up to 2 s. */
export async function listenOnceFree<Server>(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  address: string,
  listen: () => Promise<Server>,
): Promise<Server> {
  const giveUpMs = clock.monotonicMs() + ADDRESS_FREE_MS_MAX;
  for (let tries = 0; ; tries += 1) {
    try {
      return await listen();
    } catch (error) {
      if (!IN_USE.test(textOf(error)) || clock.monotonicMs() > giveUpMs) throw error;
      if (tries === 0) log.info({ address, waitsMs: ADDRESS_FREE_MS_MAX }, 'the address is in use; waiting for it');
      await delay(clock, ADDRESS_POLL_MS);
    }
  }
}

/**
 * Listens on each of the addresses, by setting, for a moment, and throws one StartError for all that are not available.
 * One that is lost afterwards is told by `listenOn`.
 */
export async function demandAddresses(addresses: Readonly<Record<string, string | undefined>>): Promise<void> {
  const faults: string[] = [];
  for (const [setting, address] of Object.entries(addresses)) {
    const parts = address === undefined ? undefined : splitAddress(address);
    if (address === undefined || parts === undefined || parts.port === 0) continue;
    const probe = createServer();
    try {
      probe.listen(parts);
      await once(probe, 'listening');
    } catch (error) {
      faults.push(faultOf(error, setting, address) ?? '');
    }
    await new Promise<void>((resolve) => void probe.close(() => resolve()));
  }
  const told = faults.filter((fault) => fault !== '');
  if (told.length > 0) throw new StartError(told.join('\n'));
}

// ---- the process that holds a port, from /proc on Linux: only its name and id, since a command line may have secrets

/** State 0A of /proc/net/tcp. */
const LISTENING = '0A';
/** Open files examined at most, so that a failing start does not search a whole server. */
const LINKS_MAX = 20_000;

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(1);
  } catch {
    return [];
  }
}

/** The inodes of the sockets that listen on `port`, over IPv4 and IPv6. */
function listeningInodes(proc: string, port: number): Set<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = new Set<string>();
  for (const line of ['tcp', 'tcp6'].flatMap((name) => linesOf(join(proc, 'net', name)))) {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    if (state === LISTENING && local.endsWith(suffix)) inodes.add(inode);
  }
  return inodes;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // It has ended, or belongs to another user.
    return [];
  }
}

function programOf(proc: string, pid: string): string {
  const words = readFileSync(join(proc, pid, 'cmdline'), 'utf8').split('\0');
  const isGrantd = words.slice(0, 8).some((word) => /(^|\/)(src\/main\.ts|dist\/grantd\.js|bin\/grantd)$/.test(word));
  return isGrantd ? 'grantd' : basename(words[0] ?? '').slice(0, 64) || 'a process';
}

/** `grantd (pid 4711)`, or undefined if it cannot be determined. */
export function findPortHolder(port: number, proc = '/proc'): string | undefined {
  try {
    const sockets = new Set([...listeningInodes(proc, port)].map((inode) => `socket:[${inode}]`));
    if (sockets.size === 0) return undefined;
    let links = 0;
    for (const pid of namesIn(proc).filter((name) => /^\d+$/.test(name))) {
      for (const descriptor of namesIn(join(proc, pid, 'fd'))) {
        links += 1;
        if (links > LINKS_MAX) return undefined;
        if (sockets.has(linkOf(join(proc, pid, 'fd', descriptor)))) return `${programOf(proc, pid)} (pid ${pid})`;
      }
    }
  } catch {
    // The name is only a help.
  }
  return undefined;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
