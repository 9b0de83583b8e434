// `grantd mcp`: a server of tools for agents. Its library is loaded only here, so that no other command pays for it.

import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { addExamples } from '../command-parts.ts';
import { CliFailure, EXIT } from '../failures.ts';

interface McpOptions {
  readonly allowWrites?: boolean;
}

async function loadServer() {
  try {
    return await import('../mcp/serve.ts');
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND')) throw cause;
    throw new CliFailure(
      'The MCP server is not in the image. Run "npm ci" and "bin/grantd mcp" in a checkout.',
      EXIT.failed,
      { cause },
    );
  }
}

export function registerMcpCommand(program: Command, context: CliContext, version: string): void {
  const command = program
    .command('mcp')
    .description('serve tools for agents (Model Context Protocol) on standard input and output, with an API key')
    .option(
      '--allow-writes',
      'also offer create_grant, revoke_grant and write_rules; without it nothing can be changed',
    )
    .addHelpText(
      'after',
      "\nThe key decides what an agent may see and do: make one for it, with the scope check:read unless it shall write.\nIt does not take the operator's token.",
    );
  addExamples(command, 'mcp', 'mcp --allow-writes --use-context staging').action(
    context.action(async ({ allowWrites = false }: McpOptions) => {
      const { serveMcp } = await loadServer();
      await serveMcp(context, context.connectKey(), { allowWrites, version });
      return EXIT.ok;
    }),
  );
}
