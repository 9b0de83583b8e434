// `grantd keys …`: the API keys of a tenant. A key is printed once, when it is created, and never sent afterwards: it
// says itself which key of which tenant it is.

import type { Command } from 'commander';
import { type ApiKeyParts, parseApiKey } from '../../core/api-keys.ts';
import type { CliContext } from '../cli-context.ts';
import {
  addExamples,
  addListOptions,
  JSON_OPTION,
  type JsonOption,
  type ListOptions,
  printListing,
  printRecord,
  TENANT_EXAMPLE,
  TENANT_OPTION,
  type TenantOption,
  YES_OPTION,
} from '../command-parts.ts';
import { confirm } from '../confirmation.ts';
import { CliFailure, EXIT, ProblemFailure } from '../failures.ts';
import { type OperatorClient, path } from '../operator-client.ts';
import type { JsonRecord } from '../output/json-view.ts';
import type { Column } from '../output/render.ts';
import { TIME_FORMS, timeParser } from '../output/times.ts';

const KEY_EXAMPLE = 'key_01k8x0000000000000000000zz';

const COLUMNS: readonly Column[] = [
  ['key', 'key_id'],
  ['name', (key) => (key.name === '' ? '-' : String(key.name))],
  ['scopes', 'scopes'],
  ['created', 'created_at'],
  ['expires', 'expires_at'],
  ['last used', 'last_used_at'],
];

/** `--scope` may be repeated, and each value may be a comma-separated list. */
const addScopes = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  ...text.split(',').map((scope) => scope.trim()),
];

interface CreateOptions extends TenantOption {
  readonly scope: readonly string[];
  readonly name?: string;
  readonly expiresAt?: string;
}

export function registerKeysCommands(program: Command, context: CliContext): void {
  const keys = program.command('keys').description('create, list, identify and revoke the API keys of a tenant');

  const create = keys
    .command('create')
    .description('create an API key; it is shown only once and never stored')
    .option(...TENANT_OPTION)
    .requiredOption('--scope <scope>', 'check:read, grant:write or admin; repeat for several scopes', addScopes)
    .option('--name <name>', 'what the key is for')
    .option(
      '--expires-at <time>',
      `when the key expires, in UTC: ${TIME_FORMS}, from now`,
      timeParser(context.nowMs, 'the future'),
    )
    .option(...JSON_OPTION);
  addExamples(
    create,
    `keys create --tenant ${TENANT_EXAMPLE} --scope check:read --name web`,
    `keys create --tenant ${TENANT_EXAMPLE} --scope check:read --scope grant:write --json`,
    `keys create --tenant ${TENANT_EXAMPLE} --scope check:read --expires-at 90d`,
  ).action(
    context.action(async (options: CreateOptions) => {
      const client = await context.connect();
      const json = {
        scopes: options.scope,
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(options.expiresAt === undefined ? {} : { expires_at: options.expiresAt }),
      };
      const key = await client.readJson({ method: 'POST', path: path`/tenants/${options.tenant}/keys`, json });
      printRecord(context, key, options);
      if (!options.json) context.note('Save the key now: it cannot be shown again.');
      return EXIT.ok;
    }),
  );

  const list = keys
    .command('list')
    .description('list the active API keys of a tenant')
    .option(...TENANT_OPTION);
  addExamples(addListOptions(list), `keys list --tenant ${TENANT_EXAMPLE}`).action(
    context.action((options: TenantOption & ListOptions) =>
      printListing(context, { path: path`/tenants/${options.tenant}/keys`, name: 'keys', columns: COLUMNS }, options),
    ),
  );

  addIdentify(keys, context);
  addRevoke(keys, context);
}

/** A key, and a line end or two. */
const KEY_BYTES_MAX = 4096;

/** The key on standard input. No failure repeats it. */
async function readKey(context: CliContext): Promise<ApiKeyParts> {
  if (context.stdin.isTTY) context.note('Paste the API key and press Enter, then Ctrl+D.');
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of context.stdin) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > KEY_BYTES_MAX) throw new CliFailure('Standard input has more than one API key.', EXIT.usage);
    chunks.push(bytes);
  }
  const parts = parseApiKey(Buffer.concat(chunks).toString('utf8').trim());
  if (parts !== undefined) return parts;
  throw new CliFailure(
    'Standard input is not an API key of grantd: it needs gk1_ and 81 more characters, and a checksum that fits.',
    EXIT.usage,
  );
}

/** Undefined if it does not exist. */
async function readIfPresent(client: OperatorClient, of: string): Promise<JsonRecord | undefined> {
  try {
    return await client.readJson({ method: 'GET', path: of });
  } catch (error) {
    if (error instanceof ProblemFailure && error.status === 404) return undefined;
    throw error;
  }
}

function addIdentify(keys: Command, context: CliContext): void {
  const identify = keys
    .command('identify')
    .description('say which key of which tenant an API key on standard input is, without sending it')
    .option(...JSON_OPTION);
  addExamples(identify, 'keys identify < leaked-key.txt', 'keys identify --json < leaked-key.txt').action(
    context.action(async (options: JsonOption) => {
      const { tenantId, keyId } = await readKey(context);
      const client = await context.connect();
      const tenant = await readIfPresent(client, path`/tenants/${tenantId}`);
      const key = tenant && (await readIfPresent(client, path`/tenants/${tenantId}/keys/${keyId}`));
      const record = {
        tenant_id: tenantId,
        tenant: tenant?.name ?? null,
        tenant_state: tenant?.state ?? 'unknown',
        key_id: keyId,
        ...key,
        state: key?.state ?? 'unknown',
      };
      printRecord(context, record, options);
      if (options.json) return EXIT.ok;
      if (key === undefined) context.note('There is no such key now: it was revoked, or is of another cluster.');
      else if (key.state === 'active') {
        context.note(`It still works. To revoke it: grantd keys revoke --tenant ${tenantId} ${keyId}`);
      }
      return EXIT.ok;
    }),
  );
}

function addRevoke(keys: Command, context: CliContext): void {
  const revoke = keys
    .command('revoke')
    .description('revoke an API key permanently; requests that start afterwards are refused')
    .argument('<key_id>', 'key_…, from "grantd keys list"')
    .option(...TENANT_OPTION)
    .option(...YES_OPTION);
  addExamples(
    revoke,
    `keys revoke --tenant ${TENANT_EXAMPLE} ${KEY_EXAMPLE}`,
    `keys revoke --tenant ${TENANT_EXAMPLE} ${KEY_EXAMPLE} --yes`,
  ).action(
    context.action(async (keyId: string, options: TenantOption & { readonly yes?: boolean }) => {
      const client = await context.connect();
      if (!options.yes) {
        await confirm(context, {
          what: `This permanently revokes the key ${keyId}. Every client that still uses it will be refused.`,
          answer: 'yes',
          declined: 'Nothing was revoked.',
        });
      }
      await client.readJson({ method: 'DELETE', path: path`/tenants/${options.tenant}/keys/${keyId}` });
      context.print(`${keyId} is revoked.`);
      return EXIT.ok;
    }),
  );
}
