// `grantd mcp`: the tools of an API key, for agents (the Model Context Protocol). Over standard streams it serves one
// client, and ends with its input; standard output carries the protocol and nothing else.

import { McpServer } from '@modelcontextprotocol/server';
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

export interface McpOptions {
  readonly allowWrites: boolean;
  readonly version: string;
}

export function createToolServer(client: ServiceClient, { allowWrites, version }: McpOptions): McpServer {
  const run = toolRunner(client);
  const instructions = allowWrites ? INSTRUCTIONS : `${INSTRUCTIONS} ${READ_ONLY}`;
  const server = new McpServer({ name: 'grantd', version }, { capabilities: { tools: {} }, instructions });
  registerReadTools(server, run);
  if (allowWrites) registerWriteTools(server, run);
  return server;
}

export async function serveMcp(
  context: Pick<CliContext, 'stdin' | 'stdout' | 'note'>,
  client: ServiceClient,
  options: McpOptions,
): Promise<void> {
  const transport = new LineTransport(context.stdin, context.stdout);
  const handle = serveStdio(() => createToolServer(client, options), {
    transport,
    onerror: (error) => context.note(`grantd: ${reasonOf(error)}`),
  });
  await transport.ended;
  await handle.close();
}
