// The command `testing`, of the whole program and of the package @grantd/testing. It reads no settings: the environment
// of a test is that of the application.

import { type Command, InvalidArgumentError } from 'commander';
import { parseAddress } from '../config/parsers.ts';
import { WrongSetting } from '../config/setting.ts';
import type { ProgramProcess } from './command-line.ts';
import { runRole } from './process/life-cycle.ts';
import { systemClock, systemRandom } from './process/system.ts';

const HELP = `
Once it serves, it prints one line of JSON on standard output: {"url":"http://127.0.0.1:49152"}

Each API key that begins with test_, followed by 1 to 64 letters, digits, "_" or "-", is an empty tenant of its own with
all scopes, made at its first use: the 10,000 tenants of one process do not see each other. There are no rate limits.
Nothing is kept.`;

function parseListenAddress(text: string): string {
  try {
    return parseAddress(text);
  } catch (error) {
    if (error instanceof WrongSetting) throw new InvalidArgumentError(`It ${error.message}.`);
    throw error;
  }
}

/** Ends the process as SIGTERM does. */
function stopWithInput(stdin: NodeJS.ReadStream): void {
  const stop = (): void => void process.emit('SIGTERM', 'SIGTERM');
  stdin.once('end', stop).once('error', stop).resume();
}

export const describeTesting = (command: Command, started: ProgramProcess, version: string): Command =>
  command
    .description('run the whole service in memory, for the tests of an application')
    .option('--address <host:port>', 'where it listens; port 0 is any free one', parseListenAddress, '127.0.0.1:0')
    .option('--until-stdin-closes', 'end when standard input closes, so that it never outlives what has started it')
    .addHelpText('after', HELP)
    .action(async ({ address, untilStdinCloses = false }: { address: string; untilStdinCloses?: boolean }) => {
      const { stdin, stdout, stderr } = started;
      const [{ startTesting }, { openLog }] = await Promise.all([
        import('./testing.ts'),
        import('../telemetry/log.ts'),
      ]);
      const log = await openLog({ level: 'warn', pretty: stderr.isTTY });
      const print = (line: string): void => void stdout.write(`${line}\n`);
      await runRole(log, (signal) => {
        if (untilStdinCloses) stopWithInput(stdin);
        return startTesting({ clock: systemClock, random: systemRandom, log, print }, { address, version }, signal);
      });
    });
