// The versions of a tenant's rules: who changed them and when, what a version changed, and the way back to it. To
// restore a version is to save its rules: the form goes to the page of the rules, which asks and refuses as for any
// others.

import { parseVersion, RULES_VERSIONS_MAX, type RulesVersion } from '../../../../src/core/rules-versions.ts';
import type { OperatorTenantSession } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { versionOf } from '../../../../src/operator/path-ids.ts';
import { NO_RULES, type RuleSet, revisionOf, textOfRules } from '../../../../src/rules/rule-set.ts';
import { parseSentRules, sourceInTurns } from '../../../../src/rules/rules-writes.ts';
import { openTenant, type PageCall, type PageResult, readRuleSet, tenantPath } from '../page.ts';
import { actorMarkup, liveKeys } from '../parts/actors.ts';
import { changeForm, hidden, queryForm, selectField, submit } from '../parts/form-parts.ts';
import type { KeyLabel } from '../parts/key-facts.ts';
import { tenantPage } from '../parts/layout.ts';
import { copyCode, count, crumb, empty, fact, moment, section, table } from '../parts/parts.ts';
import { rulesDiff } from '../parts/rules-diff.ts';

/** Versions on the page of the rules. */
const NEWEST_SHOWN = 5;

const versionsPath = (tenantId: string): string => tenantPath(tenantId, 'rules/versions');
const pathOf = (tenantId: string, version: number): string => tenantPath(tenantId, `rules/versions/${version}`);
/** Without any, it is another text of the same meaning. */
const linesMarkup = ({ added, removed }: RulesVersion): Markup =>
  added + removed === 0 ? 'the text alone' : `+${count(added)} −${count(removed)}`;

const readVersions = (call: PageCall, session: OperatorTenantSession): Promise<readonly RulesVersion[]> =>
  session.call('listRulesVersions', call.context(), undefined);

const keysOf = async (call: PageCall, versions: readonly RulesVersion[]): Promise<ReadonlyMap<string, KeyLabel>> =>
  versions.some(({ actor }) => actor.startsWith('key_')) ? liveKeys(call) : new Map();

async function versionsTable(call: PageCall, tenantId: string, versions: readonly RulesVersion[]): Promise<Markup> {
  const keys = await keysOf(call, versions);
  return table('Versions of the rules', versions, [
    ['Version', ({ version }) => html`<a href=${pathOf(tenantId, version)}>Version ${version}</a>`],
    ['When', ({ atMs }) => moment(atMs)],
    ['By', ({ actor }) => actorMarkup(actor, keys)],
    ['Lines', linesMarkup],
  ]);
}

/** For the page of the rules: the newest versions, if there are any. */
export async function newestVersions(call: PageCall, session: OperatorTenantSession): Promise<Markup> {
  const { tenantId } = session;
  const versions = await readVersions(call, session);
  if (versions.length === 0) return undefined;
  const content = html`${await versionsTable(call, tenantId, versions.slice(0, NEWEST_SHOWN))}
    ${versions.length > NEWEST_SHOWN && html`<p><a href=${versionsPath(tenantId)}>All versions</a></p>`}`;
  return section('history', 'History', content);
}

export async function versionsPage(call: PageCall): Promise<PageResult> {
  const { tenant, session } = await openTenant(call);
  const { tenantId } = tenant;
  const versions = await readVersions(call, session);
  const content = html`${
    versions.length === 0
      ? empty('No versions', 'Each change of the rules appears here.')
      : html`<p>Each change of the rules is a version. The newest ${RULES_VERSIONS_MAX} are kept.</p>
            ${await versionsTable(call, tenantId, versions)}`
  }
    <p><small>On the command line: <code>grantd rules history --tenant ${tenantId}</code></small></p>`;
  return tenantPage(tenant, 'rules', `History of the rules of ${tenant.name}`, [
    crumb(tenantPath(tenantId, 'rules'), 'Rules'),
    section('history', 'History of the rules', content),
  ]);
}

