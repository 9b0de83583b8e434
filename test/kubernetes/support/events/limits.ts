// What a container is given of its memory.

import assert from 'node:assert/strict';
import type { Event } from './event.ts';

/** 1 GiB and a cache of 256 MiB, as the chart has them: by itself Node would take some 536 MiB. */
const heap: Event = {
  name: 'a shard gives its heap what its page cache takes, and not what Node makes of the memory of the container',
  async run({ release }) {
    const script =
      "process.stdout.write(require('node:fs').readFileSync('/proc/1/cmdline', 'utf8').replaceAll('\\0', ' '))";
    const command = await release.kubectl(['exec', 'grantd-shard-0', '--', 'node', '--eval', script]);
    assert.match(command, /--max-heap-size=640 .*main\.ts shard/);
  },
};

export const LIMITS: readonly Event[] = [heap];
