// The error page: what failed, what to do next, and the request id that leads to it in the log.

import { ERROR_CATALOGUE, type ErrorCode, type GrantdError } from '../../../../src/core/errors.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { pathTo } from '../page.ts';
import { buttonLink, copyCode } from '../parts/parts.ts';

const NEXT: Partial<Record<ErrorCode, string>> = {
  'tenant-not-found': 'It may have been deleted, or the address is incomplete. Look for it in the list of tenants.',
  'invalid-cursor': 'This position in the listing is no longer valid. Start again from the first page.',
  unauthorized: 'Go back, reload the page, and submit the form again.',
  unavailable: 'Try again in a moment. The cluster page shows which slots have no owner.',
  overloaded: 'Try again in a moment.',
  internal: 'Search the log of this console for the request ID below.',
};

const TITLES: Partial<Record<ErrorCode, string>> = { unauthorized: 'Refused' };

export function errorBody(error: GrantdError, requestId: string): Markup {
  const next = NEXT[error.code];
  return html`<section class="failure">
    <h1>${TITLES[error.code] ?? ERROR_CATALOGUE[error.code].title}</h1>
    <p>${error.message}</p>
    ${next === undefined ? undefined : html`<p>${next}</p>`}
    <p>${buttonLink(pathTo(['tenants']), 'Tenants', '')} ${buttonLink(pathTo(['cluster']), 'Cluster', 'secondary')}</p>
    <p class="id">Request ${copyCode(requestId)}</p>
  </section>`;
}