async function readRulesOf(call: PageCall, session: OperatorTenantSession, version: number): Promise<RuleSet> {
  return parseSentRules(await session.call('readRulesVersion', call.context(), version));
}

/** A version, and the one with which it is compared. */
interface VersionComparison {
  readonly tenantId: string;
  readonly version: RulesVersion;
  readonly versions: readonly RulesVersion[];
  readonly ruleSet: RuleSet;
  /** The other version; undefined: it is not kept. */
  readonly from: { readonly version: number; readonly ruleSet: RuleSet } | undefined;
}

async function comparison({ tenantId, version, versions, ruleSet, from }: VersionComparison): Promise<Markup> {
  const others = versions.filter((each) => each.version !== version.version);
  const choices = others.map((each) => ({ value: String(each.version), text: `version ${each.version}` }));
  const field = { name: 'from', label: 'Compare with', choices, value: String(from?.version ?? '') };
  return html`
    ${others.length > 0 && queryForm(pathOf(tenantId, version.version), [selectField(field), submit('Compare', 'secondary')], 'Compare')}
    ${from === undefined ? html`<p>The version before it is no longer kept.</p>` : await rulesDiff(from.ruleSet, ruleSet)}`;
}

async function restoration(
  call: PageCall,
  { tenantId, version, ruleSet }: VersionComparison,
  present: RuleSet,
): Promise<Markup> {
  if (revisionOf(present) === revisionOf(ruleSet)) return html`<p>These are the current rules.</p>`;
  return html`<p>Restoring it creates a new version and changes the current rules as follows:</p>
    ${await rulesDiff(present, ruleSet)}
    ${changeForm(
      call.session,
      tenantPath(tenantId, 'rules'),
      html`${hidden({ revision: revisionOf(present), rules: textOfRules(ruleSet) })}
        <p class="buttons">${submit(`Restore version ${version.version}`, 'danger', { name: 'action', value: 'save' })}${' '}
          ${submit('Try', 'secondary', { name: 'action', value: 'try' })}${' '}
          ${submit('Edit first', 'secondary', { name: 'action', value: 'edit' })}</p>`,
      { label: 'Restore' },
    )}`;
}

/** Throws `rules-version-not-found`. */
export async function versionPage(call: PageCall): Promise<PageResult> {
  const number = versionOf(call);
  const { tenant, session } = await openTenant(call);
  const { tenantId } = tenant;
  const ruleSet = await readRulesOf(call, session, number);
  const versions = await readVersions(call, session);
  const other = parseVersion(call.query.text('from')) ?? number - 1;
  const isKept = versions.some(({ version }) => version === other);
  const version = versions.find((each) => each.version === number);
  const before = other === 0 ? NO_RULES : isKept ? await readRulesOf(call, session, other) : undefined;
  const present = await readRuleSet(call, session);
  if (version === undefined) return versionsPage(call);
  const from = before && { version: other, ruleSet: before };
  const compared = { tenantId, version, versions, ruleSet, from };
  const keys = await keysOf(call, [version]);
  const facts = html`<dl class="facts">
      ${fact('When', moment(version.atMs))}
      ${fact('By', actorMarkup(version.actor, keys))}
      ${fact('Request', copyCode(version.requestId))}
      ${fact('Revision', copyCode(version.revision))}
    </dl>
    <details><summary>Its rules</summary><pre tabindex="0">${await sourceInTurns(ruleSet)}</pre></details>`;
  const since = other === 0 ? 'What it set' : html`What it changed since version ${other}`;
  return tenantPage(tenant, 'rules', `Version ${number} of the rules of ${tenant.name}`, [
    crumb(versionsPath(tenantId), 'History of the rules'),
    section('version', `Version ${number} of the rules`, facts),
    section('difference', since, await comparison(compared)),
    section('restore', 'Restore', await restoration(call, compared, present)),
  ]);
}
