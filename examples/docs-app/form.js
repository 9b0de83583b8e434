// Reads the fields of a form, which a client may omit or fill with anything. Invariant: a returned text is within its
// bounds.

import { HttpError } from './http-error.js';

/**
 * @param {import('express').Request} request
 * @param {string} name
 * @param {number} lengthMax
 */
export function fieldOf(request, name, lengthMax) {
  const value = request.body?.[name];
  if (typeof value !== 'string' || value.length > lengthMax) {
    throw new HttpError(400, `The field “${name}” must be a text of at most ${lengthMax} characters.`);
  }
  return value.trim();
}

/** @param {import('express').Request} request */
export function titleOf(request) {
  const title = fieldOf(request, 'title', 100);
  if (title === '') throw new HttpError(400, 'It needs a title.');
  return title;
}
