// `grantd grants …`, `objects`, `subjects` and `namespaces …`: show and change what a tenant has, one item at a time.
// `import` and `export` handle many.

import type { Command } from 'commander';
import type { JsonObject } from '../../../../src/core/json-members.ts';
import { EVERY_SUBJECT } from '../../../../src/core/tuples.ts';
import { parseGroup } from '../../../../src/rules/compiled-rules.ts';
import type { CliContext } from '../cli-context.ts';
import {
  addExamples,
  addListOptions,
  JSON_OPTION,
  type ListOptions,
  printAnswer,
  printListing,
  TENANT_EXAMPLE,
  TENANT_OPTION,
  type TenantOption,
  YES_OPTION,
} from '../command-parts.ts';
import { addContextOptions, type ContextOptions, contextMembers, jsonObject } from '../context-options.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { type RevocationFilter, revokeMatching } from '../grant-revocation.ts';
import { type JsonRecord, optionalTextOf, recordsOf, textOfCondition } from '../output/json-view.ts';
import { type Column, renderJson } from '../output/render.ts';
import { TIME_FORMS, timeParser } from '../output/times.ts';

export const SUBJECT_ARGUMENT = ['<subject>', "namespace:external_id; of a state: '*', in quotes"] as const;
const BUILT_IN = 'owner, admin, manager, editor, commenter, viewer, member, guest or parent';
const RELATION_ARGUMENT = ['<relation>', BUILT_IN] as const;
export const NAME_ARGUMENT = ['<relation>', `${BUILT_IN}, or a name that the rules of the tenant define`] as const;
export const OBJECT_ARGUMENT = ['<object>', 'namespace:external_id'] as const;

/** The terms of a grant: head of the column, text, and word before it in a sentence. */
const TERMS = [
  ['expires', (grant: JsonRecord) => optionalTextOf(grant, 'expires_at'), 'expires'],
  ['condition', textOfCondition, 'if'],
] as const;

/** Each term that a grant has. */
export const describeTerms = (grant: JsonRecord): readonly string[] =>
  TERMS.flatMap(([, textOf, word]) => {
    const text = textOf(grant);
    return text === undefined ? [] : [`${word} ${text}`];
  });

interface GrantFilter {
  readonly object?: string;
  readonly relation?: string;
}

function registerGrantList(grants: Command, context: CliContext): void {
  const list = grants
    .command('list')
    .description('list the grants of one subject, or on one object')
    .argument('[subject]', `${SUBJECT_ARGUMENT[1]}; or --object`)
    .option('--object <object>', 'the grants on this object')
    .option('--relation <relation>', 'only grants of this relation')
    .option(...TENANT_OPTION);
  addExamples(
    addListOptions(list),
    `grants list user:ann --tenant ${TENANT_EXAMPLE}`,
    `grants list --object doc:readme --relation viewer --tenant ${TENANT_EXAMPLE}`,
  ).action(
    context.action((subject: string | undefined, options: TenantOption & ListOptions & GrantFilter) => {
      const { object, relation } = options;
      if ((subject === undefined) === (object === undefined)) {
        throw new CliFailure('Pass either a subject or --object, and not both.', EXIT.usage);
      }
      return printListing(
        context,
        context.connectTenant(options.tenant),
        {
          path: '/grants',
          name: 'grants',
          query: { subject, object, relation },
          columns: [
            subject === undefined ? ['subject', 'subject'] : ['relation', 'relation'],
            subject === undefined ? ['relation', 'relation'] : ['object', 'object'],
            ['grant', 'grant_id'],
            ['created', 'created_at'],
            ...TERMS.map(([head, text]): Column => [head, (grant) => text(grant) ?? '-']),
          ],
        },
        options,
      );
    }),
  );
}

interface Terms {
  readonly expires?: string;
  readonly condition?: string;
  readonly context?: JsonObject;
  readonly unconditional?: boolean;
}

function conditionIn({ condition, context, unconditional }: Terms): { readonly condition?: object | null } {
  if (unconditional === true) {
    if (condition === undefined && context === undefined) return { condition: null };
    throw new CliFailure('Pass either --condition or --unconditional.', EXIT.usage);
  }
  if (condition !== undefined) return { condition: { name: condition, ...(context && { context }) } };
  if (context === undefined) return {};
  throw new CliFailure('--context needs --condition, whose context it is.', EXIT.usage);
}

