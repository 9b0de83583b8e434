// `grantd mcp`: the tools of one API key, for agents, over standard input and output (the Model Context Protocol). It
// serves one client, and ends with its input. Standard output carries the protocol and nothing else.

import { type JSONRPCRequest, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { CliContext } from '../cli-context.ts';
import { reasonOf } from '../failures.ts';
import type { ServiceClient } from '../service-client.ts';
import { LineTransport } from './line-transport.ts';
import { registerReadTools } from './read-tools.ts';
import { toolRunner } from './tool-runner.ts';
import { registerWriteTools } from './write-tools.ts';

const READ_ONLY = 'This server cannot change anything: it was started without --allow-writes.';
const INSTRUCTIONS = `Permissions of one tenant of grantd. A grant says that a subject (namespace:id, such as user:ann) holds a relation on an object (such as document:plan); rules derive further names from grants. Ask check before you act for somebody, for yourself and for that person in one check_many, and act only if every result is true. An error is never a yes. Names and rules: read_rules.`;

/** The library looks tools up in an object, and finds what every object inherits. */
function unknownTool({ method, params }: JSONRPCRequest): string | undefined {
  const name = method === 'tools/call' ? params?.name : undefined;
  return typeof name === 'string' && name in Object.prototype ? `Tool ${name} not found` : undefined;
}

export async function serveMcp(
  context: Pick<CliContext, 'stdin' | 'stdout' | 'note'>,
  client: ServiceClient,
  { allowWrites, version }: { readonly allowWrites: boolean; readonly version: string },
): Promise<void> {
  const run = toolRunner(client);
  const transport = new LineTransport(context.stdin, context.stdout, unknownTool);
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
  await transport.ended;
  await handle.close();
}
