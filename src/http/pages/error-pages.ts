// The public pages behind the `type` of a problem: one per entry of the catalogue, and an index. Invariant: they are
// rendered once, at the start, and contain nothing of a request.

import { ERROR_CATALOGUE, type ErrorCode, isErrorCode } from '../../core/errors.ts';

export interface ErrorPages {
  readonly index: string;
  readonly byType: ReadonlyMap<string, string>;
}

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;color:#1b1f24;background:#fff}code{font-family:ui-monospace,monospace;background:#f0f2f4;padding:.1em .3em;border-radius:.2em}dt{font-weight:600;margin-top:1rem}dd{margin:0}a{color:#0550ae}@media(prefers-color-scheme:dark){body{color:#e6e9ec;background:#14171a}code{background:#24292e}a{color:#79b8ff}}';

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const page = (title: string, main: string): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;

function typePage(code: ErrorCode, errorsBase: string): string {
  const { title, httpStatus, meaning, retryable } = ERROR_CATALOGUE[code];
  return page(
    `${title} (${code})`,
    `<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(meaning)}</p>
<dl>
<dt>Type</dt><dd><code>${escapeHtml(`${errorsBase}/${code}`)}</code></dd>
<dt>HTTP status</dt><dd>${httpStatus}</dd>
<dt>Safe to repeat as it is</dt><dd>${retryable ? 'Yes, after a while.' : 'No: it would fail again.'}</dd>
</dl>
<p><a href="${escapeHtml(errorsBase)}">All error types</a></p>`,
  );
}

export function createErrorPages(errorsBase: string): ErrorPages {
  const codes = Object.keys(ERROR_CATALOGUE).filter(isErrorCode);
  const items = codes.map(
    (code) =>
      `<li><a href="${escapeHtml(`${errorsBase}/${code}`)}"><code>${code}</code></a> (${ERROR_CATALOGUE[code].httpStatus}) ${escapeHtml(ERROR_CATALOGUE[code].title)}</li>`,
  );
  return {
    index: page(
      'Error types',
      `<h1>Error types</h1>
<p>Errors are problem documents (RFC 9457). Match on <code>type</code>, not on <code>detail</code>.</p>
<ul>
${items.join('\n')}
</ul>`,
    ),
    byType: new Map(codes.map((code) => [code, typePage(code, errorsBase)])),
  };
}
