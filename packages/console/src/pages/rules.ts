// The rules of a tenant: written as text, tried, and saved as they were written. The text stays in the box on any
// error, and rules that another operator has saved meanwhile are never overwritten unseen.

import { setImmediate } from 'node:timers/promises';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { OperatorTenantSession } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { tenantIdOf } from '../../../../src/operator/path-ids.ts';
import { noChanges } from '../../../../src/rules/access-changes.ts';
import { hasRules, NO_RULES, type RuleSet, revisionOf } from '../../../../src/rules/rule-set.ts';
import { namesVanishing, publicChanged } from '../../../../src/rules/rules-diff.ts';
import { isJsonForm, parseRulesText, RulesText } from '../../../../src/rules/rules-text.ts';
import { diffInTurns, KEEP_OUTSIDE, type RulesPreview, sourceInTurns } from '../../../../src/rules/rules-writes.ts';
import type { ParsedRules, RulesProblem } from '../../../../src/rules/text/rules-source.ts';
import { type Refusal, refuse, refuseThrown } from '../forms.ts';
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
import { accessChangesMarkup } from '../parts/access-changes.ts';
import { changeForm, formError, hidden, refilled, submit } from '../parts/form-parts.ts';
import { confirmPage, tenantPage } from '../parts/layout.ts';
import { ago, code, count, fact, plural, section } from '../parts/parts.ts';
import { rulesDiff } from '../parts/rules-diff.ts';
import { RULES_TEXT_LENGTH_MAX, rulesBox, rulesState } from '../parts/rules-editor.ts';
import { RULES_EXAMPLES } from '../parts/rules-examples.ts';
import { newestVersions } from './rules-versions.ts';

/** A preview that counts the grants that the types exclude. */
const KEPT = { ifMatch: undefined, outsideTypes: KEEP_OUTSIDE } as const;

const REVISION = /^[0-9a-f]{32}$/;

/** The revision of the rules on which the text in the form is based; empty: the form had none. */
function typedRevision({ form }: PageCall): string {
  const text = form.text('revision');
  return REVISION.test(text) ? text : '';
}

async function parseTyped(text: string): Promise<ParsedRules> {
  if (text.trim() === '') return { kind: 'parsed', ruleSet: NO_RULES };
  if (text.length <= RULES_TEXT_LENGTH_MAX) {
    return parseRulesText(text, () => setImmediate());
  }
  const message = `The text is longer than ${count(RULES_TEXT_LENGTH_MAX)} characters.`;
  return { kind: 'wrong', problems: [{ message, place: undefined }] };
}

/** A browser sends each line break of a form as two characters. */
const typedText = ({ form }: PageCall): string => form.text('rules').replaceAll('\r\n', '\n');

const shownText = async (ruleSet: RuleSet): Promise<string> => (hasRules(ruleSet) ? sourceInTurns(ruleSet) : '');

interface EditorState {
  /** The revision of the rules on which the text is based; empty: the page never had one. */
  readonly revision: string;
  readonly text: string;
  /** What is wrong with the text. */
  readonly problems?: readonly RulesProblem[];
  readonly refusal?: Refusal;
  /** Above the form, and below it. */
  readonly above?: Markup;
  readonly below?: Markup;
  /** At the end of the page. */
  readonly end?: Markup;
}

function editor(
  call: PageCall,
  tenantId: string,
  shown: EditorState & { readonly namespaces: readonly string[] },
): Markup {
  const { revision, text, refusal, problems, namespaces } = shown;
  const filled = refilled(call.form, refusal);
  return changeForm(
    call.session,
    tenantPath(tenantId, 'rules'),
    html`${hidden({ revision })}${formError(filled)}
      ${rulesBox({ text, namespaces, validatePath: tenantPath(tenantId, 'rules/validate') }, filled)}
      ${rulesState(problems && { kind: 'wrong', problems }, isJsonForm(text))}
      <p class="buttons">${submit('Try', 'secondary', { name: 'action', value: 'try' })}${' '}
        ${submit('Save', 'primary', { name: 'action', value: 'save' })}</p>`,
    { label: 'Rules' },
  );
}

