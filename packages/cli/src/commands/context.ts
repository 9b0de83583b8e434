// `grantd context …`: services that are called by name. A secret comes from standard input, goes into a file that
// only its owner can read, and is never printed.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseKeyText, parseOperatorToken, parseTenant, parseUrl } from '../../../../src/config/parsers.ts';
import { WrongSetting } from '../../../../src/config/setting.ts';
import { parseApiKey } from '../../../../src/core/api-keys.ts';
import type { CliContext } from '../cli-context.ts';
import { addExamples, JSON_OPTION, type JsonOption, printRecord } from '../command-parts.ts';
import { type Contexts, isContextName, type ServiceContext } from '../context-file.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { readWhole } from '../import/import-source.ts';
import { type Column, renderJson } from '../output/render.ts';
import { describeChoice } from '../service-choice.ts';

/** Longer than any token of an identity provider that fits into a header. */
const SECRET_BYTES_MAX = 16 * 1024;

const NAME_ARGUMENT = ['<name>', 'letters, digits, "_", "." and "-", up to 64'] as const;

function parseName(text: string): string {
  if (isContextName(text)) return text;
  throw new InvalidArgumentError(
    'It must be 1 to 64 letters, digits, "_", "." or "-", and begin with a letter or digit.',
  );
}

/** The parser of a setting for an option. */
const optionParser =
  <Value>(parse: (text: string) => Value) =>
  (text: string): Value => {
    try {
      return parse(text);
    } catch (error) {
      if (error instanceof WrongSetting) throw new InvalidArgumentError(`It ${error.message}.`);
      throw error;
    }
  };

interface AddOptions {
  readonly url: string;
  readonly keyStdin?: true;
  readonly tokenStdin?: true;
  readonly tenant?: string;
  readonly replace?: true;
}

async function readSecret(context: CliContext, what: string, parse: (text: string) => { reveal(): string }) {
  if (context.stdin.isTTY) context.note(`Paste the ${what} and press Enter, then Ctrl+D.`);
  const bytes = await readWhole(context.stdin, SECRET_BYTES_MAX);
  if (bytes === undefined)
    throw new CliFailure(`The ${what} on standard input must be at most ${SECRET_BYTES_MAX} bytes.`, EXIT.usage);
  try {
    return parse(bytes.toString('utf8').trim()).reveal();
  } catch (error) {
    if (!(error instanceof WrongSetting)) throw error;
    throw new CliFailure(`The ${what} on standard input ${error.message}.`, EXIT.usage);
  }
}

async function contextOf(
  context: CliContext,
  { url, keyStdin, tokenStdin, tenant }: AddOptions,
): Promise<ServiceContext> {
  if ((keyStdin === undefined) === (tokenStdin === undefined)) {
    throw new CliFailure('Pass either --key-stdin or --token-stdin: the secret comes from standard input.', EXIT.usage);
  }
  if (tokenStdin) {
    return { api: 'operator', url, secret: await readSecret(context, "operator's token", parseOperatorToken), tenant };
  }
  if (tenant !== undefined) throw new CliFailure('An API key belongs to one tenant: leave out --tenant.', EXIT.usage);
  return { api: 'public', url, secret: await readSecret(context, 'API key', parseKeyText) };
}

function demand({ named }: Contexts, name: string): ServiceContext {
  const context = named.get(name);
  if (context !== undefined) return context;
  throw new CliFailure(`There is no context "${name}": "grantd context list" shows those there are.`);
}

