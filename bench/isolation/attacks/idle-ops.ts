// Idle connections to the ops ports: 110, and then 1,000.

import { runAttack } from '../attacker/attack-run.ts';
import { openRawSockets } from '../attacker/raw-sockets.ts';

const SOCKETS = [110, 890];

runAttack(async ({ opsUrls, durationMs }, run) => {
  for (const count of SOCKETS) {
    await Promise.all(opsUrls.map((url) => openRawSockets(run, { url, count })));
    await new Promise((resolve) => setTimeout(resolve, durationMs / SOCKETS.length));
  }
});