/** A grant is identified by its three parts, so creating an existing one succeeds. */
function registerGrantAdd(grants: Command, context: CliContext): void {
  const parseTime = timeParser(context.nowMs, 'the future');
  const add = grants
    .command('add')
    .description(
      'create a grant: the subject then holds the relation on the object; of an existing grant only the expiry and the condition may change',
    )
    .argument(...SUBJECT_ARGUMENT)
    .argument(...RELATION_ARGUMENT)
    .argument(...OBJECT_ARGUMENT)
    .option(...TENANT_OPTION)
    .option('--expires <time>', `when the grant ends, in UTC: ${TIME_FORMS}, from now; or never`, (text: string) =>
      text === 'never' ? text : parseTime(text),
    )
    .option('--condition <name>', 'the grant holds only where this condition of the rules is met')
    .option('--context <json>', 'values for parameters of the condition: a JSON object, or @FILE with one', jsonObject)
    .option('--unconditional', 'an existing grant loses its condition')
    .option(...JSON_OPTION);
  addExamples(
    add,
    `grants add user:ann viewer doc:readme --tenant ${TENANT_EXAMPLE}`,
    `grants add user:ann viewer doc:readme --expires 90d --tenant ${TENANT_EXAMPLE}`,
    `grants add '*' archived doc:minutes --tenant ${TENANT_EXAMPLE}`,
    `grants add user:ann viewer doc:readme --condition office_hours --context '{"zone":"Europe/Vienna"}' --tenant ${TENANT_EXAMPLE}`,
  ).action(
    context.action((subject: string, relation: string, object: string, options: TenantOption & Terms) => {
      const { expires } = options;
      const expires_at = expires === 'never' ? null : expires;
      const terms = { ...(expires_at === undefined ? {} : { expires_at }), ...conditionIn(options) };
      const json = { subject, relation, object, ...terms };
      const client = context.connectTenant(options.tenant);
      return printAnswer(context, client, { method: 'POST', path: '/grants', json }, options);
    }),
  );
}

interface RevokeOptions extends TenantOption, RevocationFilter {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

function registerRevocation(grants: Command, context: CliContext): void {
  const revoke = grants
    .command('revoke')
    .description('revoke a grant, or all grants of a subject or on an object; checks that start afterwards are denied')
    .argument('[subject]', `${SUBJECT_ARGUMENT[1]}; with a relation and an object`)
    .argument('[relation]', RELATION_ARGUMENT[1])
    .argument('[object]', OBJECT_ARGUMENT[1])
    .option('--subject <subject>', 'revoke all grants of this subject')
    .option('--object <object>', 'revoke all grants on this object')
    .option('--relation <relation>', 'only grants of this relation; with --subject or --object')
    .option('--dry-run', 'revoke nothing, and say how many would be revoked; with --subject or --object')
    .option(...YES_OPTION)
    .option(...TENANT_OPTION)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nWith --subject or --object, the command says how many grants will be revoked and asks before it begins. You can\ninterrupt it and run it again at any time. Exit code: 0 none is left, 1 stopped by an error, 2 wrong usage or not\nconfirmed, 130 interrupted.',
    );
  addExamples(
    revoke,
    `grants revoke user:ann viewer doc:readme --tenant ${TENANT_EXAMPLE}`,
    `grants revoke --subject user:ann --dry-run --tenant ${TENANT_EXAMPLE}`,
    `grants revoke --subject user:ann --tenant ${TENANT_EXAMPLE}`,
    `grants revoke --object doc:readme --relation viewer --yes --tenant ${TENANT_EXAMPLE}`,
  ).action(
    context.action(
      async (
        subject: string | undefined,
        relation: string | undefined,
        object: string | undefined,
        options: RevokeOptions,
      ) => {
        const filtered = [options.subject, options.object, options.relation, options.dryRun].some(
          (each) => each !== undefined,
        );
        if (subject === undefined || filtered) {
          if (subject === undefined && filtered) return revokeMatching(context, options);
          throw new CliFailure(
            'Pass either a subject, a relation and an object, or --subject or --object with an optional --relation or --dry-run.',
            EXIT.usage,
          );
        }
        if (relation === undefined || object === undefined) {
          throw new CliFailure(
            'A relation or an object is missing. To revoke all grants of a subject, pass --subject.',
            EXIT.usage,
          );
        }
        const client = context.connectTenant(options.tenant);
        const json = { subject, relation, object };
        await client.readJson({ method: 'DELETE', path: '/grants', json });
        context.print(
          options.json
            ? renderJson({ revoked: 1, complete: true })
            : subject === EVERY_SUBJECT
              ? `Revoked: ${object} is no longer ${relation}.`
              : `Revoked: ${subject} is no longer ${relation} of ${object}.`,
        );
        return EXIT.ok;
      },
    ),
  );
}

