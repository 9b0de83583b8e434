// The rules of a tenant: written as text, tried, and saved, with a picture of what follows from what. Whatever is
// wrong, the text stays in the box; what somebody else has saved meanwhile is never overwritten unseen.

import { GrantdError } from '../../../core/errors.ts';
import type { OperatorTenantSession } from '../../../front/front.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { hasRules, NO_RULES, type RuleSet, revisionOf } from '../../../rules/rule-set.ts';
import { diffRules, publicChanged, renderRuleSet } from '../../../rules/rules-diff.ts';
import { type ParsedRules, parseRulesText } from '../../../rules/rules-text.ts';
import type { RulesPreview } from '../../../rules/rules-writes.ts';
import { type Refusal, refuse, refuseThrown } from '../forms.ts';
import {
  type ConsolePage,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantIdOf,
  tenantSessionOf,
} from '../page.ts';
import { changeForm, formError, submit, textArea } from '../parts/form-parts.ts';
import { tenantFrame } from '../parts/layout.ts';
import { code, count, plural } from '../parts/parts.ts';
import { RULES_EXAMPLES } from '../parts/rules-examples.ts';
import { rulesPicture } from '../parts/rules-picture.ts';
import { readTenant, readTenantOrId } from './tenant.ts';

/**
 * UTF-16 units that the box takes, more than rules of the largest size have, one a line. Percent-encoded, it takes less
 * than a form may have.
 */
const TEXT_LENGTH_MAX = 200_000;
const ROWS_MIN = 12;
const ROWS_MAX = 30;
/** Above that, the rest is only counted. */
const LINES_SHOWN_MAX = 50;
const REVISION = /^[0-9a-f]{32}$/;

const pathOf = (tenantId: string): readonly string[] => ['tenants', tenantId, 'rules'];
const typedRevision = (call: PageCall): string => {
  const text = call.form.text('revision');
  return REVISION.test(text) ? text : '';
};

function parseTyped(text: string): ParsedRules {
  if (text.trim() === '') return { kind: 'parsed', ruleSet: NO_RULES };
  if (text.length <= TEXT_LENGTH_MAX) return parseRulesText(text);
  return { kind: 'wrong', line: 1, message: `The text is longer than ${count(TEXT_LENGTH_MAX)} characters.` };
}

const sentenceOf = ({ line, message }: Extract<ParsedRules, { kind: 'wrong' }>): string => `Line ${line}: ${message}`;

function cutList(lines: readonly Markup[]): Markup {
  const rest = lines.length - LINES_SHOWN_MAX;
  return html`<ul class="lines">
    ${lines.slice(0, LINES_SHOWN_MAX).map((line) => html`<li>${line}</li>`)}
    ${rest > 0 ? html`<li>… and ${count(rest)} more</li>` : undefined}
  </ul>`;
}

const diffMarkup = (lines: readonly string[]): Markup => cutList(lines.map(code));

/** What is in the box, in a sentence that a screen reader tells as one types. */
function stateMarkup(parsed: ParsedRules | undefined): Markup {
  const text =
    parsed === undefined
      ? ''
      : parsed.kind === 'wrong'
        ? sentenceOf(parsed)
        : `No errors: ${plural(parsed.ruleSet.rules.length, 'rule')}.`;
  return html`<p id="rules-state" class=${parsed?.kind === 'wrong' ? 'wrong' : undefined} role="status">${text}</p>`;
}

/** `out of band`: it stands elsewhere on the page that has asked for it. */
function pictureMarkup(ruleSet: RuleSet | undefined, outOfBand = false): Markup {
  const swap = outOfBand ? { 'hx-swap-oob': 'true' } : {};
  return html`<section id="rules-picture" aria-labelledby="rules-picture-title" ...${swap}>
    <h2 id="rules-picture-title">What follows from what</h2>
    ${ruleSet === undefined ? html`<p>There is a picture once the text has no error.</p>` : rulesPicture(ruleSet)}
  </section>`;
}

