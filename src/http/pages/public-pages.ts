// The pages that anybody may read: what this is, the reference of the interface, the types of errors. Invariants: they
// are rendered once, at the start; their links are relative, so that they hold wherever the service is.

import type { JsonObject } from '../../core/json-members.ts';
import { readReference } from '../openapi/reference.ts';
import type { PublicPage } from '../pipeline/response-writer.ts';
import { createErrorPages, type ErrorPages } from './error-pages.ts';
import { createPage } from './frame.ts';
import { html } from './markup.ts';
import { createReferencePage } from './reference-page.ts';

export interface PublicPages {
  readonly front: PublicPage;
  readonly reference: PublicPage;
  readonly errors: ErrorPages;
}

/** Of the pages that have a path of their own. */
export const PAGE_PATHS = ['/docs', '/docs/openapi.json', '/errors'];

function createFrontPage(): PublicPage {
  return createPage({
    title: 'grantd',
    body: html`<main>
      <h1>grantd</h1>
      <p>
        An authorization service. Applications store grants here, such as “<code>user:ada</code> is <code>viewer</code>
        ${' '}of <code>document:plan</code>”, and ask: does this subject hold this relation on this object?
      </p>
      <ul>
        <li><a href="docs">The API reference</a>: every request and response, with examples</li>
        <li><a href="docs/openapi.json">The OpenAPI document</a>, for machines</li>
        <li><a href="errors">The types of errors</a></li>
      </ul>
    </main>`,
  });
}

export function createPublicPages(
  openapi: JsonObject,
  addresses: { readonly baseUrl: string; readonly errorsBase: string },
): PublicPages {
  return {
    front: createFrontPage(),
    reference: createReferencePage(readReference(openapi), addresses.baseUrl),
    errors: createErrorPages(addresses.errorsBase),
  };
}
