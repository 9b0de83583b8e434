// `grantd export`: writes every grant of a tenant to standard output, as it arrives. Invariant: it ends with 0 only if
// the service has sent all of it, and standard output has taken all of it; in NDJSON, the last line says so too.

import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { countAtEnd } from '../../../../src/core/export-frame.ts';
import { hasRules } from '../../../../src/rules/rule-set.ts';
import type { CliContext } from '../cli-context.ts';
import { TENANT_OPTION } from '../command-parts.ts';
import { ConnectionFailure, EXIT, reasonOf } from '../failures.ts';
import { formatCount } from '../output/render.ts';
import type { ServiceClient } from '../service-client.ts';
import { readTenantRules } from '../tenant-rules.ts';

const NEWLINE = 0x0a;
const PROGRESS_INTERVAL_MS = 200;
/** Holds the end line, and the line end before it. */
const END_BYTES_MAX = 256;

interface Progress {
  update(lines: number): void;
  clear(): void;
}

/** Only for a person who does not see the grants themselves. */
function createProgress({ stdout, stderr }: CliContext): Progress {
  let shownMs = 0;
  let shown = false;
  const startedMs = performance.now();
  const visible = stderr.isTTY === true && stdout.isTTY !== true;
  return {
    update(lines) {
      const nowMs = performance.now();
      if (!visible || nowMs - shownMs < PROGRESS_INTERVAL_MS) return;
      shownMs = nowMs;
      shown = true;
      const perSecond = lines / Math.max((nowMs - startedMs) / 1000, 0.001);
      stderr.write(`\r\u001b[Kexported ${formatCount(lines)} lines, ${formatCount(perSecond)}/s`);
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
async function noteMissingRules(context: CliContext, client: ServiceClient): Promise<void> {
  const { ruleSet } = await readTenantRules(client);
  if (!hasRules(ruleSet)) return;
  context.note('The tenant has rules, which TSV cannot hold. Save them too: --format ndjson, or "grantd rules show".');
}

/** Counts the lines of a body that passes, and keeps its end. */
class PassedLines {
  lines = 0;
  #end: Uint8Array = new Uint8Array();

  add(chunk: Uint8Array): void {
    this.lines += countLines(chunk);
    this.#end = chunk.length < END_BYTES_MAX ? Buffer.concat([this.#end, chunk]) : chunk;
    this.#end = this.#end.subarray(-END_BYTES_MAX);
  }

  /** The number of grants. Throws if the body is not whole. */
  demandEnd(format: string): number {
    if (this.#end.length > 0 && this.#end.at(-1) !== NEWLINE) throw new Error('it ends in the middle of a line');
    if (format !== 'ndjson') return this.lines;
    const grants = countAtEnd(Buffer.from(this.#end).toString());
    if (grants === undefined) throw new Error('it has no end line');
    return grants;
  }
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
  const passed = new PassedLines();
  let grants: number;
  try {
    const request = { method: 'GET', path: '/export', query: { format } } as const;
    const response = await client.open(request, closed);
    for await (const chunk of response.body ?? []) {
      passed.add(chunk);
      // Bytes, unless a person looks at them.
      const shown = stdout.isTTY ? context.dataOf(decoder.decode(chunk, { stream: true })) : chunk;
      if (!stdout.write(shown)) await once(stdout, 'drain', { signal: closed });
      progress.update(passed.lines);
    }
    grants = passed.demandEnd(format);
  } catch (error) {
    progress.clear();
    // What standard output did not take is reported as for every command.
    if (closed.aborted) return;
    if (passed.lines === 0 && error instanceof Error && 'exitCode' in error) throw error;
    throw new ConnectionFailure(
      `The export is incomplete: it stopped after ${formatCount(passed.lines)} lines (${reasonOf(error)}). Run it again.`,
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
      'write every grant of a tenant to standard output, in ascending order; as NDJSON, with its rules and an end line',
    )
    .option(...TENANT_OPTION)
    .addOption(
      new Option(
        '--format <format>',
        'tsv: subject, relation, object; ndjson: the rules if there are any, whole grants, and a last line that counts them',
      )
        .choices(['tsv', 'ndjson'])
        .default('tsv'),
    )
    .addHelpText(
      'after',
      '\nExit code: 0 complete, 1 incomplete or failed, also if the output could not be written or its reader left.\n\nExamples:\n  grantd export --tenant ten_01k8x0000000000000000000zz > grants.tsv\n  grantd export --tenant ten_01k8x0000000000000000000zz --format ndjson > grants.ndjson\n',
    )
    .action(
      context.action(
        async (options: { readonly tenant?: string; readonly format: string }) => {
          const client = context.connectOperatorTenant(options.tenant);
          if (options.format !== 'ndjson') await noteMissingRules(context, client);
          await context.untilClosed((closed) => exportTo(context, client, options, closed));
          return EXIT.ok;
        },
        { needsReader: true },
      ),
    );
}
