// The frame of every page: head, navigation, the notice of the last action, and the sections of a tenant.

import type { Tenant } from '../../../../src/core/tenants.ts';
import { html, type Markup, renderMarkup } from '../../../../src/http/pages/markup.ts';
import type { Assets } from '../assets.ts';
import type { Refusal } from '../forms.ts';
import {
  type ConsoleLinks,
  type FramedTenant,
  PAGES_PREFIX,
  page,
  pathTo,
  type ShownPage,
  tenantPath,
} from '../page.ts';
import type { OperatorSession } from '../sessions.ts';
import { hidden } from './form-parts.ts';
import { copyCode, crumb, foreign } from './parts.ts';

/** Inline scripts are forbidden, so the features of htmx that evaluate code are off too. */
const HTMX_CONFIG = JSON.stringify({
  includeIndicatorCSS: false,
  history: false,
  defaultTimeout: 15_000,
});

/** Distinguishes this console from others. */
export interface ConsoleIdentity {
  /** Shown to operators only. */
  readonly version?: string | undefined;
  readonly clusterName?: string | undefined;
  /** Where operators look next, outside of this console; only what is configured. */
  readonly links?: ConsoleLinks | undefined;
}

/** A link to another site: opened in a tab of its own, without a referrer. */
const outside = (href: string, text: string): Markup =>
  html`<a href=${href} target="_blank" rel="noreferrer">${text}</a>`;

