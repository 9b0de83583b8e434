// The options of `npm run cluster`.

import { parseArgs } from 'node:util';
import { PARTS_MAX, PORT_DEFAULT, PORTS } from './ports.ts';

export const HELP = `Usage: npm run cluster -- [options]

Starts Cassandra, shards, fronts and a console on this machine, with a demo tenant and a key.
Ctrl-C stops the cluster and removes its files; Enter restarts killed processes.

Options:
  --shards <number>  1 to ${PARTS_MAX} (default: 3)
  --fronts <number>  1 to ${PARTS_MAX} (default: 2)
  --checks           send checks continuously, and print every second how many failed
  --keep <folder>    keep the data in this folder, and continue with it
  --port <port>      the first of ${PORTS} ports (default: ${PORT_DEFAULT})
  --help
`;

export interface Options {
  readonly shards: number;
  readonly fronts: number;
  readonly port: number;
  readonly checks: boolean;
  readonly keep: string | undefined;
}

function wholeNumber(option: string, text: string, min: number, max: number): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new RangeError(`--${option} must be a number from ${min} to ${max}.`);
}

/** Undefined: the option --help. Throws if an option is invalid. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      shards: { type: 'string', default: '3' },
      fronts: { type: 'string', default: '2' },
      port: { type: 'string', default: String(PORT_DEFAULT) },
      checks: { type: 'boolean', default: false },
      keep: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  if (values.keep === '') throw new RangeError('--keep needs a folder.');
  return {
    shards: wholeNumber('shards', values.shards, 1, PARTS_MAX),
    fronts: wholeNumber('fronts', values.fronts, 1, PARTS_MAX),
    port: wholeNumber('port', values.port, 1024, 65_535 - PORTS),
    checks: values.checks,
    keep: values.keep,
  };
}
