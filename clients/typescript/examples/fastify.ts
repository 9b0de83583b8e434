// Documents that only their viewers may read, with Fastify. The subject comes from the header that a proxy in
// front sets after it has authenticated the request. GRANTD_URL and GRANTD_KEY say where grantd is.

import { Grantd } from '@grantd/client';
import { createRequires } from '@grantd/client/fastify';
import fastify, { type FastifyRequest } from 'fastify';

const { PORT = '3000' } = process.env;

const requires = createRequires({
  grantd: new Grantd(),
  subject: (request) => {
    const user = request.headers['x-authenticated-user'];
    return typeof user === 'string' ? `user:${user}` : undefined;
  },
  onError: (error) => console.error(String(error)),
});

const idOf = (request: FastifyRequest): string => (request.params as { id: string }).id;

const app = fastify();

app.get(
  '/documents/:id',
  { preHandler: requires({ relation: 'viewer', object: (request) => `document:${idOf(request)}` }) },
  (request) => ({
    id: idOf(request),
  }),
);

console.log(await app.listen({ port: Number(PORT), host: '127.0.0.1' }));
