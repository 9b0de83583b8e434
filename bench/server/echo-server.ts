// The server to compare with: `node:http` and JSON, nothing else. It reads the whole of the same request, parses it and
// responds with the same headers and a body of the same size; everything that can be constant is.

import { createServer } from 'node:http';

const CHECKED_AT = '2026-01-01T00:00:00.000Z';
const REQUEST_ID = 'req_01hzy3v7x2q8w4n5m6k7j8h9g0';

const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    text += chunk;
  });
  request.on('end', () => {
    const question: { readonly object: string } = JSON.parse(text);
    const body = JSON.stringify({ authorized: question.object.length > 0, checked_at: CHECKED_AT });
    response.writeHead(200, [
      'Content-Type',
      'application/json',
      'Content-Length',
      String(Buffer.byteLength(body)),
      'X-Service-Request-Id',
      REQUEST_ID,
      'Cache-Control',
      'no-store',
      'X-Service-RateLimit-Limit',
      '10000000',
      'X-Service-RateLimit-Remaining',
      '9999999',
      'X-Service-RateLimit-Reset',
      '1',
    ]);
    response.end(body);
  });
});

server.listen({ host: '127.0.0.1', port: 0 }, () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The echo does not listen on a TCP address.');
  process.send?.({ url: `http://127.0.0.1:${address.port}` });
});
process.on('disconnect', () => process.exit());