/** For completion, so they are worth no error. */
async function namespacesOf(call: PageCall): Promise<readonly string[]> {
  try {
    const session = await tenantSessionOf(call);
    return (await session.call('listNamespaces', call.context(), undefined)).map(({ name }) => name);
  } catch {
    return [];
  }
}

async function showPage(call: PageCall, shown: EditorState): Promise<PageResult> {
  const { refusal, above, below, end } = shown;
  const isTyped = call.form.list('rules').length > 0;
  const tenant = await (isTyped ? readTenantOrId(call) : readTenant(call));
  const namespaces = await namespacesOf(call);
  const rules = html`
    <p>By rules, a relation follows from others: on the same object, on its parent, or through a group. Without rules, only
      grants count. Every check and listing that starts after you save follows the new rules.</p>
    ${editor(call, tenant.tenantId, { ...shown, namespaces })}`;
  const content = [above, section('rules', 'Rules', rules, 'card rules-editor'), below, end];
  return { ...tenantPage(tenant, 'rules', `Rules of ${tenant.name}`, content, refusal), hasEditor: true };
}

function examplesMarkup(tenantId: string): Markup {
  const examples = RULES_EXAMPLES.map(
    ({ name, title, about }) =>
      html`<li><a href=${tenantPath(tenantId, 'rules', { example: name })}>${title}</a>: ${about}</li>`,
  );
  const content = html`
    <p>Write them below, or start from an example. Nothing changes until you save.</p>
    <ul>${examples}</ul>`;
  return section('examples', 'This tenant has no rules', content);
}

export async function rulesPage(call: PageCall): Promise<PageResult> {
  const session = await tenantSessionOf(call);
  const present = await readRuleSet(call, session);
  const example = RULES_EXAMPLES.find(({ name }) => name === call.query.text('example'));
  return showPage(call, {
    revision: revisionOf(present),
    text: example?.text ?? (await shownText(present)),
    above: hasRules(present) ? undefined : examplesMarkup(session.tenantId),
    end: await newestVersions(call, session),
  });
}

/** Validates locally; errors are shown inline. */
export async function validateRules(call: PageCall): Promise<PageResult> {
  tenantIdOf(call);
  const text = typedText(call);
  return { kind: 'part', body: rulesState(await parseTyped(text), isJsonForm(text)) };
}

/** The page with the text as it was typed. */
const again = (call: PageCall, shown: Partial<EditorState>): Promise<PageResult> =>
  showPage(call, { revision: typedRevision(call), text: typedText(call), ...shown });

function vanishingMarkup(vanishing: RulesPreview['vanishing'], nowMs: number): Markup {
  const asked = vanishing.filter(({ askedAtMs }) => askedAtMs !== undefined);
  const namesOf = (names: RulesPreview['vanishing']): Markup =>
    names.map(
      ({ name, askedAtMs }, index) =>
        html`${index > 0 && ', '}${code(name)}${askedAtMs !== undefined && html` (${ago(askedAtMs, nowMs)})`}`,
    );
  const others = vanishing.slice(asked.length);
  return html`${
    asked.length > 0 &&
    html`<p class="warning">Applications asked about these names in the last day, and would be refused: ${namesOf(asked)}.</p>`
  }${
    others.length > 0 &&
    html`<p class="warning">Checks of these names would be refused, about which nobody asked in the last day: ${namesOf(others)}.</p>`
  }`;
}

