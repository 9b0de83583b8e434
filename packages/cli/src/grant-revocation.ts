// `grantd grants revoke --subject …` or `--object …`: counts the grants, asks, and revokes until none is left. It is
// safe to interrupt and to run again: what is revoked stays revoked.

import { PAGE_LIMIT_MAX } from '../../../src/core/limits.ts';
import type { CliContext } from './cli-context.ts';
import { confirm } from './command-parts.ts';
import { CliFailure, EXIT } from './failures.ts';
import { itemsOf, type JsonRecord, optionalTextOf } from './output/json-view.ts';
import { formatCount, renderJson } from './output/render.ts';
import { createProgress, type Progress } from './progress.ts';
import { describeRetry, withRetries } from './retries.ts';
import type { ServiceClient } from './service-client.ts';

export interface RevocationFilter {
  readonly subject?: string;
  readonly object?: string;
  readonly relation?: string;
}

interface RevocationOptions extends RevocationFilter {
  readonly tenant?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const filterOf = ({ subject, object, relation }: RevocationFilter): RevocationFilter => ({
  ...(subject === undefined ? {} : { subject }),
  ...(object === undefined ? {} : { object }),
  ...(relation === undefined ? {} : { relation }),
});

/** `142 viewer grants of user:ada` */
function describe(grants: number, { subject, object, relation }: RevocationFilter): string {
  const what = `${relation === undefined ? '' : `${relation} `}grant${grants === 1 ? '' : 's'}`;
  return `${formatCount(grants)} ${what} ${subject === undefined ? `on ${object}` : `of ${subject}`}`;
}

async function countGrants(client: ServiceClient, filter: RevocationFilter): Promise<number> {
  let grants = 0;
  let cursor: string | undefined;
  do {
    const page: JsonRecord = await client.readJson({
      method: 'GET',
      path: '/grants',
      query: { ...filter, limit: String(PAGE_LIMIT_MAX), cursor },
    });
    grants += itemsOf(page, 'grants').length;
    cursor = optionalTextOf(page, 'next_cursor');
  } while (cursor !== undefined);
  return grants;
}

interface Run {
  readonly client: ServiceClient;
  readonly filter: RevocationFilter;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

interface Tally {
  revoked: number;
  complete: boolean;
  /** A response was lost: perhaps more were revoked than are counted. */
  uncertain: boolean;
}

async function revokeUntilComplete({ client, filter, signal, progress }: Run, tally: Tally): Promise<void> {
  const request = { method: 'POST', path: '/grants/revoke', json: filter } as const;
  while (!tally.complete && !signal.aborted) {
    const { revoked, complete } = await withRetries(() => client.readJson(request), {
      signal,
      onRetry: (reason, delayMs) => {
        tally.uncertain = true;
        progress.note(describeRetry(reason, delayMs));
      },
    });
    if (typeof revoked !== 'number' || typeof complete !== 'boolean') {
      throw new CliFailure('The response to a revocation does not say how many grants were revoked.');
    }
    tally.revoked += revoked;
    tally.complete = complete;
    progress.update(tally.revoked, tally.revoked);
  }
}

function report(context: CliContext, tally: Tally, filter: RevocationFilter, json: boolean): void {
  const { revoked, complete, uncertain } = tally;
  const counted = `${uncertain ? 'At least ' : ''}${describe(revoked, filter)}`;
  context.print(json ? renderJson({ revoked, complete }) : `${counted} ${revoked === 1 ? 'was' : 'were'} revoked.`);
}

/** What would be revoked: the service counts as many as one call revokes, and a listing the rest. */
async function previewRevocation(
  context: CliContext,
  client: ServiceClient,
  filter: RevocationFilter,
  json: boolean,
): Promise<number> {
  const request = { method: 'POST', path: '/grants/revoke', query: { dry_run: 'true' }, json: filter } as const;
  const { revoked: counted, complete } = await client.readJson(request);
  const revoked = complete === true && typeof counted === 'number' ? counted : await countGrants(client, filter);
  context.print(
    json
      ? renderJson({ dry_run: true, revoked })
      : `${describe(revoked, filter)} would be revoked. Nothing was changed.`,
  );
  return EXIT.ok;
}

export async function revokeMatching(context: CliContext, options: RevocationOptions): Promise<number> {
  const { yes = false, dryRun = false, json = false } = options;
  const filter = filterOf(options);
  if ((filter.subject === undefined) === (filter.object === undefined)) {
    throw new CliFailure('Pass either --subject or --object, and not both.', EXIT.usage);
  }
  const client = context.connectTenant(options.tenant);
  if (dryRun) return previewRevocation(context, client, filter, json);
  // A script that has confirmed needs no count.
  const counted = yes && !context.stderr.isTTY ? undefined : await countGrants(client, filter);
  if (!yes && counted !== undefined && counted > 0) {
    await confirm(context, {
      what: `${describe(counted, filter)}${client.tenant === undefined ? '' : ` in tenant ${client.tenant}`} will be revoked. This cannot be undone.`,
      answer: filter.subject ?? filter.object ?? '',
      declined: 'Nothing was revoked.',
    });
  }
  const tally: Tally = { revoked: 0, complete: counted === 0 && !yes, uncertain: false };
  const progress = createProgress(context, counted === 0 ? undefined : counted, 'grants');
  let failure: unknown;
  try {
    await context.untilInterrupted((signal) => revokeUntilComplete({ client, filter, signal, progress }, tally));
  } catch (error) {
    failure = error;
  } finally {
    progress.stop();
  }
  report(context, tally, filter, json);
  if (tally.complete) return EXIT.ok;
  if (failure !== undefined) {
    if (!(failure instanceof CliFailure)) throw failure;
    context.reportFailure(failure);
  }
  const what = failure === undefined ? 'Interrupted.' : 'The revocation stopped early.';
  context.note(`${what} To finish, run the same command again; this is safe.`);
  return failure === undefined ? EXIT.interrupted : EXIT.failed;
}
