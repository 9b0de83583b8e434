// The public pages behind the `type` of a problem: one per entry of the catalogue, and an index. Invariant: they are
// rendered once, at the start, and contain nothing of a request.

import { ERROR_CATALOGUE, type ErrorCode, isErrorCode } from '../../core/errors.ts';
import type { PublicPage } from '../pipeline/response-writer.ts';
import { createPage } from './frame.ts';
import { html } from './markup.ts';

export interface ErrorPages {
  readonly index: PublicPage;
  readonly byType: ReadonlyMap<string, PublicPage>;
}

function typePage(code: ErrorCode, errorsBase: string): PublicPage {
  const { title, httpStatus, meaning, retryable } = ERROR_CATALOGUE[code];
  return createPage({
    title: `${title} (${code})`,
    root: '../',
    main: html`<h1>${title}</h1>
      <p>${meaning}</p>
      <dl>
        <dt>Type</dt><dd><pre tabindex="0"><code>${`${errorsBase}/${code}`}</code></pre></dd>
        <dt>HTTP status</dt><dd>${httpStatus}</dd>
        <dt>Safe to repeat as it is</dt><dd>${retryable ? 'Yes, after a while.' : 'No: it would fail again.'}</dd>
      </dl>
      <p><a href=${errorsBase}>All error types</a></p>`,
  });
}

export function createErrorPages(errorsBase: string): ErrorPages {
  const codes = Object.keys(ERROR_CATALOGUE).filter(isErrorCode);
  const items = codes.map((code) => {
    const { httpStatus, title } = ERROR_CATALOGUE[code];
    return html`<li><a href=${`${errorsBase}/${code}`}><code>${code}</code></a> (${httpStatus}) ${title}</li>`;
  });
  return {
    index: createPage({
      title: 'Error types',
      root: '',
      main: html`<h1>Error types</h1>
        <p>Errors are problem documents (RFC 9457). Match on <code>type</code>, not on <code>detail</code>.</p>
        <ul>${items}</ul>`,
    }),
    byType: new Map(codes.map((code) => [code, typePage(code, errorsBase)])),
  };
}
