// Documents that only their viewers may read, with Fastify. The subject comes from the header that a proxy in
// front sets after it has authenticated the request. GRANTD_URL and GRANTD_KEY say where grantd is.

import { Grantd, GrantdError } from '@grantd/client';
import { createRequires } from '@grantd/client/fastify';
import fastify, { type FastifyRequest } from 'fastify';

const { PORT = '3000' } = process.env;
const DOCUMENTS_MAX = 100;

const grantd = new Grantd({ timeoutMs: 2000 });

function subjectOf(request: FastifyRequest): string | undefined {
  const user = request.headers['x-authenticated-user'];
  return typeof user === 'string' ? `user:${user}` : undefined;
}

const requires = createRequires({ grantd, subject: subjectOf, onError: (error) => console.error(String(error)) });

const idOf = (request: FastifyRequest): string => (request.params as { id: string }).id;

const app = fastify();

app.get(
  '/documents/:id',
  { preHandler: requires({ relation: 'viewer', object: (request) => `document:${idOf(request)}` }) },
  (request) => ({
    id: idOf(request),
  }),
);

// The list has what its reader may read, and nothing else.
app.get('/documents', async (request, reply) => {
  const subject = subjectOf(request);
  if (subject === undefined) return reply.code(401).send();
  const ids: string[] = [];
  for await (const object of grantd.listObjects({ subject, relation: 'viewer', namespace: 'document' })) {
    ids.push(object.slice('document:'.length));
    if (ids.length === DOCUMENTS_MAX) break;
  }
  return ids;
});

// No answer is neither a yes nor a no: the request is not served, and may be repeated.
app.setErrorHandler((error, _request, reply) => {
  if (!(error instanceof GrantdError)) return reply.send(error);
  console.error(String(error));
  return reply.code(503).header('retry-after', '1').send({ title: 'Service Unavailable', status: 503 });
});

export const url = await app.listen({ port: Number(PORT), host: '127.0.0.1' });
console.log(url);
