// Before a process works on the tables they have to be there, in a version that serves it. Waits for that and changes
// nothing: bringing the schema up to date is a task of its own, with rights of its own.

import { type Clock, delay } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { Meta, MetaStore } from '../../store.ts';
import { SCHEMA_VERSION } from './migrations.ts';

const RETRY_MS = 1000;
const READ_MS = 5000;

/** The tables cannot be used by this program, or not with these settings; in the operator's words. */
export class SchemaRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SchemaRefusal';
  }
}

/** Throws SchemaRefusal for a schema that is too new for this program. */
export function requireServedBy(meta: Meta): void {
  if (meta.schemaServesFrom <= SCHEMA_VERSION) return;
  throw new SchemaRefusal(
    `The schema is at version ${meta.schemaVersion} and supports programs built for version ${meta.schemaServesFrom} or later; ` +
      `this one is built for version ${SCHEMA_VERSION}. Run a later release.`,
  );
}

/** Why to wait, or undefined where this program can work on it. */
function reasonToWait(meta: Meta | undefined): string | undefined {
  if (meta === undefined) return 'there is no schema yet; run "grantd migrate" to create it';
  if (meta.schemaVersion >= SCHEMA_VERSION) return undefined;
  return `the schema is at version ${meta.schemaVersion}, but this program needs ${SCHEMA_VERSION}; run "grantd migrate" to upgrade it`;
}

/**
 * Resolves to the meta of a schema that serves this program. `onWaiting` is told why it is waited for, again at every
 * look. Rejects with SchemaRefusal where waiting does not help, and with the signal's reason when that aborts.
 */
export async function waitForSchema(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  store: Pick<MetaStore, 'readMeta'>,
  { signal, onWaiting }: { readonly signal: AbortSignal; readonly onWaiting: (reason: string) => void },
): Promise<Meta> {
  let told = '';
  for (;;) {
    signal.throwIfAborted();
    let reason: string;
    try {
      const meta = await store.readMeta(clock.monotonicMs() + READ_MS);
      const waiting = reasonToWait(meta);
      if (meta !== undefined && waiting === undefined) {
        requireServedBy(meta);
        return meta;
      }
      reason = waiting ?? '';
    } catch (error) {
      if (!(error instanceof GrantdError) || !error.retryable) throw error;
      reason = `cannot read the store: ${error.message}`;
    }
    if (reason !== told) log.info({ reason }, 'waiting for the schema');
    told = reason;
    onWaiting(reason);
    await delay(clock, RETRY_MS, signal);
  }
}
