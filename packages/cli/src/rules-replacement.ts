// Replaces the rules of a tenant: shows the difference and what it would change, asks, and replaces only the revision
// that it was compared with.

import { firstNames } from '../../../src/core/json-members.ts';
import { hasRules, ruleSetRecord } from '../../../src/rules/rule-set.ts';
import { diffRules } from '../../../src/rules/rules-diff.ts';
import type { CliContext } from './cli-context.ts';
import { confirm, type TenantOption } from './command-parts.ts';
import { EXIT } from './failures.ts';
import { type JsonRecord, recordsOf, textOf } from './output/json-view.ts';
import { formatCount, renderJson } from './output/render.ts';
import type { ServiceClient } from './service-client.ts';
import { putTenantRules, type RevisedRules, readTenantRules } from './tenant-rules.ts';

const numberOf = (record: JsonRecord, name: string): number => {
  const value = record[name];
  return typeof value === 'number' ? value : 0;
};

/** The findings of a dry run, as sentences; `changesGrants`: stored grants would mean something else. */
function describePreview(preview: JsonRecord, diff: readonly string[]) {
  const groupSubjects = numberOf(preview, 'group_subjects');
  const publicGrants = numberOf(preview, 'public_grants');
  const complete = preview.complete === true;
  const atLeast = complete ? '' : 'at least ';
  const switches = diff.some((line) => /^[+-] (?:groups|public):/.test(line));
  const lines: string[] = [];
  if (groupSubjects > 0) {
    lines.push(
      `The grants of ${atLeast}${formatCount(groupSubjects)} subjects of the form namespace:id#name become, or cease to be, grants to groups.`,
    );
  }
  if (publicGrants > 0) {
    lines.push(`In all, ${atLeast}${formatCount(publicGrants)} grants to namespace:* become, or cease to be, public.`);
  }
  const notFollowed = numberOf(preview, 'grants_not_followed');
  if (notFollowed > 0) {
    lines.push(
      `The rules can never follow ${atLeast}${formatCount(notFollowed)} stored grants: they are to a group or namespace:* without effect under these rules, or where rules follow only single entities.`,
    );
  }
  const outside = numberOf(preview, 'grants_outside_types');
  if (outside > 0) {
    lines.push(
      `The types do not allow ${atLeast}${formatCount(outside)} stored grants. They stay until they are revoked.`,
    );
  }
  const ungranted = recordsOf(preview, 'ungranted').map(
    (each) => `${textOf(each, 'namespace')} ${textOf(each, 'relation')}`,
  );
  // A tenant without grants has none of any.
  if (ungranted.length > 0 && numberOf(preview, 'scanned_grants') > 0) {
    lines.push(`The rules use grants of which none was found: ${firstNames(ungranted)}.`);
  }
  if (!complete) {
    lines.push(
      `Only ${formatCount(numberOf(preview, 'scanned_grants'))} grants were looked at: there may be more of each.`,
    );
  }
  return { lines, changesGrants: groupSubjects > 0 || publicGrants > 0 || (!complete && switches) };
}

export interface ReplaceOptions extends TenantOption {
  readonly dryRun?: boolean;
  readonly ifMatch?: string;
  readonly outsideTypes?: string;
  readonly yes?: boolean;
}

/** `asks`: even if stored grants keep their meaning. */
export async function replaceRules(
  context: CliContext,
  client: ServiceClient,
  wanted: RevisedRules,
  options: ReplaceOptions,
  asks = false,
): Promise<number> {
  const { json = false, outsideTypes } = options;
  const present = await readTenantRules(client);
  const ifMatch = options.ifMatch ?? present.revision;
  const diff = diffRules(present.ruleSet, wanted.ruleSet);
  const record = ruleSetRecord(wanted.ruleSet);
  const preview = await putTenantRules(client, record, { ifMatch, dryRun: true, outsideTypes });
  const { lines, changesGrants } = describePreview(preview, diff);
  // The first rules of a tenant are all new.
  const shown = hasRules(present.ruleSet) || options.dryRun ? diff : [];
  if (!json) for (const line of [...shown, ...lines]) context.print(line);
  if (options.dryRun) {
    if (json) context.print(renderJson(preview));
    else context.print(preview.changed === true ? 'Nothing was changed.' : 'The tenant has these rules already.');
    return EXIT.ok;
  }
  if (preview.changed !== true) {
    context.print(json ? renderJson(preview) : 'The tenant has these rules already.');
    return EXIT.ok;
  }
  if ((asks || changesGrants) && !options.yes) {
    await confirm(context, {
      what: changesGrants
        ? 'With these rules, stored grants mean something else, as listed above.'
        : 'This replaces the present rules.',
      answer: 'yes',
      declined: 'Nothing was changed.',
    });
  }
  await putTenantRules(client, record, { ifMatch, outsideTypes });
  context.print(json ? renderJson(preview) : `The rules are set. Their revision is ${wanted.revision}.`);
  return EXIT.ok;
}
