// What needs no key: pages (what this is, the reference of the interface, the types of errors), and the metadata of the
// service as an AuthZEN policy decision point. Invariants: they are rendered once, at the start, and contain nothing of
// a request; links of pages are relative, so that they hold wherever the service is.

import type { PublicPage } from '../pipeline/response-writer.ts';
import { ASSETS } from './assets.ts';
import { createErrorPages, type ErrorPages } from './error-pages.ts';
import { createPage } from './frame.ts';
import { html } from './markup.ts';

export interface PublicPages {
  readonly front: PublicPage;
  readonly reference: PublicPage;
  readonly errors: ErrorPages;
  /** What they load, by path. */
  readonly assets: ReadonlyMap<string, PublicPage>;
}

export const PAGE_PATHS = ['/docs', '/docs/openapi.json', '/errors'];

function createFrontPage(): PublicPage {
  return createPage({
    title: 'grantd',
    root: '',
    main: html`<h1>grantd</h1>
      <p>
        An authorization service. Applications store grants here, such as “<code>user:ada</code> is <code>viewer</code>
        ${' '}of <code>document:plan</code>”, and ask: does this subject hold this relation on this object?
      </p>
      <ul>
        <li><a href="docs">The API reference</a>: every request and response, with examples</li>
        <li><a href="docs/openapi.json">The OpenAPI document</a>, for machines</li>
        <li><a href="errors">The types of errors</a></li>
      </ul>`,
  });
}

/** The reference of the interface, which Scalar shows from the OpenAPI document. */
const createReferencePage = (): PublicPage =>
  createPage({
    title: 'The API of grantd',
    root: '',
    scripts: ['scalar', 'reference'],
    main: html`<main id="reference"></main>
      <noscript>This page needs JavaScript. <a href="docs/openapi.json">The OpenAPI document</a> says the same to machines.</noscript>`,
  });

export const createPublicPages = (errorsBase: string): PublicPages => ({
  front: createFrontPage(),
  reference: createReferencePage(),
  errors: createErrorPages(errorsBase),
  assets: ASSETS,
});

/** Authorization API 1.0, section "Policy Decision Point Metadata". It is the same for every tenant. */
const WELL_KNOWN = '/.well-known/authzen-configuration';

export interface AuthzenConfiguration {
  /** Where clients that know the base URL look for it: the path of the base URL comes last. */
  readonly path: string;
  readonly json: string;
}

/** Undefined: a policy decision point is named by an https URL, and this service has none. */
export function createAuthzenConfiguration(baseUrl: string): AuthzenConfiguration | undefined {
  const { protocol, pathname } = new URL(baseUrl);
  if (protocol !== 'https:') return undefined;
  const access = `${baseUrl}/access/v1`;
  return {
    path: `${WELL_KNOWN}${pathname === '/' ? '' : pathname}`,
    json: JSON.stringify({
      policy_decision_point: baseUrl,
      access_evaluation_endpoint: `${access}/evaluation`,
      access_evaluations_endpoint: `${access}/evaluations`,
      search_subject_endpoint: `${access}/search/subject`,
      search_resource_endpoint: `${access}/search/resource`,
      search_action_endpoint: `${access}/search/action`,
    }),
  };
}
