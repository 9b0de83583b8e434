// The option `--map` of commands that read models or tuples of other systems.

import { InvalidArgumentError } from 'commander';
import { isRelation, RELATIONS } from '../../core/tuples.ts';
import type { MapOption } from './relation-map.ts';

function parseMapOption(text: string): MapOption {
  const equals = text.lastIndexOf('=');
  const key = text.slice(0, Math.max(equals, 0));
  const relation = text.slice(equals + 1);
  if (key === '' || key.endsWith('#')) {
    throw new InvalidArgumentError(`${text} must be NAME=RELATION or TYPE#NAME=RELATION.`);
  }
  if (!isRelation(relation)) throw new InvalidArgumentError(`The relations are ${RELATIONS.join(', ')}.`);
  const hash = key.indexOf('#');
  return { type: hash < 0 ? undefined : key.slice(0, hash), name: key.slice(hash + 1), relation };
}

/** `--map` may be repeated, and each value may be a comma-separated list. */
export function addMapOptions(text: string, former: readonly MapOption[]): MapOption[] {
  const options = [...former, ...text.split(',').map((part) => parseMapOption(part.trim()))];
  const keys = options.map(({ type, name }) => `${type ?? ''}#${name}`);
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined) throw new InvalidArgumentError(`${twice.replace(/^#/, '')} is mapped twice.`);
  return options;
}
