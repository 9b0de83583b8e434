// Bulk checks of nearly 1 MiB whose JSON is expensive to parse: nested half a million deep, objects that each have
// different members, arrays of very many small values, and one string of escapes.

import { runAttack } from '../attacker/attack-run.ts';
import { postRequest, runClosedLoop } from '../attacker/closed-loop.ts';

const CONNECTIONS = 6;
const REQUESTS_MAX = 150;
/** The maximum size of a body, less the frame of the texts below. */
const BYTES = 1024 * 1024 - 64;

const repeat = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / text.length));

function manyShapes(): string {
  const parts: string[] = [];
  for (let bytes = 0, number = 0; bytes < BYTES - 32; number += 1) {
    const part = `{"m${number.toString(36)}":1,"n${number.toString(36)}":0}`;
    parts.push(part);
    bytes += part.length + 1;
  }
  return `{"checks":[${parts.join(',')}]}`;
}

function manyMembers(): string {
  const parts: string[] = [];
  for (let bytes = 0, number = 0; bytes < BYTES - 32; number += 1) {
    const part = `"${number.toString(36)}":0`;
    parts.push(part);
    bytes += part.length + 1;
  }
  return `{"checks":[],${parts.join(',')}}`;
}

runAttack(async ({ baseUrl, key }, run) => {
  const depth = Math.floor(BYTES / 2);
  const objects = Math.floor(BYTES / '{"a":}'.length);
  const requests = [
    `{"checks":${'['.repeat(depth)}${']'.repeat(depth)}}`,
    `{"checks":${'{"a":'.repeat(objects)}0${'}'.repeat(objects)}}`,
    manyShapes(),
    manyMembers(),
    `{"checks":[${repeat('{},', BYTES)}{}]}`,
    `{"checks":[],"x":"${repeat('\\u00e9', BYTES)}"}`,
  ].map((body) => postRequest('/v1/check/bulk', key, body));
  await runClosedLoop(run, {
    url: baseUrl,
    connections: CONNECTIONS,
    requestsMax: REQUESTS_MAX,
    requestOf: (number) => requests[number % requests.length] ?? '',
    onResponse: (status, body) => run.expect(status, [200, 400, 413, 429, 503], body),
  });
});