interface Shown {
  readonly session: Pick<OperatorTenantSession, 'tenantId'>;
  /** Of the rules on which the text is based; empty: the page never had one. */
  readonly revision: string;
  readonly text: string;
  readonly ruleSet: RuleSet | undefined;
  readonly refusal?: Refusal;
  /** Above the form, and below it. */
  readonly above?: Markup;
  readonly below?: Markup;
}

function editor(call: PageCall, shown: Shown): Markup {
  const { session, revision, text, refusal } = shown;
  const parts = pathOf(session.tenantId);
  const filled = refusal === undefined ? undefined : { fields: call.form, refusal };
  const rows = Math.min(ROWS_MAX, Math.max(ROWS_MIN, text.split('\n').length + 2));
  const attributes = {
    'hx-post': pathTo([...parts, 'validate']),
    'hx-trigger': 'input changed delay:400ms',
    'hx-target': '#rules-state',
    'hx-swap': 'outerMorph',
    'hx-sync': 'this:replace',
    'hx-status:4xx': 'swap:none',
    'hx-status:5xx': 'swap:none',
  };
  const hint = html`${code('"any_of"')} lists what suffices for ${code('"name"')}: a name on the same object, or ${code('NAME from RELATION')}.`;
  return changeForm(
    call.session,
    pathTo(parts),
    html`<input type="hidden" name="revision" value=${revision} />${formError(filled)}
      ${textArea({ name: 'rules', label: 'Rules', hint, rows, lengthMax: TEXT_LENGTH_MAX, value: text, attributes }, filled)}
      ${stateMarkup(undefined)}
      <p class="buttons">${submit('Try', 'secondary', { name: 'action', value: 'try' })}${' '}
        ${submit('Save', 'primary', { name: 'action', value: 'save' })}</p>`,
    { label: 'Rules' },
  );
}

async function showPage(dependencies: PageDependencies, call: PageCall, shown: Shown): Promise<PageResult> {
  const { ruleSet, refusal, above, below } = shown;
  const isTyped = call.form.list('rules').length > 0;
  const tenant = isTyped ? await readTenantOrId(dependencies, call) : await readTenant(dependencies, call);
  const content = html`${above}
    <section class="card rules-editor" aria-labelledby="rules-title">
      <h2 id="rules-title">Rules</h2>
      <p>By rules, a relation follows from others: on the same object, on its parent, or through a group. Without rules, only
        grants count. Every check and listing that starts after you save follows the new rules.</p>
      ${editor(call, shown)}
    </section>
    ${below}
    ${pictureMarkup(ruleSet)}`;
  const status = refusal?.status ?? 200;
  return { kind: 'page', status, title: `Rules of ${tenant.name}`, body: tenantFrame(tenant, 'rules', content) };
}

function examplesMarkup(tenantId: string): Markup {
  const examples = RULES_EXAMPLES.map(
    ({ name, title, about }) =>
      html`<li><a href=${pathTo(pathOf(tenantId), { example: name })}>${title}</a>: ${about}</li>`,
  );
  return html`<section aria-labelledby="examples-title">
    <h2 id="examples-title">This tenant has no rules</h2>
    <p>Write them below, or start from an example. Nothing changes before you save.</p>
    <ul>${examples}</ul>
  </section>`;
}

async function rulesPage(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const session = await tenantSessionOf(dependencies.operator, call);
  const present = await session.call(CALLS.readRules, call.context(), undefined);
  const example = RULES_EXAMPLES.find(({ name }) => name === call.query.text('example'));
  const ruleSet = example?.ruleSet ?? present;
  return showPage(dependencies, call, {
    session,
    revision: revisionOf(present),
    text: renderRuleSet(ruleSet),
    ruleSet,
    above: hasRules(present) ? undefined : examplesMarkup(session.tenantId),
  });
}

/** Asks nobody: what is wrong with a text stands in the text. */
async function validate(call: PageCall): Promise<PageResult> {
  tenantIdOf(call);
  const parsed = parseTyped(call.form.text('rules'));
  const picture = parsed.kind === 'parsed' ? pictureMarkup(parsed.ruleSet, true) : undefined;
  return { kind: 'part', body: html`${stateMarkup(parsed)}${picture}` };
}

