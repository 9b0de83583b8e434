// `grantd mcp`: the tools of one API key, for agents, over standard input and output (the Model Context Protocol). It
// serves one client, and ends with its input. Standard output carries the protocol and nothing else.

import { once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { CliContext } from '../../../../src/cli/cli-context.ts';
import { reasonOf } from '../../../../src/cli/failures.ts';
import type { ServiceClient } from '../../../../src/cli/service-client.ts';
import { registerReadTools } from './read-tools.ts';
import { toolRunner } from './tool-runner.ts';
import { registerWriteTools } from './write-tools.ts';

/** A rule set has 64 KiB at most, and is the largest that a tool takes. */
const MESSAGE_BYTES_MAX = 1024 * 1024;

const READ_ONLY = 'This server cannot change anything: it was started without --allow-writes.';
const INSTRUCTIONS = `Permissions of one tenant of grantd. A grant says that a subject (namespace:id, such as user:ann) holds a relation on an object (such as document:plan); rules derive further names from grants. Ask check before you act for somebody, for yourself and for that person in one check_many, and act only if every result is true. An error is never a yes. Names and rules: read_rules.`;

export async function serveMcp(
  context: CliContext,
  client: ServiceClient,
  { allowWrites, version }: { readonly allowWrites: boolean; readonly version: string },
): Promise<void> {
  const run = toolRunner(client);
  const transport = new StdioServerTransport(context.stdin, context.stdout, { maxBufferSize: MESSAGE_BYTES_MAX });
  const ended = Promise.race([once(context.stdin, 'end'), once(context.stdin, 'close')]);
  const handle = serveStdio(
    () => {
      const instructions = allowWrites ? INSTRUCTIONS : `${INSTRUCTIONS} ${READ_ONLY}`;
      const server = new McpServer({ name: 'grantd', version }, { capabilities: { tools: {} }, instructions });
      registerReadTools(server, run);
      if (allowWrites) registerWriteTools(server, run);
      return server;
    },
    { transport, onerror: (error) => context.note(`grantd: ${reasonOf(error)}`) },
  );
  await ended;
  await handle.close();
}