function registerObjects(program: Command, context: CliContext): void {
  const objects = program
    .command('objects')
    .description('list the objects on which a subject holds a relation')
    .argument(...SUBJECT_ARGUMENT)
    .argument(...NAME_ARGUMENT)
    .option(...TENANT_OPTION)
    .option('--namespace <name>', 'only objects of this namespace');
  addExamples(
    addListOptions(addContextOptions(objects)),
    `objects user:ann viewer --tenant ${TENANT_EXAMPLE}`,
    `objects user:ann viewer --namespace doc --tenant ${TENANT_EXAMPLE} --json | jq -r ".[]"`,
  ).action(
    context.action(
      (
        subject: string,
        relation: string,
        options: TenantOption & ListOptions & ContextOptions & { readonly namespace?: string },
      ) =>
        printListing(
          context,
          context.connectTenant(options.tenant),
          {
            path: '/objects',
            name: 'objects',
            query: { subject, relation, namespace: options.namespace },
            members: contextMembers(options),
            columns: [['object', 'object']],
          },
          options,
        ),
    ),
  );
}

/** Groups have the subjects that follow from them beside them in the same list. */
const isGroup = (subject: string): boolean => parseGroup(subject) !== undefined;

function registerSubjects(program: Command, context: CliContext): void {
  const subjects = program
    .command('subjects')
    .description(
      'list the subjects that hold a relation on an object; without a relation and an object, list every subject of the tenant that has or ever had a grant',
    )
    .argument('[relation]', NAME_ARGUMENT[1])
    .argument('[object]', OBJECT_ARGUMENT[1])
    .option(...TENANT_OPTION)
    .option('--namespace <name>', 'only subjects of this namespace; with a relation and an object')
    .option('--include-self', "also the object's own groups (object#name); with a relation and an object");
  addExamples(
    addListOptions(addContextOptions(subjects)),
    `subjects viewer doc:readme --tenant ${TENANT_EXAMPLE}`,
    `subjects --tenant ${TENANT_EXAMPLE} --limit 20`,
  ).action(
    context.action(
      (
        relation: string | undefined,
        object: string | undefined,
        options: TenantOption &
          ListOptions &
          ContextOptions & { readonly namespace?: string; readonly includeSelf?: true },
      ) => {
        const { namespace, includeSelf } = options;
        const members = contextMembers(options);
        const columns = [['subject', 'subject']] as const;
        if (relation !== undefined && object !== undefined) {
          const query = { object, relation, namespace, include: includeSelf && 'self' };
          const client = context.connectTenant(options.tenant);
          // In the operator's API, /subjects are those with any grant.
          const path = client.api === 'operator' ? '/holders' : '/subjects';
          const isLast = isGroup;
          return printListing(context, client, { path, name: 'subjects', query, members, columns, isLast }, options);
        }
        if ([relation, namespace, includeSelf, members].some((each) => each !== undefined)) {
          throw new CliFailure('Pass both a relation and an object, or neither of them.', EXIT.usage);
        }
        const client = context.connectTenant(options.tenant);
        if (client.api === 'public') {
          throw new CliFailure(
            "Pass a relation and an object. Only the operator's API lists every subject of a tenant.",
            EXIT.usage,
          );
        }
        return printListing(context, client, { path: '/subjects', name: 'subjects', columns }, options);
      },
    ),
  );
}

function registerNamespaces(program: Command, context: CliContext): void {
  const namespaces = program.command('namespaces').description('list and create the namespaces of a tenant');

  const list = namespaces
    .command('list')
    .description('list the namespaces of a tenant')
    .option(...TENANT_OPTION)
    .option(...JSON_OPTION);
  addExamples(list, `namespaces list --tenant ${TENANT_EXAMPLE}`).action(
    context.action(async (options: TenantOption) => {
      const client = context.connectTenant(options.tenant);
      const answer = await client.readJson({ method: 'GET', path: '/namespaces' });
      const records = recordsOf(answer, 'namespaces');
      const columns = [['namespace', 'name'] as const, ['created', 'created_at'] as const];
      context.print(options.json ? renderJson(records) : context.tableOf(records, columns));
      return EXIT.ok;
    }),
  );

  const create = namespaces
    .command('create')
    .description('create a namespace; an existing one stays unchanged (a grant creates its namespaces automatically)')
    .argument('<name>', 'a letter, then up to 63 letters, digits, "_", "." and "-"')
    .option(...TENANT_OPTION)
    .option(...JSON_OPTION);
  addExamples(create, `namespaces create doc --tenant ${TENANT_EXAMPLE}`).action(
    context.action((name: string, options: TenantOption) => {
      const request = { method: 'POST', path: '/namespaces', json: { name } } as const;
      return printAnswer(context, context.connectTenant(options.tenant), request, options);
    }),
  );
}

export function registerGrantsCommands(program: Command, context: CliContext): void {
  const grants = program.command('grants').description('list, add and revoke the grants of a tenant');
  registerGrantList(grants, context);
  registerGrantAdd(grants, context);
  registerRevocation(grants, context);
  registerObjects(program, context);
  registerSubjects(program, context);
  registerNamespaces(program, context);
}
