// The documents, folders and teams themselves, without any permissions. They are in memory, to
// keep the example small: an application has a database. Invariant: an id is random and never reused, so a grant that
// outlives its object authorizes nothing.

import { randomUUID } from 'node:crypto';
import { HttpError } from './http-error.js';

/**
 * @typedef {object} Thing
 * @property {string} object Its name in grantd, such as `document:5f0c…`.
 * @property {string} title
 * @property {string} text
 * @property {boolean} [deleted] Hidden; its grants may remain to be revoked.
 */

/** All of them are in memory. */
const THINGS_MAX = 10_000;

/** @type {Map<string, Thing>} */
const things = new Map();

/** @param {'document' | 'folder' | 'team'} kind */
export function newObject(kind) {
  if (things.size >= THINGS_MAX) throw new HttpError(507, 'This example holds no more.');
  return `${kind}:${randomUUID()}`;
}

/** @param {Thing} thing */
export function save(thing) {
  things.set(thing.object, thing);
}

/** @param {string} object */
export function find(object) {
  const thing = things.get(object);
  return thing?.deleted ? undefined : thing;
}

/** @param {string} object */
export function get(object) {
  const thing = find(object);
  if (thing === undefined) throw new HttpError(404, 'This no longer exists.');
  return thing;
}

/** @param {string} object */
export function markDeleted(object) {
  save({ ...get(object), text: '', deleted: true });
}

export const deletedObjects = () => [...things.values()].filter(({ deleted }) => deleted).map(({ object }) => object);

/** @param {string} object */
export function forget(object) {
  things.delete(object);
}
