// The commands of the operating guides, run as they stand there, by a shell on a machine that reaches the cluster.

import assert from 'node:assert/strict';
import { mkdtempSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { shellBlocks } from '../../../kit/shell-blocks.ts';
import type { Event } from './event.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const GUIDES = ['security', 'scaling', 'upgrade', 'install', 'recovery'] as const;
/** These have events of their own, since they begin or end a release. */
const BEGINS_OR_ENDS = /^helm (?:install|uninstall) /m;

const commandsOf = (block: string): string[] =>
  block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

const isForTheCluster = (block: string): boolean =>
  commandsOf(block).every((command) => /^(?:helm|kubectl) /.test(command)) && !BEGINS_OR_ENDS.test(block);

const guides: Event = {
  name: 'the commands of the guides work as they stand there',
  async run({ kubernetes, release, say }) {
    // What the guides take for given: a checkout, and the values of the release.
    const directory = mkdtempSync(join(kubernetes.directory, 'checkout-'));
    symlinkSync(join(ROOT, 'charts'), join(directory, 'charts'));
    release.writeValues(join(directory, 'values.yaml'));
    let commands = 0;
    for (const guide of GUIDES) {
      for (const block of shellBlocks(`docs/operating/${guide}.md`).filter(isForTheCluster)) {
        await kubernetes.shell(block, directory);
        commands += commandsOf(block).length;
      }
      await release.waitUntilRolledOut();
    }
    say(`  ${commands} commands`);
    assert.ok(commands >= 12, `${commands} commands`);
  },
};

export const GUIDED: readonly Event[] = [guides];