/** The page with the text as it was typed. */
function again(
  dependencies: PageDependencies,
  call: PageCall,
  shown: Partial<Pick<Shown, 'revision' | 'ruleSet' | 'refusal' | 'above' | 'below'>>,
): Promise<PageResult> {
  const session = { tenantId: tenantIdOf(call) };
  const text = call.form.text('rules');
  return showPage(dependencies, call, { session, revision: typedRevision(call), text, ruleSet: undefined, ...shown });
}

function figuresMarkup(preview: RulesPreview): Markup {
  const { groupSubjects, publicGrants, notFollowed, ungranted, complete, scannedGrants } = preview;
  const atLeast = complete ? '' : 'at least ';
  const fact = (title: string, number: number): Markup =>
    html`<div><dt>${title}</dt><dd>${atLeast}${count(number)}</dd></div>`;
  return html`<dl class="facts">
      ${fact('Subjects that become or cease to be groups', groupSubjects)}
      ${fact('Grants that become or cease to be public', publicGrants)}
      ${fact('Grants that these rules can never follow', notFollowed)}
      <div><dt>Grants looked at</dt><dd>${count(scannedGrants)}${complete ? '' : ', not all of them'}</dd></div>
    </dl>
    ${
      ungranted.length === 0
        ? undefined
        : html`<p>${complete ? 'Rules use these relations, but no object has a grant of them:' : 'Rules use these relations, but none of the grants looked at is one of them:'}</p>
          ${cutList(ungranted.map(({ namespace, relation }) => html`${code(relation)} of ${code(namespace)}`))}`
    }`;
}

/** Somebody else has changed the rules. `revision`: of what they are now, so that the next save is a decision. */
async function showConflict(
  dependencies: PageDependencies,
  call: PageCall,
  session: OperatorTenantSession,
  ruleSet: RuleSet,
): Promise<PageResult> {
  const present = await session.call(CALLS.readRules, call.context(), undefined);
  const differences = diffRules(present, ruleSet);
  const above = html`<section class="confirm wide" aria-labelledby="conflict-title">
    <h2 id="conflict-title">Somebody else changed the rules in the meantime</h2>
    ${
      differences.length === 0
        ? html`<p>They are now what you have written.</p>`
        : html`<p>Your text is still below. If you save it now, it changes the present rules by this:</p>
          ${diffMarkup(differences)}
          <details><summary>The present rules</summary><pre tabindex="0">${renderRuleSet(present)}</pre></details>`
    }
  </section>`;
  const refusal = refuse('form', 'Somebody else changed the rules in the meantime. Nothing was saved.', 412);
  return again(dependencies, call, { ruleSet, revision: revisionOf(present), refusal, above });
}

async function tryRules(
  dependencies: PageDependencies,
  call: PageCall,
  session: OperatorTenantSession,
  ruleSet: RuleSet,
): Promise<PageResult> {
  const preview = await session.call(CALLS.previewRules, call.context(), { ruleSet, ifMatch: undefined });
  const differences = diffRules(await session.call(CALLS.readRules, call.context(), undefined), ruleSet);
  const below = html`<section class="confirm wide" aria-labelledby="tried-title">
    <h2 id="tried-title" tabindex="-1" data-focus>What saving would change</h2>
    ${
      preview.revision === typedRevision(call)
        ? undefined
        : html`<p class="warning">Somebody else changed the rules since you opened this page.</p>`
    }
    ${differences.length === 0 ? html`<p>Nothing: the present rules say the same.</p>` : diffMarkup(differences)}
    ${figuresMarkup(preview)}
    <p class="hint">Nothing has been saved.</p>
  </section>`;
  return again(dependencies, call, { ruleSet, below });
}

