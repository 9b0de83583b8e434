// Replaces the rules of a tenant: shows the difference and what it would change, asks, and replaces only the revision
// that it was compared with.

import { firstNames, isJsonObject } from '../../../src/core/json-members.ts';
import { parseTimestamp, span } from '../../../src/core/text/timestamps.ts';
import { accessHeadline } from '../../../src/rules/access-changes.ts';
import { hasRules } from '../../../src/rules/rule-set.ts';
import { diffRules } from '../../../src/rules/rules-diff.ts';
import type { CliContext } from './cli-context.ts';
import { confirm, type TenantOption } from './command-parts.ts';
import { EXIT } from './failures.ts';
import { type JsonRecord, recordsOf, textOf } from './output/json-view.ts';
import { formatCount, renderJson } from './output/render.ts';
import type { ServiceClient } from './service-client.ts';
import { bodyOf, putTenantRules, type RevisedRules, readTenantRules } from './tenant-rules.ts';

const numberOf = (record: JsonRecord, name: string): number => {
  const value = record[name];
  return typeof value === 'number' ? value : 0;
};

const UNKNOWN: Readonly<Record<string, string>> = {
  everyone: 'it concerns everyone of a public namespace',
  undecided: 'conditions need a context that only a check brings along',
  bounds: 'there is more to compare than one call compares',
  failed: 'the grants changed meanwhile',
};

const textsOf = (record: JsonRecord, name: string): readonly string[] => {
  const value = record[name];
  return Array.isArray(value) ? value.map(String) : [];
};

const someOf = (texts: readonly string[], all: number): string =>
  `${texts.join(', ')}${all > texts.length ? ` and ${formatCount(all - texts.length)} more` : ''}`;

/** Who loses and gains access, by a dry run; nothing if nobody does. */
function describeAccess(access: unknown): readonly string[] {
  if (!isJsonObject(access)) return [];
  const reasons = textsOf(access, 'unknown_because').map((reason) => UNKNOWN[reason] ?? reason);
  return (['lost', 'gained'] as const).flatMap((side) => {
    const of = access[side];
    if (!isJsonObject(of)) return [];
    const verb = side === 'lost' ? 'lose' : 'gain';
    const counts = { subjects: numberOf(of, 'subjects'), objects: numberOf(of, 'objects') };
    if (counts.subjects === 0 && (reasons.length === 0 || verb === 'gain')) return [];
    const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
    const rows = recordsOf(of, 'rows').map((row) => {
      const who = someOf(textsOf(row, 'subjects'), numberOf(row, 'subject_count'));
      const on = someOf(textsOf(row, 'objects'), numberOf(row, 'object_count'));
      return `  ${textsOf(row, 'names').join(', ')}: ${who}, on ${of.by_name === true ? 'some of ' : ''}${on}`;
    });
    return [`${accessHeadline(verb, counts, reasons.length === 0)}${why}${rows.length === 0 ? '.' : ':'}`, ...rows];
  });
}

/** Names that checks could no longer ask about: those of which nobody did in the last day, and the others with when. */
function vanishingNames(preview: JsonRecord, nowMs: number): readonly [readonly string[], readonly string[]] {
  const [unasked, asked]: [string[], string[]] = [[], []];
  for (const { name, asked_at: askedAt } of recordsOf(preview, 'vanishing')) {
    const askedAtMs = typeof askedAt === 'string' ? parseTimestamp(askedAt) : undefined;
    if (askedAtMs === undefined) unasked.push(String(name));
    else asked.push(`${name} (${span(nowMs - askedAtMs)} ago)`);
  }
  return [unasked, asked];
}

/** The findings of a dry run, as sentences; `changesGrants`: stored grants would mean something else. */
function describePreview(preview: JsonRecord, diff: readonly string[], nowMs: number) {
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
  const [unasked, asked] = vanishingNames(preview, nowMs);
  if (asked.length > 0) {
    lines.push(`Applications asked about these names in the last day, and would be refused: ${firstNames(asked)}.`);
  }
  if (unasked.length > 0) {
    lines.push(
      `Checks of these names would be refused, about which nobody asked in the last day: ${firstNames(unasked)}.`,
    );
  }
  lines.push(...describeAccess(preview.access));
  if (!complete) {
    lines.push(
      `Only ${formatCount(numberOf(preview, 'scanned_grants'))} grants were looked at: there may be more of each.`,
    );
  }
  const changesGrants = groupSubjects > 0 || publicGrants > 0 || (!complete && switches);
  return { lines, changesGrants, refusesApplications: asked.length > 0 };
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
  const body = bodyOf(wanted.ruleSet);
  const preview = await putTenantRules(client, body, { ifMatch, dryRun: true, outsideTypes });
  const { lines, changesGrants, refusesApplications } = describePreview(preview, diff, context.nowMs());
  // The first rules of a tenant are all new.
  const shown = hasRules(present.ruleSet) || options.dryRun ? diff : [];
  if (!json) for (const line of [...shown, ...lines]) context.print(line);
  if (!json && diff.length === 0 && preview.changed === true) {
    context.print('They mean the same as the present rules: only comments, the layout or the form differ.');
  }
  if (options.dryRun) {
    if (json) context.print(renderJson(preview));
    else context.print(preview.changed === true ? 'Nothing was changed.' : 'The tenant has these rules already.');
    return EXIT.ok;
  }
  if (preview.changed !== true) {
    context.print(json ? renderJson(preview) : 'The tenant has these rules already.');
    return EXIT.ok;
  }
  if ((asks || changesGrants || refusesApplications) && !options.yes) {
    await confirm(context, {
      what: changesGrants
        ? 'With these rules, stored grants mean something else, as listed above.'
        : refusesApplications
          ? 'With these rules, names are missing that applications ask about, as listed above.'
          : 'This replaces the present rules.',
      answer: 'yes',
      declined: 'Nothing was changed.',
    });
  }
  await putTenantRules(client, body, { ifMatch, outsideTypes });
  context.print(json ? renderJson(preview) : `The rules are set. Their revision is ${wanted.revision}.`);
  return EXIT.ok;
}
