// `grantd mcp`: a server of tools for agents. Its library is loaded only here, so that no other command pays for it.

import { type Command, InvalidArgumentError } from 'commander';
import { isLoopbackHost, splitAddress } from '../../../../src/core/text/addresses.ts';
import type { CliContext } from '../cli-context.ts';
import { addExamples } from '../command-parts.ts';
import { CliFailure, EXIT, loadInstalled, reasonOf } from '../failures.ts';
import { keyTarget } from '../service-choice.ts';

const ADDRESS_DEFAULT = '127.0.0.1:8095';

interface McpCommandOptions {
  readonly allowWrites?: boolean;
  /** True: at the default address. */
  readonly http?: string | true;
  readonly serviceUrl?: string;
  readonly allowHost?: readonly string[];
}

const load = <Module>(importing: () => Promise<Module>): Promise<Module> =>
  loadInstalled(importing, 'The MCP server is not in the image. Run "npm ci" and "bin/grantd mcp" in a checkout.');

function parseListenAddress(text: string): string {
  const [, host = '', port = ''] = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/.exec(text) ?? [];
  if (host === '' || Number(port) > 65_535) throw new InvalidArgumentError('It must be host:port.');
  return text;
}

function addHost(text: string, previous: readonly string[] = []): readonly string[] {
  if (!/^[a-z0-9.-]{1,253}$/.test(text))
    throw new InvalidArgumentError('It must be a host name in lower case, without a port.');
  return [...previous, text];
}

function parseServiceUrl(text: string): string {
  if (URL.canParse(text) && /^https?:\/\//.test(text)) return text;
  throw new InvalidArgumentError('It must be an http or https URL.');
}

async function serveHttp(
  context: CliContext,
  { allowWrites = false, http, serviceUrl, allowHost = [] }: McpCommandOptions,
  version: string,
): Promise<number> {
  const address = typeof http === 'string' ? http : ADDRESS_DEFAULT;
  const { host } = splitAddress(address);
  if (!isLoopbackHost(host) && allowHost.length === 0) {
    throw new CliFailure(
      `${address} is reached from other machines: name the hosts by which they do with --allow-host.`,
      EXIT.usage,
    );
  }
  const url = serviceUrl ?? keyTarget(context.chooseService()).url;
  const { openMcpHttp } = await load(() => import('../mcp/http-server.ts'));
  const server = await openMcpHttp(
    {
      clientOf: (secret) => context.connectWith({ url, secret }),
      onError: (error) => context.note(`grantd: ${reasonOf(error)}`),
    },
    { address, hosts: allowHost, allowWrites, version },
  ).catch((cause: unknown) => {
    throw new CliFailure(`Cannot listen on ${address}: ${reasonOf(cause)}.`, EXIT.failed, { cause });
  });
  context.note(`The tools of ${url} are served at ${server.url}. Ctrl-C ends it.`);
  await context.untilInterrupted(
    (interrupted) =>
      new Promise<void>((resolve) => {
        interrupted.addEventListener('abort', () => resolve());
      }),
  );
  await server.close();
  return EXIT.ok;
}

export function registerMcpCommand(program: Command, context: CliContext, version: string): void {
  const command = program
    .command('mcp')
    .description('serve tools for agents (Model Context Protocol) on standard input and output, or over HTTP')
    .option(
      '--allow-writes',
      'also offer create_grant, revoke_grant and write_rules; without it nothing can be changed',
    )
    .option(
      '--http [address]',
      `serve over HTTP, at host:port (default: ${ADDRESS_DEFAULT}); each request brings its own API key`,
      parseListenAddress,
    )
    .option('--service-url <url>', 'with --http: the service to call (default: that of the settings)', parseServiceUrl)
    .option('--allow-host <name>', 'with --http: a host name by which clients reach it; may be repeated', addHost)
    .addHelpText(
      'after',
      "\nThe key decides what an agent may see and do: make one for it, with the scope check:read unless it shall write.\nIt does not take the operator's token. With --http, the server uses no key of its own: each request sends one as\nAuthorization: Bearer gk1_…, and only requests for localhost and the hosts that you allow are answered.",
    );
  addExamples(command, 'mcp', 'mcp --allow-writes --use-context staging', 'mcp --http').action(
    context.action(async (options: McpCommandOptions) => {
      const { allowWrites = false, http, serviceUrl, allowHost } = options;
      if (http !== undefined) return serveHttp(context, options, version);
      if (serviceUrl !== undefined || allowHost !== undefined) {
        throw new CliFailure('--service-url and --allow-host are for --http.', EXIT.usage);
      }
      const { serveMcp } = await load(() => import('../mcp/serve.ts'));
      await serveMcp(context, context.connectKey(), { allowWrites, version });
      return EXIT.ok;
    }),
  );
}
