// Puts the application together. Invariant: the application sends nothing of a document unless grantd has just
// authorized it; without an answer from grantd, the response is a 503.

import { createRequires } from '@grantd/client/express';
import express from 'express';
import { logError, sendError, sendRefusal } from './errors.js';
import { HttpError } from './http-error.js';
import { logInRoutes, refuseOtherSites, subjectOf } from './log-in.js';
import { documentRoutes } from './routes/documents.js';
import { homeRoutes } from './routes/home.js';
import { sharingRoutes } from './routes/sharing.js';

const FORM_BYTES_MAX = 256 * 1024;
const HEADERS = {
  // Access may have been revoked since the last request, so no browser or proxy may cache a page.
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** @param {import('@grantd/client').Grantd} grantd */
export function createApp(grantd) {
  const requires = createRequires({ grantd, subject: subjectOf, refuse: sendRefusal, onError: logError });
  const app = express();
  app.disable('x-powered-by');
  app.use((_request, response, next) => {
    response.set(HEADERS);
    next();
  });
  app.get('/style.css', (_request, response) => response.sendFile('style.css', { root: import.meta.dirname }));
  app.use(refuseOtherSites);
  app.use(express.urlencoded({ extended: false, limit: FORM_BYTES_MAX }));
  app.use(logInRoutes());
  app.use(homeRoutes(grantd));
  app.use(documentRoutes(grantd, requires));
  app.use(sharingRoutes(grantd, requires));
  app.use(() => {
    throw new HttpError(404, 'There is no such page.');
  });
  app.use(sendError);
  return app;
}
