// `grantd tenants delete --wait`: shows the progress of the removal of a tenant's data until it is complete. The
// service removes the data by itself, whether or not anyone waits.

import type { CliContext } from './cli-context.ts';
import { EXIT, ProblemFailure } from './failures.ts';
import { asRecord, type JsonRecord, textOf } from './output/json-view.ts';
import { escapeInLine } from './output/plain-text.ts';
import { formatCount, renderJson, renderRecord } from './output/render.ts';
import { createPatientReader } from './retries.ts';
import { path, type ServiceClient } from './service-client.ts';

const LOOK_MS = 500;
/** Between two lines if there is no terminal. */
const LINE_INTERVAL_MS = 5000;

interface Progress {
  update(tenant: JsonRecord): void;
  clear(): void;
}

function createProgress({ stderr, note }: CliContext): Progress {
  const startedMs = performance.now();
  const terminal = stderr.isTTY === true;
  let lineMs = Number.NEGATIVE_INFINITY;
  const describe = (tenant: JsonRecord): string => {
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    const { deletion } = tenant;
    const parts = typeof deletion === 'object' && deletion !== null ? asRecord(deletion).parts_removed : undefined;
    const removed = typeof parts === 'number' ? `, ${formatCount(parts)} parts removed` : '';
    return `deleting ${textOf(tenant, 'tenant_id')}: ${seconds} s${removed}`;
  };
  return {
    update(tenant) {
      if (terminal) {
        stderr.write(`\r\u001b[K${escapeInLine(describe(tenant))}`);
      } else if (performance.now() - lineMs >= LINE_INTERVAL_MS) {
        lineMs = performance.now();
        note(describe(tenant));
      }
    },
    clear() {
      if (terminal) stderr.write('\r\u001b[K');
    },
  };
}

/** `deleted`: the tenant from the response to the deletion. */
export const waitForDeletion = (
  context: CliContext,
  client: ServiceClient,
  deleted: JsonRecord,
  json: boolean,
): Promise<number> => context.untilInterrupted((signal) => watchDeletion(context, client, deleted, { json, signal }));

async function watchDeletion(
  context: CliContext,
  client: ServiceClient,
  deleted: JsonRecord,
  { json, signal }: { readonly json: boolean; readonly signal: AbortSignal },
): Promise<number> {
  const reader = createPatientReader(context, client, signal);
  const progress = createProgress(context);
  let tenant: JsonRecord | undefined = deleted;
  try {
    do {
      progress.update(tenant);
      if (!(await reader.pause(LOOK_MS))) break;
      tenant = await reader.read({ method: 'GET', path: path`/tenants/${textOf(deleted, 'tenant_id')}` });
    } while (tenant !== undefined);
    progress.clear();
    context.note(
      'Interrupted. The deletion continues in the background; run the same command with --wait to watch it.',
    );
    return EXIT.interrupted;
  } catch (error) {
    progress.clear();
    if (!(error instanceof ProblemFailure) || error.code !== 'tenant-not-found') throw error;
    const gone = { ...deleted, state: 'deleted' };
    context.print(json ? renderJson(gone) : renderRecord(gone));
    return EXIT.ok;
  }
}
