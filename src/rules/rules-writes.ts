// Writes of rules, and previews of their effects: the requests and responses of both APIs, and the input of the owner
// of a tenant. And its answer, as the front reads it.

import { setImmediate } from 'node:timers/promises';
import { GrantdError } from '../core/errors.ts';
import { isJsonObject } from '../core/json-members.ts';
import { parseEntityTags } from '../core/text/header-fields.ts';
import { optionalTimestamp } from '../core/text/timestamps.ts';
import { type AccessChanges, accessRecord, noChanges } from './access-changes.ts';
import { parseRuleSetInTurns } from './parse-rule-set.ts';
import { type RuleSet, ruleSetRecord } from './rule-set.ts';
import { diffInSteps, type NamespaceRelation } from './rules-diff.ts';
import { RulesText, ruleSetWithSource } from './rules-text.ts';
import { inTurns } from './steps.ts';
import { printSteps } from './text/printer.ts';

/** Grants that one preview examines: a second or two, unless the store is slow. */
export const PREVIEW_GRANTS_MAX = 100_000;

/** Rules to be written or previewed. */
export interface RulesRequest {
  readonly rules: RulesText;
  /** The present rules must have one of these revisions; undefined: any. */
  readonly ifMatch: readonly string[] | undefined;
  /** `keep`: stored grants that stricter types exclude stay, and count. Absent: the write is refused then. */
  readonly outsideTypes?: typeof KEEP_OUTSIDE | undefined;
}

export const KEEP_OUTSIDE = 'keep';

export interface VanishingName {
  readonly name: string;
  /** When an application last asked about it, to the minute. Undefined: not in the last day, as far as is known. */
  readonly askedAtMs: number | undefined;
}

/** What would change if the rules were written. Only live grants count. */
export interface RulesPreview {
  /** The revision of the present rules. */
  readonly revision: string;
  /**
   * Subjects `namespace:id#name` with grants that start or stop applying to the members of the group. 0 if `groups`
   * does not change.
   */
  readonly groupSubjects: number;
  /** Grants to `namespace:*` that start or stop applying to every subject of the namespace. */
  readonly publicGrants: number;
  /** Grants that the new rules could never follow: see `unfollowedReason`. */
  readonly notFollowed: number;
  /** Grants that the types of the new rules do not allow. They stay, and count. */
  readonly outsideTypes: number;
  /** Relations of which rules make use, but of which no object of the namespace has a grant. */
  readonly ungranted: readonly NamespaceRelation[];
  /** Names that the present rules define, and the others do not; those most recently asked about first. */
  readonly vanishing: readonly VanishingName[];
  /** Who loses and gains names of the present rules. Absent: an owner of an earlier version. */
  readonly access?: AccessChanges | undefined;
  /** Grants that were examined. */
  readonly scannedGrants: number;
  /** Whether all grants were. If not, the counts are lower bounds, and a relation in `ungranted` may have a grant. */
  readonly complete: boolean;
}

export interface ConditionHeaders {
  readonly 'if-match'?: string | undefined;
  readonly 'if-none-match'?: string | undefined;
}

const REVISION = /^[0-9a-f]{32}$/;

/** Rules always have a revision, so `*` matches. A weak tag never matches, nor does a tag that is no revision. */
function revisionsOf(header: string | undefined): readonly string[] | undefined {
  if (header === undefined) return undefined;
  const tags = parseEntityTags('If-Match', header);
  if (tags === '*') return undefined;
  return [...new Set(tags.filter(({ weak, value }) => !weak && REVISION.test(value)).map(({ value }) => value))];
}

const refuseOutsideTypes = (): never => {
  throw new GrantdError('invalid-request', `"outside_types" must be "${KEEP_OUTSIDE}", or be left out.`);
};

/** The body of a write of rules in JSON: a rule set, and what belongs to this write alone. */
function splitBody(body: unknown): { readonly rules: unknown } & Pick<RulesRequest, 'outsideTypes'> {
  if (!isJsonObject(body) || !Object.hasOwn(body, 'outside_types')) return { rules: body };
  const { outside_types: outsideTypes, ...rules } = body;
  return outsideTypes === KEEP_OUTSIDE ? { rules, outsideTypes } : refuseOutsideTypes();
}

