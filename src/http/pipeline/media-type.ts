// Checks what kind of body a request announces. Only JSON in UTF-8 without a content encoding is accepted.

import { GrantdError } from '../../core/errors.ts';
import type { RequestHeaders } from '../wire/incoming.ts';

const JSON_TYPE = 'application/json';
/**
 * RFC 9110 section 8.3: parameters are separated by ";"; their names and the type are case-insensitive. No text matches
 * this in two ways: an engine that tries all of them would take hours for a header of spaces and semicolons.
 */
const JSON_UTF8 = /^application\/json[ \t]*(?:;[ \t]*(?:charset=(?:utf-8|"utf-8")[ \t]*)?)*$/i;

/** Only a type of ordinary form and length is repeated. */
const described = (type: string | undefined): string => {
  if (type === undefined) return 'none';
  return /^[!-~]{1,64}(?:; ?[!-~]{1,64})?$/.test(type) ? JSON.stringify(type) : 'another';
};

/** The error for a body that is not plain JSON in UTF-8, or undefined. */
export function findMediaTypeError(headers: RequestHeaders): GrantdError | undefined {
  const type = headers['content-type'];
  if (type !== JSON_TYPE && (type === undefined || !JSON_UTF8.test(type))) {
    return new GrantdError(
      'unsupported-media-type',
      `The body must have the content type application/json in UTF-8; it has ${described(type)}.`,
    );
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    return new GrantdError('unsupported-media-type', 'The body must not have a content encoding.');
  }
  return undefined;
}
