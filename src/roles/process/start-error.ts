// Why a role cannot start, in one message for the person who started it. Every mistake that a newcomer can make ends
// here; any other error is a defect and shows its stack.

import { splitAddress } from '../../core/text/addresses.ts';
import { findPortHolder } from './port-holder.ts';

/** The message is complete: what is wrong, where, and what to do. */
export class StartError extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = 'StartError';
  }
}

const IN_USE = /EADDRINUSE|address already in use/i;
const ADDRESS_REASONS: readonly (readonly [RegExp, string])[] = [
  [IN_USE, 'is in use by another process'],
  [/EACCES|permission denied/i, 'needs permissions that this process does not have'],
  [/EADDRNOTAVAIL|cannot assign requested address/i, 'is not an address of this machine'],
  [/ENOTFOUND|EAI_AGAIN|name resolution/i, 'has a host name that does not resolve'],
];

/** Runs `listen`; an address that is not available becomes a StartError that names the setting. */
export async function listenOn<Server>(
  setting: string,
  address: string,
  listen: () => Promise<Server>,
): Promise<Server> {
  try {
    return await listen();
  } catch (error) {
    const text = error instanceof Error ? `${'code' in error ? String(error.code) : ''} ${error.message}` : '';
    const reason = ADDRESS_REASONS.find(([pattern]) => pattern.test(text))?.[1];
    if (reason === undefined) throw error;
    const holder = IN_USE.test(text) ? findPortHolder(splitAddress(address).port) : undefined;
    const why = holder === undefined ? reason : `is in use by ${holder}`;
    throw new StartError(`The address ${address} ${why}. Set ${setting} to another address.`, { cause: error });
  }
}
