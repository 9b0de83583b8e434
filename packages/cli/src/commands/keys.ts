// `grantd keys …`: the API keys of a tenant. A key is printed once, when it is created, and never sent afterwards: it
// contains the IDs of its tenant and of itself, and its hash proves that it is that key.

import { type Command, Option } from 'commander';
import { type ApiKeyParts, hashApiKey, parseApiKey } from '../../../../src/core/api-keys.ts';
import { ROTATION_GRACE_MS_DEFAULT, ROTATION_GRACE_MS_MAX } from '../../../../src/core/limits.ts';
import type { CliContext } from '../cli-context.ts';
import {
  addExamples,
  addListOptions,
  confirm,
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
import { CliFailure, EXIT, ProblemFailure } from '../failures.ts';
import { readWhole } from '../import/import-source.ts';
import { asRecord, type JsonRecord, textOf } from '../output/json-view.ts';
import { type Column, renderJson } from '../output/render.ts';
import { durationParser, TIME_FORMS, timeParser } from '../output/times.ts';
import { path, type ServiceClient, type ServiceRequest } from '../service-client.ts';

const KEY_EXAMPLE = 'key_01k8x0000000000000000000zz';

const COLUMNS: readonly Column[] = [
  ['key', 'key_id'],
  ['name', (key) => (key.name === '' ? '-' : String(key.name))],
  ['scopes', 'scopes'],
  ['created', 'created_at'],
  ['expires', 'expires_at'],
  ['last used', 'last_used_at'],
  ['rotated to', (key) => String(key.rotated_to ?? '-')],
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
  const keys = program
    .command('keys')
    .description('create, list, rotate, identify and revoke the API keys of a tenant');

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
    context.action(
      async (options: CreateOptions) => {
        const client = context.connectTenant(options.tenant);
        const json = {
          scopes: options.scope,
          ...(options.name === undefined ? {} : { name: options.name }),
          ...(options.expiresAt === undefined ? {} : { expires_at: options.expiresAt }),
        };
        const key = await client.readJson({ method: 'POST', path: '/keys', json });
        printRecord(context, key, options);
        if (!options.json) context.note('Save the key now: it cannot be shown again.');
        return EXIT.ok;
      },
      { needsReader: true },
    ),
  );

  const list = keys
    .command('list')
    .description('list the active API keys of a tenant')
    .option(...TENANT_OPTION);
  addExamples(addListOptions(list), `keys list --tenant ${TENANT_EXAMPLE}`).action(
    context.action((options: TenantOption & ListOptions) =>
      printListing(
        context,
        context.connectTenant(options.tenant),
        { path: '/keys', name: 'keys', columns: COLUMNS },
        options,
      ),
    ),
  );

  addRotate(keys, context);
  addIdentify(keys, context);
  addRevoke(keys, context);
}

function addRotate(keys: Command, context: CliContext): void {
  const rotate = keys
    .command('rotate')
    .description('create a key in place of another, which works until a grace period ends; prints only the new key')
    .argument('<key_id>', 'key_…, from "grantd keys list"')
    .option(...TENANT_OPTION)
    .addOption(
      new Option('--grace <duration>', 'how long the previous key still works: up to 30d; 0 revokes it at once')
        .argParser(durationParser(ROTATION_GRACE_MS_MAX / 1000, '30d'))
        .default(ROTATION_GRACE_MS_DEFAULT / 1000, '24h'),
    )
    .option(...JSON_OPTION);
  addExamples(
    rotate,
    `keys rotate --tenant ${TENANT_EXAMPLE} ${KEY_EXAMPLE} > new-key.txt`,
    `keys rotate --tenant ${TENANT_EXAMPLE} ${KEY_EXAMPLE} --grace 0 --json`,
  ).action(
    context.action(
      async (keyId: string, options: TenantOption & { readonly grace: number }) => {
        const client = context.connectOperatorTenant(options.tenant);
        const json = { grace_seconds: options.grace };
        const of = path`/keys/${keyId}/rotate`;
        const rotated = await client.readJson({ method: 'POST', path: of, json });
        context.print(options.json ? renderJson(rotated) : textOf(rotated, 'key'));
        if (options.json) return EXIT.ok;
        const previous = asRecord(rotated.former);
        context.note(`This is the key ${textOf(rotated, 'key_id')}. Save it now: it cannot be shown again.`);
        context.note(
          previous.revoked === true
            ? `${keyId} is revoked.`
            : `${keyId} works until ${textOf(previous, 'ends_at')}. To revoke it earlier: grantd keys revoke${client.tenantOption} ${keyId}`,
        );
        return EXIT.ok;
      },
      { needsReader: true },
    ),
  );
}