function figuresMarkup({ tenantId, nowMs }: { tenantId: string; nowMs: number }, preview: RulesPreview): Markup {
  const { groupSubjects, publicGrants, notFollowed, outsideTypes, ungranted, complete, scannedGrants } = preview;
  const { access, vanishing } = preview;
  const atLeast = complete ? '' : 'at least ';
  return html`${vanishingMarkup(vanishing, nowMs)}
    ${accessChangesMarkup(tenantId, access ?? noChanges('failed'))}
    <dl class="facts">
      ${fact('Subjects that become or cease to be groups', `${atLeast}${count(groupSubjects)}`)}
      ${fact('Grants that become or cease to be public', `${atLeast}${count(publicGrants)}`)}
      ${fact('Grants that these rules can never follow', `${atLeast}${count(notFollowed)}`)}
      ${fact('Grants that the types do not allow, and which stay', `${atLeast}${count(outsideTypes)}`)}
      ${fact('Grants looked at', `${count(scannedGrants)}${complete ? '' : ', not all of them'}`)}
    </dl>
    ${
      ungranted.length === 0
        ? undefined
        : html`<p>${complete ? 'Rules use these relations, but no object has a grant of them:' : 'Rules use these relations, but none of the grants looked at is one of them:'}</p>
          <ul class="subjects">${ungranted.map(({ namespace, relation }) => html`<li>${code(relation)} of ${code(namespace)}</li>`)}</ul>`
    }`;
}

/** Another operator has changed the rules. The form gets their new revision, so that the next save is a decision. */
async function showConflict(call: PageCall, session: OperatorTenantSession, ruleSet: RuleSet): Promise<PageResult> {
  const present = await readRuleSet(call, session);
  const above = html`<section class="confirm wide" aria-labelledby="conflict-title">
    <h2 id="conflict-title">Another operator changed the rules in the meantime</h2>
    <p>Your text is still below. Saving it now changes the current rules as follows:</p>
    ${await rulesDiff(present, ruleSet)}
    <details><summary>The current rules</summary><pre tabindex="0">${await shownText(present)}</pre></details>
  </section>`;
  const refusal = refuse('form', 'Another operator changed the rules in the meantime. Nothing was saved.', 412);
  return again(call, { revision: revisionOf(present), refusal, above });
}

async function tryRules(call: PageCall, session: OperatorTenantSession, ruleSet: RuleSet): Promise<PageResult> {
  const preview = await session.call('previewRules', call.context(), { ...KEPT, rules: RulesText.of(ruleSet) });
  const present = await readRuleSet(call, session);
  const below = html`<section class="confirm wide" aria-labelledby="tried-title">
    <h2 id="tried-title" tabindex="-1" data-focus>What saving would change</h2>
    ${
      preview.revision === typedRevision(call)
        ? undefined
        : html`<p class="warning">Another operator changed the rules since you opened this page.</p>`
    }
    ${await rulesDiff(present, ruleSet)}
    ${figuresMarkup({ tenantId: session.tenantId, nowMs: call.clock.wallMs() }, preview)}
    <p class="hint">Nothing has been saved.</p>
  </section>`;
  return again(call, { below });
}

/** Asks for confirmation. `fields`: what a confirmed form has besides. */
async function askToSave(
  call: PageCall,
  ruleSet: RuleSet,
  button: string,
  explanation: Markup,
  fields: Readonly<Record<string, string>> = {},
): Promise<PageResult> {
  const tenant = await readTenantOrId(call);
  const typed = { revision: typedRevision(call), rules: typedText(call), confirmed: revisionOf(ruleSet) };
  const form = changeForm(
    call.session,
    tenantPath(tenant.tenantId, 'rules'),
    html`${hidden({ ...typed, ...fields })}
      <p class="buttons">${submit(button, 'danger', { name: 'action', value: 'save' })}${' '}
        ${submit('Back to the text', 'secondary', { name: 'action', value: 'edit' })}</p>`,
  );
  return confirmPage(tenant, 'rules', 'Save the rules', [explanation, form], { wide: true });
}

