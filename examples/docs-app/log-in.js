// The log-in. In this demo, users choose who they are. A real application authenticates them here; its result is the
// same, a subject that a browser cannot forge.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Router } from 'express';
import { HttpError } from './http-error.js';
import { logInPage } from './pages/log-in.js';

export const PEOPLE = ['ada', 'bob', 'carol', 'dan'];
const COOKIE = 'docs_app_person';
/** Random, so a restart logs all users out. */
const SECRET = randomBytes(32);

/** @param {string} person */
const signed = (person) => `${person}.${createHmac('sha256', SECRET).update(person).digest('base64url')}`;

/**
 * The user who is logged in.
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
 * The user, for pages that require a log-in.
 *
 * @param {import('express').Request} request
 */
export function knownPerson(request) {
  const person = personOf(request);
  if (person === undefined) throw new HttpError(401, 'Log in first.');
  return person;
}

/**
 * The subject of a request. Without a log-in it is `user:anonymous`, which sees only what is public: no user has this
 * name, so no grant can name it.
 *
 * @param {import('express').Request} request
 */
export const subjectOf = (request) => `user:${personOf(request) ?? 'anonymous'}`;

/**
 * Refuses forms from other sites, which would act as the user who is logged in here.
 *
 * @type {import('express').RequestHandler}
 */
export function refuseOtherSites(request, _response, next) {
  const site = request.get('sec-fetch-site') ?? 'same-origin';
  if (request.method === 'POST' && site !== 'same-origin')
    throw new HttpError(403, 'This form comes from another site.');
  return next();
}

export function logInRoutes() {
  const router = Router();
  router.get('/log-in', (_request, response) => {
    response.send(logInPage(PEOPLE));
  });
  router.post('/log-in', (request, response) => {
    const person = PEOPLE.find((each) => each === request.body?.person);
    if (person === undefined) throw new HttpError(400, 'There is no user of this name.');
    // The browser does not send it with forms of other sites. Behind TLS, add `secure: true`.
    response.cookie(COOKIE, signed(person), { httpOnly: true, sameSite: 'lax' }).redirect(303, '/');
  });
  router.post('/log-out', (_request, response) => {
    response.clearCookie(COOKIE).redirect(303, '/log-in');
  });
  return router;
}
