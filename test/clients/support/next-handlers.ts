// Serves route handlers as Next.js does, a web request in and a web response out: that of one document, and that of
// all. The arguments are their files. It prints where it listens.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Handler = (request: Request, context: { params: Promise<{ id: string }> }) => Promise<Response>;

const [read, list] = await Promise.all(
  process.argv.slice(2).map(async (path): Promise<Handler> => (await import(path)).GET),
);

const server = createServer(async ({ url: path = '/', headers }, response) => {
  const url = new URL(path, 'http://localhost');
  const [, , id] = url.pathname.split('/').map(decodeURIComponent);
  const user = headers['x-authenticated-user'];
  const request = new Request(url, typeof user === 'string' ? { headers: { 'x-authenticated-user': user } } : {});
  const handler = id === undefined ? list : read;
  const given = await handler?.(request, { params: Promise.resolve({ id: id ?? '' }) });
  response.writeHead(given?.status ?? 404, Object.fromEntries(given?.headers ?? [])).end(await given?.text());
});
server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