/** For rules that change the meaning of grants, and not only what follows from them. */
const NEW_MEANING = html`<h2 tabindex="-1" data-focus>Grants change their meaning</h2>
  <p>Grants to groups and to every subject of a namespace change their meaning: subjects may gain or lose access that was
    not granted to them individually.</p>`;

/** For rules without names that applications still ask about. */
const MISSING_NAMES = html`<h2 tabindex="-1" data-focus>Applications still ask about names</h2>
  <p>Their checks and listings of names that these rules do not define would be refused.</p>`;

/** For stricter types, which exclude stored grants. */
const excludedGrants = (message: string): Markup =>
  html`<h2 tabindex="-1" data-focus>Stored grants are outside the types</h2>
    <p>${message}</p>
    <p>Grants that you keep go on allowing what they allow; the types hold for new ones.</p>`;

async function noticeOf(present: RuleSet, ruleSet: RuleSet): Promise<string> {
  if (!hasRules(ruleSet)) return 'Rules removed: only grants count.';
  const same = (await diffInTurns(present, ruleSet)).length === 0 ? ' Their meaning is the same.' : '';
  return `Rules saved: ${plural(ruleSet.rules.length, 'rule')}.${same}`;
}

async function saveRules(call: PageCall, session: OperatorTenantSession, ruleSet: RuleSet): Promise<PageResult> {
  const revision = typedRevision(call);
  const present = await readRuleSet(call, session);
  if (revisionOf(present) !== revision) return showConflict(call, session, ruleSet);
  const isConfirmed = call.form.text('confirmed') === revisionOf(ruleSet);
  const switched = present.groups !== ruleSet.groups || publicChanged(present, ruleSet).length > 0;
  if ((switched || namesVanishing(present, ruleSet).length > 0) && !isConfirmed) {
    const preview = await session.call('previewRules', call.context(), { ...KEPT, rules: RulesText.of(ruleSet) });
    const changesGrants = switched && (preview.groupSubjects > 0 || preview.publicGrants > 0 || !preview.complete);
    if (changesGrants || preview.vanishing.some(({ askedAtMs }) => askedAtMs !== undefined)) {
      const explanation = html`${changesGrants ? NEW_MEANING : MISSING_NAMES}
        ${await rulesDiff(present, ruleSet)}
        ${figuresMarkup({ tenantId: session.tenantId, nowMs: call.clock.wallMs() }, preview)}`;
      return askToSave(call, ruleSet, 'Save the rules', explanation);
    }
  }
  try {
    const outsideTypes = call.form.text('outside_types') === KEEP_OUTSIDE ? KEEP_OUTSIDE : undefined;
    await session.call('writeRules', call.context(), {
      rules: RulesText.of(ruleSet),
      ifMatch: [revision],
      outsideTypes,
    });
  } catch (error) {
    if (!(error instanceof GrantdError)) throw error;
    if (error.code === 'precondition-failed') return showConflict(call, session, ruleSet);
    if (error.code !== 'grants-outside-types') throw error;
    const fields = { outside_types: KEEP_OUTSIDE };
    return askToSave(call, ruleSet, 'Save the rules, and keep these grants', excludedGrants(error.message), fields);
  }
  return redirect(tenantPath(session.tenantId, 'rules'), await noticeOf(present, ruleSet));
}

export async function writeRules(call: PageCall): Promise<PageResult> {
  const parsed = await parseTyped(typedText(call));
  if (parsed.kind === 'wrong') {
    const { problems } = parsed;
    return again(call, { problems, refusal: refuse('rules', 'Nothing was saved.') });
  }
  const { ruleSet } = parsed;
  try {
    const session = await tenantSessionOf(call);
    switch (call.form.text('action')) {
      case 'save':
        return await saveRules(call, session, ruleSet);
      case 'edit':
        return await again(call, { text: await shownText(ruleSet) });
      default:
        return await tryRules(call, session, ruleSet);
    }
  } catch (error) {
    return again(call, { refusal: refuseThrown(error) });
  }
}
