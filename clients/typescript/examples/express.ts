// Documents that only their viewers may read, with Express. The subject comes from the header that a proxy in
// front sets after it has authenticated the request. GRANTD_URL and GRANTD_KEY say where grantd is.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Grantd, GrantdError } from '@grantd/client';
import { createRequires } from '@grantd/client/express';
import express, { type ErrorRequestHandler, type Request } from 'express';

const { PORT = '3000' } = process.env;
const DOCUMENTS_MAX = 100;

const grantd = new Grantd({ timeoutMs: 2000 });

function subjectOf(request: Request): string | undefined {
  const user = request.header('x-authenticated-user');
  return user === undefined ? undefined : `user:${user}`;
}

const requires = createRequires({ grantd, subject: subjectOf, onError: (error) => console.error(String(error)) });

const app = express();

app.get(
  '/documents/:id',
  requires({ relation: 'viewer', object: (request) => `document:${request.params.id}` }),
  (request, response) => {
    response.json({ id: request.params.id });
  },
);

// The list has what its reader may read, and nothing else.
app.get('/documents', async (request, response) => {
  const subject = subjectOf(request);
  if (subject === undefined) return response.sendStatus(401);
  const ids: string[] = [];
  for await (const object of grantd.listObjects({ subject, relation: 'viewer', namespace: 'document' })) {
    ids.push(object.slice('document:'.length));
    if (ids.length === DOCUMENTS_MAX) break;
  }
  return response.json(ids);
});

// No answer is neither a yes nor a no: the request is not served, and may be repeated.
const refuse: ErrorRequestHandler = (error, _request, response, next) => {
  if (!(error instanceof GrantdError)) return next(error);
  console.error(String(error));
  response.status(503).set('retry-after', '1').json({ title: 'Service Unavailable', status: 503 });
};
app.use(refuse);

const server = app.listen(Number(PORT), '127.0.0.1');
await once(server, 'listening');
export const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
console.log(url);
