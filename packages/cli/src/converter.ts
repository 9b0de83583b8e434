// What the command line knows of the package @grantd/convert, which reads files of OpenFGA, SpiceDB and Permify: its
// options, and how it is loaded. Only a command that converts loads it, and a server can be installed without it.

import { InvalidArgumentError, Option } from 'commander';
import { isRelationName, type Relation } from '../../../src/core/tuples.ts';
import { CliFailure, EXIT, loadInstalled } from './failures.ts';

export const ORIGINS = ['openfga', 'spicedb', 'permify'] as const;
export type Origin = (typeof ORIGINS)[number];

export const PEER_FORMATS = ['yaml', 'csv', 'ndjson', 'text', 'avro'] as const;
export type PeerFormat = (typeof PEER_FORMATS)[number];

const FORMATS: Readonly<Record<Origin, ReadonlyMap<string, PeerFormat>>> = {
  openfga: new Map([
    ['.yaml', 'yaml'],
    ['.yml', 'yaml'],
    ['.json', 'yaml'],
    ['.jsonl', 'ndjson'],
    ['.ndjson', 'ndjson'],
    ['.csv', 'csv'],
  ]),
  spicedb: new Map([
    ['.yaml', 'yaml'],
    ['.yml', 'yaml'],
    ['.txt', 'text'],
    ['.zedbackup', 'avro'],
    ['.avro', 'avro'],
  ]),
  permify: new Map([
    ['.yaml', 'yaml'],
    ['.yml', 'yaml'],
  ]),
};

/** By the file name unless it is given; `-` has no format of its own. */
export function peerFormatOf(file: string, origin: Origin, format: string | undefined): PeerFormat {
  const formats = FORMATS[origin];
  const dot = file.lastIndexOf('.');
  const known = formats.get(dot < 0 ? '' : file.slice(dot).toLowerCase());
  const chosen = PEER_FORMATS.find((each) => each === format) ?? (format === undefined ? known : undefined);
  const possible = [...new Set(formats.values())];
  if (chosen !== undefined && possible.includes(chosen)) return chosen;
  const list = possible.map((each) => `--format ${each}`).join(', ');
  throw new CliFailure(
    format === undefined
      ? `Cannot tell the format of ${file} from its name: pass one of ${list}.`
      : `--format ${format} is not a format of ${origin}: pass one of ${list}.`,
    EXIT.usage,
  );
}

/** One `--map`: of one type, or of all types. */
export interface MapOption {
  readonly type: string | undefined;
  readonly name: string;
  readonly relation: Relation;
}

function parseMapOption(text: string): MapOption {
  const equals = text.lastIndexOf('=');
  const key = text.slice(0, Math.max(equals, 0));
  const relation = text.slice(equals + 1);
  if (key === '' || key.endsWith('#')) {
    throw new InvalidArgumentError(`${text} must be NAME=RELATION or TYPE#NAME=RELATION.`);
  }
  if (!isRelationName(relation)) throw new InvalidArgumentError(`${relation} cannot be the name of a relation.`);
  const hash = key.indexOf('#');
  return { type: hash < 0 ? undefined : key.slice(0, hash), name: key.slice(hash + 1), relation };
}

/** May be repeated, and each value may be a comma-separated list. */
function addMapOptions(text: string, previous: readonly MapOption[]): MapOption[] {
  const options = [...previous, ...text.split(',').map((part) => parseMapOption(part.trim()))];
  const keys = options.map(({ type, name }) => `${type ?? ''}#${name}`);
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined) throw new InvalidArgumentError(`${twice.replace(/^#/, '')} is mapped twice.`);
  return options;
}

export const mapOption = (description: string, byDefault: string): Option =>
  new Option('--map <name=relation>', description).argParser(addMapOptions).default([], byDefault);

/** Runs the import of a module of the package. Throws a CliFailure if the package is not installed. */
export const loadConverter = <Module>(load: () => Promise<Module>): Promise<Module> =>
  loadInstalled(
    load,
    'The converter of files of OpenFGA, SpiceDB and Permify is not installed. The image has it; in a checkout, run "npm ci".',
  );
