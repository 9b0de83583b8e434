// Starts the application. GRANTD_URL and GRANTD_KEY say where grantd is, DATABASE_URL where the documents are, and the
// mirror of grants beside them, and PORT where the application listens.

import { createServer } from 'node:http';
import { Grantd } from '@grantd/client';
import pg from 'pg';
import { readPage } from './list.js';
import { errorPage, listPage } from './page.js';

const { DATABASE_URL, PORT = '3000', TIMEOUT_MS = '2000' } = process.env;
/** In place of a log-in. */
const PEOPLE = ['ada', 'bob', 'eve'];
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  // Access may have been revoked since the last request, so no browser or proxy may cache a page.
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
};
const SEARCH_LENGTH_MAX = 100;
const BASE = 'http://localhost';

const grantd = new Grantd({ timeoutMs: Number(TIMEOUT_MS) });
const pool = new pg.Pool({ connectionString: DATABASE_URL });
// A connection that ends while nothing uses it is replaced by the next query.
pool.on('error', (error) => console.error(String(error)));

/**
 * Undefined for an address that this application has not made.
 *
 * @param {URLSearchParams} parameters
 */
function parseRequest(parameters) {
  const { as: person = 'ada', search = '', after: place } = Object.fromEntries(parameters);
  const [, ms, id = ''] = /^(\d{1,14}),(\d{1,18})$/.exec(place ?? '') ?? [];
  if (!PEOPLE.includes(person) || (place !== undefined && ms === undefined)) return undefined;
  if (search.length > SEARCH_LENGTH_MAX || search.includes('\0')) return undefined;
  // Later than any document, or where the page before ended.
  const after = ms === undefined ? ['infinity', '0'] : [new Date(Number(ms)).toISOString(), id];
  return { person, people: PEOPLE, search, after };
}

/**
 * @param {string} path
 * @returns {Promise<[status: number, page: string]>}
 */
async function respond(path) {
  const url = URL.canParse(path, BASE) ? new URL(path, BASE) : undefined;
  if (url?.pathname !== '/') return [404, errorPage('There is no such page.')];
  const request = parseRequest(url.searchParams);
  if (request === undefined) return [400, errorPage('This address is not valid. Start again from the first page.')];
  const startMs = performance.now();
  const found = await readPage({ grantd, pool }, `user:${request.person}`, request);
  return [200, listPage(request, found, performance.now() - startMs)];
}

const server = createServer(async (request, response) => {
  const [status, page] = await respond(request.url ?? '/').catch((error) => {
    // grantd is away, the mirror is behind, or the database fails: in no case is there a list.
    console.error(String(error));
    return /** @type {const} */ ([503, errorPage('The list cannot be read at the moment, so nothing is shown.')]);
  });
  response.writeHead(status, status === 503 ? { ...HEADERS, 'retry-after': '1' } : HEADERS).end(page);
});
server.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address !== 'string') console.log(`http://127.0.0.1:${address.port}`);
});