/** A key with its line end. */
const KEY_BYTES_MAX = 4096;

/** The key on standard input. No message repeats it. */
async function readKey(context: CliContext): Promise<ApiKeyParts & { readonly hash: string }> {
  if (context.stdin.isTTY) context.note('Paste the API key and press Enter, then Ctrl+D.');
  const bytes = await readWhole(context.stdin, KEY_BYTES_MAX);
  if (bytes === undefined) throw new CliFailure('Standard input has more than one API key.', EXIT.usage);
  const text = bytes.toString('utf8').trim();
  const parts = parseApiKey(text);
  if (parts !== undefined) return { ...parts, hash: hashApiKey(text) };
  throw new CliFailure(
    'Standard input is not an API key of grantd: it needs gk1_ and 81 more characters, and a checksum that fits.',
    EXIT.usage,
  );
}

/** A console without this operation answers another 404, which is no statement about the key. */
const ABSENT: ReadonlySet<string> = new Set(['tenant-not-found', 'key-not-found']);

/** Undefined if it does not exist. */
async function readIfPresent(client: ServiceClient, request: ServiceRequest): Promise<JsonRecord | undefined> {
  try {
    return await client.readJson(request);
  } catch (error) {
    if (error instanceof ProblemFailure && ABSENT.has(error.code)) return undefined;
    throw error;
  }
}

/** The consequence for the person who found the key. */
function noteOf(key: JsonRecord | undefined, tenantId: string): string | undefined {
  if (key === undefined) return 'There is no such key: it was revoked, belongs to another cluster, or was made up.';
  if (key.matches !== true) {
    return 'The tenant has a key with this ID, but not with this text: the text was altered or made up, and does not work.';
  }
  if (key.state !== 'active') return undefined;
  return `It still works. To revoke it: grantd keys revoke --tenant ${tenantId} ${textOf(key, 'key_id')}`;
}

function addIdentify(keys: Command, context: CliContext): void {
  const identify = keys
    .command('identify')
    .description('say which key of which tenant an API key on standard input is; sends only its ids and its SHA-256')
    .option(...JSON_OPTION);
  addExamples(identify, 'keys identify < leaked-key.txt', 'keys identify --json < leaked-key.txt').action(
    context.action(async (options: JsonOption) => {
      const { tenantId, keyId, hash } = await readKey(context);
      const client = context.connect();
      const tenant = await readIfPresent(client, { method: 'GET', path: path`/tenants/${tenantId}` });
      const of = path`/tenants/${tenantId}/keys/${keyId}/identify`;
      const key = tenant && (await readIfPresent(client, { method: 'POST', path: of, json: { hash } }));
      const record = {
        tenant_id: tenantId,
        tenant: tenant?.name ?? null,
        tenant_state: tenant?.state ?? 'unknown',
        key_id: keyId,
        ...key,
        state: key?.state ?? 'unknown',
        matches: key?.matches ?? null,
      };
      printRecord(context, record, options);
      const note = options.json ? undefined : noteOf(key, tenantId);
      if (note !== undefined) context.note(note);
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
      const client = context.connectTenant(options.tenant);
      if (!options.yes) {
        await confirm(context, {
          what: `This permanently revokes the key ${keyId}. Every client that still uses it will be refused.`,
          answer: 'yes',
          declined: 'Nothing was revoked.',
        });
      }
      await client.readJson({ method: 'DELETE', path: path`/keys/${keyId}` });
      context.print(`${keyId} is revoked.`);
      return EXIT.ok;
    }),
  );
}
