// Many grants at once, pasted as lines: all of them are created, or none. The text stays in the box on any error.

import { assertNever } from '../../../../src/core/assert.ts';
import type { GrantedTuple } from '../../../../src/core/bulk-writes.ts';
import type { TermsRequest } from '../../../../src/core/grant-attributes.ts';
import { BULK_CHANGES_MAX } from '../../../../src/core/limits.ts';
import { linesOf, parseTupleLines } from '../../../../src/core/text/tuple-lines.ts';
import { isRelation, type Tuple, undeclaredMessage } from '../../../../src/core/tuples.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { undeclaredIn } from '../../../../src/rules/allowed-grants.ts';
import type { RuleSet } from '../../../../src/rules/rule-set.ts';
import { type Refusal, refuse } from '../forms.ts';
import {
  type PageCall,
  type PageResult,
  readRuleSet,
  readTenant,
  readTenantOrId,
  redirect,
  tenantPath,
  tenantSessionOf,
} from '../page.ts';
import { changeForm, formError, submitOrLeave, textArea } from '../parts/form-parts.ts';
import { confirmPage } from '../parts/layout.ts';
import { plural } from '../parts/parts.ts';

/**
 * UTF-16 units that the box takes, more than 100 valid lines can have: a longer text is refused even where the browser
 * cuts it. Percent-encoded, it takes less than a form may have.
 */
const TEXT_LENGTH_MAX = 200_000;

interface RefusedLines extends Refusal {
  /** What is wrong with each line. */
  readonly lines: readonly string[];
}

function errorList(lines: readonly string[]): Markup {
  if (lines.length === 0) return undefined;
  return html`<ul class="line-errors" id="line-errors">${lines.map((line) => html`<li><bdi>${line}</bdi></li>`)}</ul>`;
}

export async function linesPage(call: PageCall, refusal?: Refusal | RefusedLines): Promise<PageResult> {
  const tenant = await (refusal === undefined ? readTenant(call) : readTenantOrId(call));
  const filled = { fields: call.form, refusal };
  const lines = {
    name: 'lines',
    label: 'Grants, one per line',
    required: true,
    hint: html`Subject, relation and object, separated by spaces, tabs or commas: <code>user:ada viewer document:plan</code>.
      A fourth part says when the grant expires: <code>2030-01-31T12:00:00Z</code>. A condition stands at the end:${' '}
      <code>with office_hours {"zone": "UTC"}</code>`,
    rows: 12,
    lengthMax: TEXT_LENGTH_MAX,
  };
  const form = changeForm(
    call.session,
    tenantPath(tenant.tenantId, 'grants/lines'),
    html`${formError(filled)}
      ${textArea(lines, filled)}
      ${refusal !== undefined && 'lines' in refusal && errorList(refusal.lines)}
      ${submitOrLeave('Create the grants', 'primary', tenantPath(tenant.tenantId, 'grants'))}`,
  );
  const content = html`<h2>Create many grants</h2>
    <p>All grants are created at one moment, at most ${BULK_CHANGES_MAX} of them, or none if a line is wrong. A grant that exists already
      stays as it is, with its expiry and condition. For longer lists, use <code>grantd import</code>.</p>
    ${form}`;
  return confirmPage(tenant, 'grants', 'Create many grants', content, { refusal, wide: true });
}

/** What the rules of the tenant do not declare, and only its owner would refuse, for one line at a time. */
function faultOf({ relation, condition }: Tuple & TermsRequest, ruleSet: RuleSet): string | undefined {
  const { relations } = ruleSet;
  if (!isRelation(relation) && !relations.includes(relation)) return undeclaredMessage(relation, relations);
  return typeof condition === 'string' ? undeclaredIn(ruleSet, condition) : undefined;
}

/** The grants of all lines, or everything that is wrong with some of them. */
function readLines(text: string, wallMs: number, ruleSet: RuleSet): readonly GrantedTuple[] | Refusal | RefusedLines {
  const lines = linesOf(text);
  if (lines.length === 0) return refuse('lines', 'Enter at least one grant.');
  if (lines.length > BULK_CHANGES_MAX) {
    return refuse(
      'lines',
      `These are ${plural(lines.length, 'grant')}; at most ${BULK_CHANGES_MAX} can be created at once. Nothing was created.`,
    );
  }
  const parsed = parseTupleLines(lines, wallMs);
  const errors = parsed.flatMap((line) => {
    const fault = 'refusal' in line ? line.refusal : faultOf(line.tuple, ruleSet);
    return fault === undefined ? [] : [`Line ${line.number}: ${fault}`];
  });
  if (errors.length > 0) {
    const wrong = errors.length === 1 ? '1 line is wrong' : `${errors.length} lines are wrong`;
    return { ...refuse('lines', `${wrong}, see below. Nothing was created.`), lines: errors };
  }
  return parsed.flatMap((line) => ('tuple' in line ? [{ ...line.tuple, keepsExisting: true }] : []));
}

export async function createLines(call: PageCall): Promise<PageResult | Refusal> {
  const session = await tenantSessionOf(call);
  const ruleSet = await readRuleSet(call, session);
  const grants = readLines(call.form.text('lines'), call.clock.wallMs(), ruleSet);
  if ('messages' in grants) return grants;
  const result = await session.call('writeBulk', call.context(), { grants, revocations: [], preconditions: [] });
  switch (result.kind) {
    case 'written': {
      const created = result.grants.filter((grant) => grant.created).length;
      const present = grants.length - created;
      const kept = present === 0 ? '' : `; ${present.toLocaleString('en')} existed already, unchanged`;
      const [first] = grants;
      const subject = grants.every((each) => each.subject === first?.subject) ? first?.subject : undefined;
      return redirect(
        tenantPath(session.tenantId, 'grants', { subject }),
        `${plural(created, 'grant')} created${kept}`,
      );
    }
    case 'refused':
      return refuse('form', `${result.message} Nothing was created.`, 403);
    case 'precondition-not-met':
      throw new Error('A write without preconditions cannot fail one.');
    default:
      return assertNever(result);
  }
}
