// Why a check is answered as it is, as a tree: the proof that the APIs return. Each part can be folded, without a
// script too.

import { isJsonObject, type JsonObject, objectsIn } from '../../../../src/core/json-members.ts';
import { parseTimestamp } from '../../../../src/core/text/timestamps.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { isRuleName } from '../../../../src/rules/rule-set.ts';
import { code, copyCode, foreign, moment, quoted, tupleMarkup } from './parts.ts';

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const VERDICTS: ReadonlyMap<unknown, string> = new Map([
  [true, 'yes'],
  [false, 'no'],
]);

export interface ProofLinks {
  readonly tenantId: string;
  /** The check of a name on an object, under the same context; undefined: it is the one that is shown. */
  readonly check: (name: string, object: string) => string | undefined;
}

const conditionMarkup = ({ condition, condition_saw: saw }: JsonObject): Markup =>
  isJsonObject(condition) &&
  html` <small>with the condition ${code(textOf(condition.name))}${
    saw !== undefined && html`, which saw ${code(JSON.stringify(saw))}`
  }</small>`;

function grantMarkup(grant: JsonObject, tenantId: string): Markup {
  const { subject, relation, object, grant_id: grantId, created_at: createdAt, context_grant: isSent } = grant;
  const createdAtMs = parseTimestamp(textOf(createdAt));
  const origin =
    isSent === true
      ? html`<small>sent with the check</small>`
      : html`<small>grant ${copyCode(textOf(grantId))}${createdAtMs !== undefined && html` · created ${moment(createdAtMs)}`}</small>`;
  const tuple = { subject: textOf(subject), relation: textOf(relation), object: textOf(object) };
  return html`<li>
    ${tupleMarkup(tenantId, tuple)}
    ${conditionMarkup(grant)} ${origin}
  </li>`;
}

/** Grants that lead from the subject to the object, in their order. */
export const chainMarkup = (grants: readonly JsonObject[], tenantId: string): Markup =>
  grants.length > 0 && html`<ol class="chain">${grants.map((grant) => grantMarkup(grant, tenantId))}</ol>`;

/** A part with what it rests on. Only one that shows nothing below it has a link: the summary of others folds them. */
function branch(head: Markup, link: Markup, content: readonly Markup[]): Markup {
  const shown = content.filter((each) => each !== false && each !== undefined);
  return shown.length === 0
    ? html`<li>${head}${link}</li>`
    : html`<li><details open><summary>${head}</summary>${shown}</details></li>`;
}

const cutMarkup = (cut: unknown): Markup => cut === true && html`<p>The proof is too long: the rest is left out.</p>`;

const branches = (proofs: readonly JsonObject[], links: ProofLinks): Markup =>
  proofs.length > 0 && html`<ul>${proofs.map((proof) => proofMarkup(proof, links))}</ul>`;

function gateMarkup(proof: JsonObject, links: ProofLinks): Markup {
  const { gate, object, parents, all_of: all, but_not: none, cut } = proof;
  const excluded = objectsIn(none);
  const head = html`gate ${code(textOf(gate))} on ${foreign(textOf(object))}`;
  return branch(head, undefined, [
    chainMarkup(objectsIn(parents), links.tenantId),
    branches(objectsIn(all), links),
    excluded.length > 0 && html`<p>but not:</p>${branches(excluded, links)}`,
    cutMarkup(cut),
  ]);
}

function proofMarkup(proof: JsonObject, links: ProofLinks): Markup {
  const {
    name: nameValue,
    object: objectValue,
    holds,
    because,
    gate,
    gates,
    looked_for: wanted,
    repeated,
    cut,
  } = proof;
  const [name, object] = [textOf(nameValue), textOf(objectValue)];
  const verdict = VERDICTS.get(holds) ?? 'undecided';
  const head = html`<strong class="verdict ${verdict}">${verdict}</strong> ${code(name)} on ${foreign(object)}${
    repeated === true && ', as shown above'
  }`;
  const lookedFor = listOf(wanted).map(textOf);
  // That no grant of a relation was found for the relation itself goes without saying.
  const isExplained = lookedFor.some((each) => each !== name);
  const tried = objectsIn(gate === undefined ? gates : [gate]);
  const link = isRuleName(name) ? links.check(name, object) : undefined;
  const alone = link !== undefined && html` · <a href=${link}>check it alone</a>`;
  return branch(head, alone, [
    chainMarkup(objectsIn(because), links.tenantId),
    isExplained &&
      html`<ul><li>Found none of: ${lookedFor.map((each, index) => [index > 0 && ', ', code(each)])}</li></ul>`,
    tried.length > 0 && html`<ul>${tried.map((each) => gateMarkup(each, links))}</ul>`,
    cutMarkup(cut),
  ]);
}

/** `reason`: of a denial, JSON as the shard writes it. */
export function reasonMarkup(reason: string, tenantId: string): Markup {
  const parsed: unknown = JSON.parse(reason);
  if (!isJsonObject(parsed)) return undefined;
  const present = [...objectsIn(parsed.excluded_by), ...objectsIn(parsed.unmet)];
  return html`<p class="reason">${quoted(textOf(parsed.text))}</p>${chainMarkup(present, tenantId)}`;
}

/** `proof`: JSON as the shard writes it. */
export function proofTree(proof: string, links: ProofLinks): Markup {
  const parsed: unknown = JSON.parse(proof);
  return html`<ul class="proof">${isJsonObject(parsed) && proofMarkup(parsed, links)}</ul>`;
}
