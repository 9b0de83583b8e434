// `grantd export`: writes every grant of a tenant to standard output, as it arrives. An export that breaks off fails
// with a message, so that it is never mistaken for a complete one.

import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { hasRules, ruleSetRecord } from '../../rules/rule-set.ts';
import type { CliContext } from '../cli-context.ts';
import { TENANT_OPTION } from '../command-parts.ts';
import { ConnectionFailure, EXIT, reasonOf } from '../failures.ts';
import { formatCount } from '../output/render.ts';
import type { ServiceClient } from '../service-client.ts';
import { readTenantRules } from '../tenant-rules.ts';

const NEWLINE = 0x0a;
const PROGRESS_INTERVAL_MS = 200;

interface Progress {
  update(grants: number): void;
  clear(): void;
}

/** Only for a person who does not see the grants themselves. */
function createProgress({ stdout, stderr }: CliContext): Progress {
  let shownMs = 0;
  let shown = false;
  const startedMs = performance.now();
  const visible = stderr.isTTY === true && stdout.isTTY !== true;
  return {
    update(grants) {
      const nowMs = performance.now();
      if (!visible || nowMs - shownMs < PROGRESS_INTERVAL_MS) return;
      shownMs = nowMs;
      shown = true;
      const perSecond = grants / Math.max((nowMs - startedMs) / 1000, 0.001);
      stderr.write(`\r\u001b[Kexported ${formatCount(grants)} grants, ${formatCount(perSecond)}/s`);
    },
    clear() {
      if (shown) stderr.write('\r\u001b[K');
    },
  };
}

function countLines(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

/** Only NDJSON can hold rules, so an export in another format notes that they are missing. */
async function exportRules(context: CliContext, client: ServiceClient, format: string): Promise<void> {
  const { ruleSet } = await readTenantRules(client);
  if (!hasRules(ruleSet)) return;
  if (format === 'ndjson') context.print(JSON.stringify({ rules: ruleSetRecord(ruleSet) }));
  else
    context.note(
      'The tenant has rules, which TSV cannot hold. Save them too: --format ndjson, or "grantd rules show".',
    );
}

async function exportTo(
  context: CliContext,
  client: ServiceClient,
  { format }: { readonly format: string },
  closed: AbortSignal,
): Promise<void> {
  const { stdout } = context;
  const progress = createProgress(context);
  const decoder = new TextDecoder();
  let grants = 0;
  try {
    const request = { method: 'GET', path: '/export', query: { format } } as const;
    const response = await client.open(request, closed);
    let last: number | undefined;
    for await (const chunk of response.body ?? []) {
      grants += countLines(chunk);
      last = chunk.at(-1);
      // Bytes, unless a person looks at them.
      const shown = stdout.isTTY ? context.dataOf(decoder.decode(chunk, { stream: true })) : chunk;
      if (!stdout.write(shown)) await once(stdout, 'drain', { signal: closed });
      progress.update(grants);
    }
    if (last !== undefined && last !== NEWLINE) throw new Error('it ends in the middle of a line');
  } catch (error) {
    if (closed.aborted) return;
    progress.clear();
    if (grants === 0 && error instanceof Error && 'exitCode' in error) throw error;
    throw new ConnectionFailure(
      `The export is incomplete: it stopped after ${formatCount(grants)} grants (${reasonOf(error)}). Run it again.`,
      undefined,
      { cause: error },
    );
  }
  progress.clear();
  if (context.stderr.isTTY) context.note(`exported ${formatCount(grants)} grants`);
}

export function registerExportCommand(program: Command, context: CliContext): void {
  program
    .command('export')
    .description(
      'write every grant of a tenant to standard output, in ascending order; as NDJSON, its rules before them',
    )
    .option(...TENANT_OPTION)
    .addOption(
      new Option(
        '--format <format>',
        'tsv: subject, relation, object; ndjson: the rules in the first line if there are any, then whole grants',
      )
        .choices(['tsv', 'ndjson'])
        .default('tsv'),
    )
    .addHelpText(
      'after',
      '\nExit code: 0 complete, 1 incomplete or failed.\n\nExamples:\n  grantd export --tenant ten_01k8x0000000000000000000zz > grants.tsv\n  grantd export --tenant ten_01k8x0000000000000000000zz --format ndjson | jq .object\n',
    )
    .action(
      context.action(async (options: { readonly tenant?: string; readonly format: string }) => {
        const client = context.connectOperatorTenant(options.tenant);
        await exportRules(context, client, options.format);
        await context.untilClosed((closed) => exportTo(context, client, options, closed));
        return EXIT.ok;
      }),
    );
}