const turn = (): Promise<void> => setImmediate();

/** Rules that an owner sent, parsed in turns. What is wrong with them is no fault of the request. */
export async function parseSentRules(rules: RulesText): Promise<RuleSet> {
  try {
    return await rules.parse(turn);
  } catch (error) {
    if (!(error instanceof GrantdError)) throw error;
    throw new GrantdError('internal', 'The stored rules are not rules of this version.');
  }
}

/** See `sourceOf`; printed in turns. */
export const sourceInTurns = async (ruleSet: RuleSet): Promise<string> =>
  ruleSet.source ?? inTurns(printSteps(ruleSet), turn);

/** See `diffRules`; compared in turns. */
export const diffInTurns = (from: RuleSet, to: RuleSet): Promise<readonly string[]> =>
  inTurns(diffInSteps(from, to), turn);

/** What a write of rules has besides them. */
export interface RulesWriteTerms {
  readonly headers: ConditionHeaders;
  /** Of the query, which may say what a body of text cannot. */
  readonly outsideTypes: string | undefined;
}

/**
 * `body`: a JSON value, or the text form. Throws `invalid-request` that names what is wrong and where.
 */
export async function parseRulesRequest(
  body: { readonly json: unknown } | { readonly text: string },
  { headers, outsideTypes: asked }: RulesWriteTerms,
): Promise<RulesRequest> {
  if (headers['if-none-match'] !== undefined) {
    throw new GrantdError(
      'invalid-request',
      'The header If-None-Match has no meaning here: a tenant always has rules, if only empty ones. Send If-Match.',
    );
  }
  const ifMatch = revisionsOf(headers['if-match']);
  if (asked !== undefined && asked !== KEEP_OUTSIDE) refuseOutsideTypes();
  const fromQuery = asked === undefined ? undefined : KEEP_OUTSIDE;
  if ('text' in body) {
    const ruleSet = await ruleSetWithSource(body.text, turn, { expressions: true });
    return { rules: RulesText.of(ruleSet), ifMatch, outsideTypes: fromQuery };
  }
  const { rules, outsideTypes = fromQuery } = splitBody(body.json);
  const ruleSet = await parseRuleSetInTurns(rules, turn, { expressions: true });
  return { rules: RulesText.of(ruleSet), ifMatch, outsideTypes };
}

/** Throws `precondition-failed` if `If-Match` does not name the revision. `*` and absence do. */
export function demandMatch(headers: ConditionHeaders, revision: string): void {
  const revisions = revisionsOf(headers['if-match']);
  if (revisions === undefined || revisions.includes(revision)) return;
  throw new GrantdError(
    'precondition-failed',
    `The rules have the revision ${revision}, which If-Match does not name.`,
  );
}

/** Whether the client has this revision already. Here, a weak tag is as good as a strong one. */
export function isKnown(headers: ConditionHeaders, revision: string): boolean {
  const header = headers['if-none-match'];
  if (header === undefined) return false;
  const tags = parseEntityTags('If-None-Match', header);
  return tags === '*' || tags.some(({ value }) => value === revision);
}

export const etagOf = (revision: string): string => `"${revision}"`;

export function rulesPreviewRecord({ ruleSet, revision }: RulesText, preview: RulesPreview) {
  return {
    rule_set: ruleSetRecord(ruleSet),
    revision,
    current_revision: preview.revision,
    changed: revision !== preview.revision,
    group_subjects: preview.groupSubjects,
    public_grants: preview.publicGrants,
    grants_not_followed: preview.notFollowed,
    grants_outside_types: preview.outsideTypes,
    ungranted: preview.ungranted,
    vanishing: preview.vanishing.map(({ name, askedAtMs }) => ({
      name,
      asked_at: optionalTimestamp(askedAtMs),
    })),
    access: accessRecord(preview.access ?? noChanges('failed')),
    complete: preview.complete,
    scanned_grants: preview.scannedGrants,
    scanned_grants_max: PREVIEW_GRANTS_MAX,
  };
}