/** Grants change their meaning, and not only what follows from them: that is asked for once more. */
async function askToSave(
  dependencies: PageDependencies,
  call: PageCall,
  shown: { readonly ruleSet: RuleSet; readonly preview: RulesPreview; readonly differences: readonly string[] },
): Promise<PageResult> {
  const { ruleSet, preview, differences } = shown;
  const tenant = await readTenantOrId(dependencies, call);
  const form = changeForm(
    call.session,
    pathTo(pathOf(tenant.tenantId)),
    html`<input type="hidden" name="revision" value=${typedRevision(call)} />
      <input type="hidden" name="rules" value=${call.form.text('rules')} />
      <input type="hidden" name="confirmed" value=${revisionOf(ruleSet)} />
      <p class="buttons">${submit('Save the rules', 'danger', { name: 'action', value: 'save' })}${' '}
        ${submit('Back to the text', 'secondary', { name: 'action', value: 'edit' })}</p>`,
  );
  const content = html`<section class="confirm wide">
    <h2 tabindex="-1" data-focus>Grants change their meaning</h2>
    <p>Grants to groups and to everybody of a namespace are read otherwise than today: subjects may come to hold, or lose,
      what nobody granted them one by one.</p>
    ${diffMarkup(differences)}
    ${figuresMarkup(preview)}
    ${form}
  </section>`;
  return { kind: 'page', status: 200, title: 'Save the rules', body: tenantFrame(tenant, 'rules', content) };
}

async function saveRules(
  dependencies: PageDependencies,
  call: PageCall,
  session: OperatorTenantSession,
  ruleSet: RuleSet,
): Promise<PageResult> {
  const revision = typedRevision(call);
  const present = await session.call(CALLS.readRules, call.context(), undefined);
  if (revisionOf(present) !== revision) return showConflict(dependencies, call, session, ruleSet);
  const isConfirmed = call.form.text('confirmed') === revisionOf(ruleSet);
  const switched = present.groups !== ruleSet.groups || publicChanged(present, ruleSet).length > 0;
  if (switched && !isConfirmed) {
    const preview = await session.call(CALLS.previewRules, call.context(), { ruleSet, ifMatch: undefined });
    if (preview.groupSubjects > 0 || preview.publicGrants > 0 || !preview.complete) {
      return askToSave(dependencies, call, { ruleSet, preview, differences: diffRules(present, ruleSet) });
    }
  }
  try {
    await session.call(CALLS.writeRules, call.context(), { ruleSet, ifMatch: [revision] });
  } catch (error) {
    if (!(error instanceof GrantdError) || error.code !== 'precondition-failed') throw error;
    return showConflict(dependencies, call, session, ruleSet);
  }
  const notice = hasRules(ruleSet)
    ? `Rules saved: ${plural(ruleSet.rules.length, 'rule')}.`
    : 'Rules removed: only grants count.';
  return { kind: 'redirect', to: pathTo(pathOf(session.tenantId)), notice };
}

async function write(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const parsed = parseTyped(call.form.text('rules'));
  if (parsed.kind === 'wrong') {
    return again(dependencies, call, { refusal: refuse('rules', `${sentenceOf(parsed)} Nothing was saved.`) });
  }
  const { ruleSet } = parsed;
  try {
    const session = await tenantSessionOf(dependencies.operator, call);
    switch (call.form.text('action')) {
      case 'save':
        return await saveRules(dependencies, call, session, ruleSet);
      case 'edit':
        return await again(dependencies, call, { ruleSet });
      default:
        return await tryRules(dependencies, call, session, ruleSet);
    }
  } catch (error) {
    return again(dependencies, call, { ruleSet, refusal: refuseThrown(error) });
  }
}

export function rulesPages(dependencies: PageDependencies): readonly ConsolePage[] {
  const path = '/tenants/:tenantId/rules';
  return [
    { method: 'GET', path, name: 'page-rules', access: 'read-only', run: (call) => rulesPage(dependencies, call) },
    { method: 'POST', path, name: 'page-write-rules', run: (call) => write(dependencies, call) },
    { method: 'POST', path: `${path}/validate`, name: 'page-validate-rules', run: validate },
  ];
}
