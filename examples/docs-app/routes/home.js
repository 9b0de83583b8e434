// The home page, and the forms that create documents, folders and teams.

import { Router } from 'express';
import { fieldOf, titleOf } from '../form.js';
import { HttpError } from '../http-error.js';
import { knownPerson, personOf } from '../log-in.js';
import { homePage } from '../pages/home.js';
import { firstOf } from '../sharing.js';
import { find, newObject, save } from '../store.js';

/** @typedef {import('@grantd/client').Grantd} Grantd */

const DOCUMENTS_PER_PAGE = 50;
/** Of folders and of teams. */
const LISTED_MAX = 100;
const TEXT_LENGTH_MAX = 20_000;

/** @param {readonly string[]} objects */
const existing = (objects) => objects.map(find).filter((thing) => thing !== undefined);

/**
 * @param {Grantd} grantd
 * @param {string} subject
 * @param {string} cursor
 */
async function readHome(grantd, subject, cursor) {
  /** @type {(relation: string, namespace: string) => Promise<import('../store.js').Thing[]>} */
  const listed = async (relation, namespace) =>
    existing((await firstOf(grantd.listObjects({ subject, relation, namespace }), LISTED_MAX)).items);
  const query = { subject, relation: 'viewer', namespace: 'document' };
  const [first, folders, writable, ownFolders, teams, ownTeams] = await Promise.all([
    grantd.listObjects({ ...query, limit: DOCUMENTS_PER_PAGE }).page(cursor === '' ? {} : { cursor }),
    listed('viewer', 'folder'),
    listed('editor', 'folder'),
    listed('owner', 'folder'),
    listed('member', 'team'),
    listed('owner', 'team'),
  ]);
  // Checks that start together are one request.
  const documents = await Promise.all(
    existing(first.items).map(async (thing) => ({
      thing,
      editable: await grantd.check({ subject, relation: 'editor', object: thing.object }),
    })),
  );
  const owned = new Set([...ownFolders, ...ownTeams].map(({ object }) => object));
  return { documents, cursor: first.cursor, folders, teams, writable, owned };
}

/** @param {Grantd} grantd */
export function homeRoutes(grantd) {
  const router = Router();

  router.get('/', async (request, response) => {
    const person = personOf(request);
    if (person === undefined) return response.redirect(303, '/log-in');
    const { cursor } = request.query;
    return response.send(
      homePage(person, await readHome(grantd, `user:${person}`, typeof cursor === 'string' ? cursor : '')),
    );
  });

  router.post('/documents', async (request, response) => {
    const subject = `user:${knownPerson(request)}`;
    const title = titleOf(request);
    const text = fieldOf(request, 'text', TEXT_LENGTH_MAX);
    const folder = fieldOf(request, 'folder', 100);
    if (
      folder !== '' &&
      !(folder.startsWith('folder:') && (await grantd.check({ subject, relation: 'editor', object: folder })))
    ) {
      throw new HttpError(403, 'You may not put anything into this folder.');
    }
    const object = newObject('document');
    const parents = folder === '' ? [] : [{ subject: folder, relation: /** @type {const} */ ('parent'), object }];
    // The grants come first: without them, no user could see the document.
    await grantd.writeBulk({ grants: [{ subject, relation: 'owner', object }, ...parents] });
    save({ object, title, text });
    response.redirect(303, '/');
  });

  for (const kind of /** @type {const} */ (['folder', 'team'])) {
    router.post(`/${kind}s`, async (request, response) => {
      const subject = `user:${knownPerson(request)}`;
      const title = titleOf(request);
      const object = newObject(kind);
      await grantd.createGrant({ subject, relation: 'owner', object });
      save({ object, title, text: '' });
      response.redirect(303, '/');
    });
  }

  return router;
}
