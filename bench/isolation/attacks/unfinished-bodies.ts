// 590 bulk checks of 1 MiB whose last byte never comes.

import { runAttack } from '../attacker/attack-run.ts';
import { openRawSockets } from '../attacker/raw-sockets.ts';

const CONNECTIONS = 590;
const BODY_BYTES = 1024 * 1024;

runAttack(async ({ baseUrl, key }, run) => {
  const head = [
    'POST /v1/check/bulk HTTP/1.1',
    'Host: grantd',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${BODY_BYTES}`,
    '',
    '',
  ].join('\r\n');
  const bytes = Buffer.concat([Buffer.from(head), Buffer.alloc(BODY_BYTES - 1, ' ')]);
  const onText = (text: string): void => run.count(text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
  await openRawSockets(run, { url: baseUrl, count: CONNECTIONS, bytes, onText });
  await run.hold();
});
