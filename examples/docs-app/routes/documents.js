// One document: to read, edit and delete it.

import { Router } from 'express';
import { finishDeletions } from '../deletion.js';
import { logError } from '../errors.js';
import { fieldOf } from '../form.js';
import { personOf, subjectOf } from '../log-in.js';
import { documentPage } from '../pages/document.js';
import { get, markDeleted, save } from '../store.js';

const TEXT_LENGTH_MAX = 20_000;

/** @param {import('express').Request} request */
const documentOf = (request) => `document:${request.params.id}`;

/**
 * @param {import('@grantd/client').Grantd} grantd
 * @param {ReturnType<typeof import('@grantd/client/express').createRequires>} requires
 */
export function documentRoutes(grantd, requires) {
  const router = Router();

  router.get('/document/:id', requires({ relation: 'viewer', object: documentOf }), async (request, response) => {
    const object = documentOf(request);
    const [editable, owned] = await Promise.all([
      grantd.check({ subject: subjectOf(request), relation: 'editor', object }),
      grantd.check({ subject: subjectOf(request), relation: 'owner', object }),
    ]);
    response.send(documentPage(personOf(request), get(object), { editable, owned }));
  });

  router.post('/document/:id', requires({ relation: 'editor', object: documentOf }), (request, response) => {
    save({ ...get(documentOf(request)), text: fieldOf(request, 'text', TEXT_LENGTH_MAX) });
    response.redirect(303, request.path);
  });

  router.post(
    '/document/:id/deletion',
    requires({ relation: 'owner', object: documentOf }),
    async (request, response) => {
      markDeleted(documentOf(request));
      // The document is already hidden. A later run (main.js) revokes the grants that remain.
      await finishDeletions(grantd).catch(logError);
      response.redirect(303, '/');
    },
  );

  return router;
}
