// Sharing of documents, folders and teams by their owners: the subjects with access and why, the shares, and their
// ends.

import { Router } from 'express';
import { fieldOf } from '../form.js';
import { HttpError } from '../http-error.js';
import { knownPerson, PEOPLE } from '../log-in.js';
import { sharingPage } from '../pages/sharing.js';
import { EVERYONE, firstOf, sharableWith, share, sharedAs, whoMay } from '../sharing.js';
import { get } from '../store.js';

/** @typedef {import('express').Request} Request */

const SHARES_MAX = 100;
const FIELD_LENGTH_MAX = 200;
const HOUR_MS = 3_600_000;
/** @type {ReadonlyMap<string, number>} */
const DURATIONS_MS = new Map([
  ['without end', Number.POSITIVE_INFINITY],
  ['one hour', HOUR_MS],
  ['a day', 24 * HOUR_MS],
  ['7 days', 7 * 24 * HOUR_MS],
]);

/** @param {Request} request */
const objectOf = (request) => `${request.params.kind}:${request.params.id}`;

/** @param {Request} request */
function relationOf(request) {
  const field = fieldOf(request, 'relation', FIELD_LENGTH_MAX);
  const relation = sharedAs(objectOf(request)).find((each) => each === field);
  if (relation === undefined) throw new HttpError(400, 'It cannot be shared like this.');
  return relation;
}

/** @param {Request} request */
function expiresAtOf(request) {
  const durationMs = DURATIONS_MS.get(fieldOf(request, 'duration', FIELD_LENGTH_MAX));
  if (durationMs === undefined) throw new HttpError(400, 'It cannot be shared for so long.');
  return durationMs === Number.POSITIVE_INFINITY ? null : new Date(Date.now() + durationMs).toISOString();
}

/**
 * @param {import('@grantd/client').Grantd} grantd
 * @param {ReturnType<typeof import('@grantd/client/express').createRequires>} requires
 */
export function sharingRoutes(grantd, requires) {
  const router = Router();
  const isOwner = requires({ relation: 'owner', object: objectOf });

  router.get('/:kind/:id/sharing', isOwner, async (request, response) => {
    const person = knownPerson(request);
    const object = objectOf(request);
    const thing = get(object);
    const relations = sharedAs(object);
    const [who, grants, subjects] = await Promise.all([
      whoMay(grantd, object),
      firstOf(grantd.listGrants({ object }), SHARES_MAX),
      sharableWith(grantd, object, { person, people: PEOPLE }),
    ]);
    const shares = grants.items.filter(({ relation }) => relations.includes(relation));
    const durations = [...DURATIONS_MS.keys()];
    const complete = who.complete && grants.complete;
    const { holders } = who;
    response.send(sharingPage(person, { thing, holders, shares, complete, subjects, relations, durations }));
  });

  router.post('/:kind/:id/sharing', isOwner, async (request, response) => {
    const person = knownPerson(request);
    const object = objectOf(request);
    get(object);
    const subject = fieldOf(request, 'subject', FIELD_LENGTH_MAX);
    const relation = relationOf(request);
    const expiresAt = expiresAtOf(request);
    const offered = await sharableWith(grantd, object, { person, people: PEOPLE });
    if (!offered.some((each) => each.subject === subject) || (subject === EVERYONE && relation !== 'viewer')) {
      throw new HttpError(400, 'It cannot be shared with them like this.');
    }
    await share(grantd, { owner: `user:${person}`, subject, relation, object, expiresAt });
    response.redirect(303, request.path);
  });

  router.post('/:kind/:id/sharing/revocation', isOwner, async (request, response) => {
    const subject = fieldOf(request, 'subject', FIELD_LENGTH_MAX);
    await grantd.revokeGrant({ subject, relation: relationOf(request), object: objectOf(request) });
    response.redirect(303, request.path.replace(/\/revocation$/, ''));
  });

  return router;
}
