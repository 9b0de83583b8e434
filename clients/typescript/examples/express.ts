// Documents that only their viewers may read, with Express. The subject comes from the header that a proxy in
// front sets after it has authenticated the request. GRANTD_URL and GRANTD_KEY say where grantd is.

import type { AddressInfo } from 'node:net';
import { Grantd } from '@grantd/client';
import { createRequires } from '@grantd/client/express';
import express from 'express';

const { PORT = '3000' } = process.env;

const requires = createRequires({
  grantd: new Grantd(),
  subject: (request) => {
    const user = request.header('x-authenticated-user');
    return user === undefined ? undefined : `user:${user}`;
  },
  onError: (error) => console.error(String(error)),
});

const app = express();

app.get(
  '/documents/:id',
  requires({ relation: 'viewer', object: (request) => `document:${request.params.id}` }),
  (request, response) => {
    response.json({ id: request.params.id });
  },
);

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
