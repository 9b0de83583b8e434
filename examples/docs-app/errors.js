// Error pages. Invariant: no error shows a document, and an unknown result is neither a yes nor a no but a 503, after
// which the browser may retry.

import { GrantdError } from '@grantd/client';
import { HttpError } from './http-error.js';
import { personOf } from './log-in.js';
import { errorPage } from './pages/layout.js';

const UNKNOWN =
  'Permissions cannot be checked at the moment, so nothing is shown. What you have just changed may or may not have ' +
  'taken effect; doing it again does no harm.';

/**
 * Messages for the errors of grantd that the user can resolve. Every other error, such as a lost connection, a rate
 * limit or a revoked key, is a 503, with the details in the log.
 *
 * @type {ReadonlyMap<string, readonly [number, string]>}
 */
const MESSAGES = new Map([
  ['invalid-cursor', [400, 'This address is no longer valid. Start again from the first page.']],
  ['precondition-failed', [409, 'You no longer own this, so nothing was changed.']],
  ['outcome-unknown', [503, 'This may or may not have been done. Check before you try again.']],
  ['grant-limit-reached', [507, 'No more can be shared: the limit is reached. Nothing was changed.']],
]);

/** @param {unknown} error */
export const logError = (error) => console.error(String(error));

/**
 * @param {unknown} error
 * @returns {readonly [status: number, message: string]}
 */
function describe(error) {
  if (error instanceof HttpError) return [error.status, error.message];
  if (error instanceof GrantdError) return MESSAGES.get(error.type) ?? [503, UNKNOWN];
  // Errors of Express itself, such as a form that is too large.
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  return status >= 400 && status < 500 ? [status, 'This request cannot be read.'] : [500, 'Something went wrong.'];
}

/** @type {import('express').ErrorRequestHandler} */
export function sendError(error, request, response, next) {
  const [status, message] = describe(error);
  if (status >= 500) logError(error);
  if (response.headersSent) return next(error);
  if (status === 503) response.set('retry-after', String(error.retryAfterS ?? 1));
  response.status(status).send(errorPage(personOf(request), message));
}

/** @type {NonNullable<import('@grantd/client/express').ExpressOptions['refuse']>} */
export function sendRefusal({ status }, request, response) {
  const person = personOf(request);
  if (status === 503) response.status(503).send(errorPage(person, UNKNOWN));
  else if (person === undefined) response.redirect(303, '/log-in');
  else response.status(status).send(errorPage(person, 'You may not do this, or it does not exist.'));
}
