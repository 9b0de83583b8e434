// Who somebody is. This is a demo: everybody may choose who to be. An application has a real log-in here; what comes of
// it is the same, a subject that the client of the application cannot forge.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Router } from 'express';
import { HttpError } from './http-error.js';
import { logInPage } from './pages/log-in.js';

export const PEOPLE = ['ada', 'bob', 'carol', 'dan'];
const COOKIE = 'docs_app_person';
/** Whoever is logged in has to log in again after a restart. */
const SECRET = randomBytes(32);

/** @param {string} person */
const signed = (person) => `${person}.${createHmac('sha256', SECRET).update(person).digest('base64url')}`;

/**
 * Whoever is logged in.
 *
 * @param {import('express').Request} request
 */
export function personOf(request) {
  const cookies = (request.get('cookie') ?? '').split('; ').filter((each) => each.startsWith(`${COOKIE}=`));
  const value = Buffer.from(cookies[0]?.slice(COOKIE.length + 1) ?? '');
  return PEOPLE.find((person) => {
    const expected = Buffer.from(signed(person));
    return value.length === expected.length && timingSafeEqual(value, expected);
  });
}

/**
 * For pages that only people who have logged in get.
 *
 * @param {import('express').Request} request
 */
export function knownPerson(request) {
  const person = personOf(request);
  if (person === undefined) throw new HttpError(401, 'Log in first.');
  return person;
}

/**
 * Who asks, in the words of grantd. Whoever is not logged in may see what is public, and nobody can be given more: no
 * person has this name.
 *
 * @param {import('express').Request} request
 */
export const subjectOf = (request) => `user:${personOf(request) ?? 'anonymous'}`;

/**
 * A form on another site must not act for whoever is logged in here.
 *
 * @type {import('express').RequestHandler}
 */
export function refuseOtherSites(request, _response, next) {
  const site = request.get('sec-fetch-site') ?? 'same-origin';
  if (request.method === 'POST' && site !== 'same-origin') throw new HttpError(403, 'This form is not one of ours.');
  return next();
}

export function logInRoutes() {
  const router = Router();
  router.get('/log-in', (_request, response) => {
    response.send(logInPage(PEOPLE));
  });
  router.post('/log-in', (request, response) => {
    const person = PEOPLE.find((each) => each === request.body?.person);
    if (person === undefined) throw new HttpError(400, 'There is nobody of this name.');
    // Not sent with forms of other sites. Where there is TLS, add `secure: true`.
    response.cookie(COOKIE, signed(person), { httpOnly: true, sameSite: 'lax' }).redirect(303, '/');
  });
  router.post('/log-out', (_request, response) => {
    response.clearCookie(COOKIE).redirect(303, '/log-in');
  });
  return router;
}
