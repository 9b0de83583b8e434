// Renders docs/reference/errors.md from the error catalogue.

import { ERROR_CATALOGUE, isErrorCode } from '../../src/core/errors.ts';
import { renderTable } from './markdown-table.ts';

export function renderErrorsPage(): string {
  const codes = Object.keys(ERROR_CATALOGUE).filter(isErrorCode);
  return [
    '# Errors',
    '',
    '<!-- Made by `npm run generate -- docs` from src/core/errors.ts. -->',
    '',
    'Every response that is not a success is a problem document (RFC 9457, formerly RFC 7807) of the media type',
    '`application/problem+json`:',
    '',
    ...renderTable(
      ['Field', 'Type', 'Notes'],
      [
        [
          '`type`',
          'string',
          '`{errors_base}/<type>`: a stable identifier, and the address of a page that says more. Match on it, not on `detail`.',
        ],
        ['`title`', 'string', 'A short summary, the same for every occurrence.'],
        ['`status`', 'integer', 'The HTTP status.'],
        [
          '`detail`',
          'string',
          'What is wrong with this request, and where. Names fields as the client wrote them, as in `checks[3].subject`.',
        ],
        [
          '`instance`',
          'string',
          'The id of the request, `req_…`; the header `X-Service-Request-Id` has it too. The header `X-Request-ID` is the id that the client gave the request, if it gave one.',
        ],
      ],
    ),
    '',
    'A 401 carries `WWW-Authenticate: Bearer`, a 405 `Allow`, a 429 and a 503 `Retry-After` in whole seconds. A 429 also',
    'carries `X-Service-RateLimit-Limit`, `-Remaining` and `-Reset` of the limit that was exceeded, and the fields',
    '`RateLimit-Policy` and `RateLimit` of the IETF draft; the member `violated-policies` has its name.',
    'An error that may be repeated can succeed later without a change to the request. No error ever means "not authorized":',
    'a check that cannot be decided is a 503.',
    '',
    ...renderTable(
      ['Status', 'Type', 'Repeat', 'When'],
      codes.map((code) => {
        const { httpStatus, title, meaning, retryable } = ERROR_CATALOGUE[code];
        return [String(httpStatus), `\`${code}\``, retryable ? 'yes' : 'no', `**${title}.** ${meaning}`];
      }),
    ),
    '',
  ].join('\n');
}