function registerAdd(group: Command, context: CliContext): void {
  const add = group
    .command('add')
    .description('keep the address of a service and the secret to call it with; the first one becomes the current one')
    .argument(...NAME_ARGUMENT, parseName)
    .requiredOption(
      '--url <url>',
      "of the API, such as https://grantd.example.com; with --token-stdin, of the operator's API",
      optionParser(parseUrl),
    )
    .option('--key-stdin', 'read an API key from standard input')
    .option('--token-stdin', "read the operator's token from standard input")
    .option(
      '--tenant <id>',
      "with the operator's token: the tenant of commands without --tenant",
      optionParser(parseTenant),
    )
    .option('--replace', 'replace a context of this name');
  addExamples(
    add,
    'context add dev --url http://127.0.0.1:8080 --key-stdin < key.txt',
    'context add prod --url https://operator.grantd.example.com --token-stdin < token.txt',
  ).action(
    context.action(async (name: string, options: AddOptions) => {
      if (context.contextFile().read().named.has(name) && !options.replace) {
        throw new CliFailure(
          `There is a context "${name}" already. Pass --replace, or choose another name.`,
          EXIT.usage,
        );
      }
      const added = await contextOf(context, options);
      const { current, named } = context.contextFile().read();
      context.contextFile().write({ current: current ?? name, named: new Map(named).set(name, added) });
      context.note(
        current === undefined || current === name
          ? `Commands now use the context "${name}".`
          : `Added. To use it: "grantd context use ${name}", or --use-context ${name} for one command.`,
      );
      return EXIT.ok;
    }),
  );
}

const COLUMNS: readonly Column[] = [
  ['', (row) => (row.current === true ? '*' : '')],
  ['name', 'name'],
  ['url', 'url'],
  ['secret', 'secret'],
  ['tenant', (row) => String(row.tenant ?? '-')],
];

function listed({ current, named }: Contexts) {
  return [...named]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, { api, url, secret, tenant }]) => {
      const parts = api === 'public' ? parseApiKey(secret) : undefined;
      return {
        name,
        current: name === current,
        url,
        secret: api === 'operator' ? "operator's token" : (parts?.keyId ?? 'API key'),
        tenant: tenant ?? parts?.tenantId ?? null,
      };
    });
}

function registerReads(group: Command, context: CliContext): void {
  const list = group
    .command('list')
    .description('list the contexts; * marks the current one; secrets are never shown')
    .option(...JSON_OPTION);
  addExamples(list, 'context list').action(
    context.action(async (options: JsonOption) => {
      const rows = listed(context.contextFile().read());
      context.print(options.json ? renderJson(rows) : context.tableOf(rows, COLUMNS));
      return EXIT.ok;
    }),
  );

  const show = group
    .command('show')
    .description('say which service commands call here, with which secret, and where that comes from')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nThe first of these decides: --use-context, the settings (GRANTD_URL and GRANTD_KEY, GRANTD_OPERATOR_URL and\nGRANTD_OPERATOR_TOKEN, GRANTD_CONTEXT, GRANTD_DATA_DIR), the current context, dev.json in this directory.',
    );
  addExamples(show, 'context show', 'context show --use-context prod').action(
    context.action(async (options: JsonOption) => {
      printRecord(context, describeChoice(context.chooseService()), options);
      return EXIT.ok;
    }),
  );
}

export function registerContextCommands(program: Command, context: CliContext): void {
  const group = program.command('context').description('keep services and their secrets, and choose one');
  registerAdd(group, context);
  registerReads(group, context);

  const use = group
    .command('use')
    .description('make a context the current one')
    .argument(...NAME_ARGUMENT, parseName);
  addExamples(use, 'context use prod').action(
    context.action(async (name: string) => {
      const contexts = context.contextFile().read();
      demand(contexts, name);
      context.contextFile().write({ ...contexts, current: name });
      context.note(`Commands now use the context "${name}".`);
      return EXIT.ok;
    }),
  );

  const remove = group
    .command('remove')
    .description('forget a context and its secret; the key or token itself stays valid')
    .argument(...NAME_ARGUMENT, parseName);
  addExamples(remove, 'context remove prod').action(
    context.action(async (name: string) => {
      const contexts = context.contextFile().read();
      demand(contexts, name);
      const named = new Map(contexts.named);
      named.delete(name);
      context.contextFile().write({ named, current: contexts.current === name ? undefined : contexts.current });
      context.note('Forgotten. The secret itself stays valid until it is revoked.');
      return EXIT.ok;
    }),
  );
}

/**
 * For every command that calls the service. It cannot be `--context`: that gives values to the conditions of a check.
 */
export const contextOption = (): Option =>
  new Option('--use-context <name>', 'call the service of this context').argParser(parseName);