function footer(version: string | undefined, { dashboardUrl, runbookUrl }: ConsoleLinks): Markup {
  const parts = [
    version && `grantd ${version}`,
    runbookUrl && outside(runbookUrl, 'Runbook'),
    dashboardUrl && outside(dashboardUrl, 'Dashboard'),
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  return html`<footer class="version">${parts.map((part, index) => html`${index === 0 ? '' : ' · '}${part}`)}</footer>`;
}

interface DocumentFacts extends ConsoleIdentity {
  readonly assets: Assets;
  readonly title: string;
  /** Undefined: no operator is logged in. */
  readonly session: OperatorSession | undefined;
  /** The path of the page, for the navigation. */
  readonly path: string;
  readonly body: Markup;
  /** What allows the style sheet of the editor, on a page that has one. The script reads it from its own tag. */
  readonly styleNonce: string | undefined;
}

const SECTIONS = [
  ['cluster', 'Cluster'],
  ['tenants', 'Tenants'],
  ['audit-log', 'Audit log'],
] as const;

/** The tenant on whose page this is: a search begins with it. */
const TENANT_PAGE = /\/tenants\/(?<tenant>ten_[^/]+)/;

/** In the body of the form, since someone may search for an API key. */
function searchForm({ csrf }: OperatorSession, path: string): Markup {
  const tenant = TENANT_PAGE.exec(path)?.groups?.tenant;
  return html`<search class="top-search">
    <form method="post" action=${pathTo(['search'])}>
      ${hidden({ csrf, ...(tenant === undefined ? {} : { tenant }) })}
      <input type="search" name="q" aria-label="Search everything" placeholder="Search IDs, subjects, objects"
        autocomplete="off" autocapitalize="off" spellcheck="false" dir="auto" maxlength="1000" aria-keyshortcuts="Control+K Meta+K" />
    </form>
  </search>`;
}

function navigation(session: OperatorSession, path: string): Markup {
  const links = SECTIONS.map(([name, title]) => {
    const current = path === pathTo([name]) || path.startsWith(`${pathTo([name])}/`);
    return html`<li><a href=${pathTo([name])} aria-current=${current ? 'page' : undefined}>${title}</a></li>`;
  });
  return html`<nav aria-label="Console">
    <ul>${links}</ul>
    <ul class="who">
      <li><span class="unseen">Logged in as </span><bdi title=${session.operator}>${session.operator}</bdi>${
        session.access === 'full' ? undefined : html` <span class="badge">${session.access}</span>`
      }</li>
      <li>
        <form method="post" action=${pathTo(['log-out'])}>
          ${hidden({ csrf: session.csrf })}
          <button type="submit" class="secondary outline">Log out</button>
        </form>
      </li>
    </ul>
  </nav>`;
}

function noticeMarkup({ notice, csrf }: OperatorSession): Markup {
  if (notice === undefined) return undefined;
  const { text, undo } = notice;
  if (undo === undefined) return html`<p class="notice" role="status">${text}</p>`;
  return html`<div class="notice with-undo">
    <span role="status">${text}</span>
    <form method="post" action=${undo.path} class="form-inline">
      ${hidden({ csrf, ...undo.fields })}<button type="submit" class="secondary outline" aria-label=${undo.label}>Undo</button>
    </form>
  </div>`;
}

export function renderDocument(facts: DocumentFacts): string {
  const { assets, title, session, path, body, styleNonce, version, clusterName, links = {} } = facts;
  const { paths } = assets;
  const cluster =
    clusterName === undefined ? undefined : html`<span class="badge cluster-name">${foreign(clusterName)}</span>`;
  const text = renderMarkup(html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <title>${title} · ${clusterName === undefined ? 'grantd' : `${clusterName} · grantd`}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="htmx-config" content=${HTMX_CONFIG} />
      <link rel="icon" type="image/svg+xml" href=${paths.icon} />
      <link rel="stylesheet" href=${paths.pico} />
      <link rel="stylesheet" href=${paths.style} />
      <script src=${paths.htmx} defer></script>
      <script src=${paths.script} defer></script>
      ${styleNonce && html`<script type="module" src=${paths.editor} nonce=${styleNonce} data-editor></script>`}
    </head>
    <body>
      <a class="skip" href="#content">Skip to content</a>
      <header class="top">
        <a class="brand" href="${PAGES_PREFIX}/"><img src=${paths.icon} alt="" width="26" height="26" /> grantd</a>${cluster}
        ${session === undefined ? undefined : [searchForm(session, path), navigation(session, path)]}
      </header>
      <main id="content" tabindex="-1">
        ${session === undefined ? undefined : noticeMarkup(session)}
        ${body}
      </main>
      <p id="announced" class="unseen" aria-live="polite"></p>
      ${session === undefined ? undefined : footer(version, links)}
    </body>
  </html>`);
  return `<!doctype html>\n${text}\n`;
}

const TENANT_SECTIONS = [
  ['', 'Overview'],
  ['keys', 'Keys'],
  ['namespaces', 'Namespaces'],
  ['grants', 'Grants'],
  ['objects', 'Objects'],
  ['check', 'Check'],
  ['rules', 'Rules'],
  ['changes', 'Changes'],
  ['audit-log', 'Audit log'],
] as const;

export type TenantSection = (typeof TENANT_SECTIONS)[number][0];

export const stateBadge = (state: Tenant['state']): Markup => html`<span class="badge state-${state}">${state}</span>`;

/** A page of one tenant. A deleted tenant has only the audit log. `refusal`: why the form on the page was refused. */
export function tenantPage(
  { tenantId, name, state }: FramedTenant,
  section: TenantSection,
  title: string,
  content: Markup,
  refusal?: Pick<Refusal, 'status'>,
): ShownPage {
  const sections = TENANT_SECTIONS.filter(([path]) => state !== 'deleted' || path === 'audit-log');
  const links = sections.map(
    ([path, text]) =>
      html`<li><a href=${tenantPath(tenantId, path)} aria-current=${path === section ? 'page' : undefined}>${text}</a></li>`,
  );
  const body = html`<div class="tenant-head">
      ${crumb(pathTo(['tenants']), 'Tenants')}
      <h1>${foreign(name)} ${state === 'active' ? undefined : stateBadge(state)}</h1>
      <p class="id">${copyCode(tenantId)}</p>
    </div>
    <nav class="sections" aria-label="Tenant"><ul>${links}</ul></nav>
    ${content}`;
  return page(title, body, refusal);
}

/** A page of one tenant that asks before it changes something, or reports what has just been changed. */
export const confirmPage = (
  tenant: FramedTenant,
  section: TenantSection,
  title: string,
  content: Markup,
  options: { readonly refusal?: Refusal | undefined; readonly wide?: boolean; readonly id?: string } = {},
): ShownPage =>
  tenantPage(
    tenant,
    section,
    title,
    html`<section class="confirm${options.wide === true ? ' wide' : ''}" id=${options.id}>${content}</section>`,
    options.refusal,
  );
