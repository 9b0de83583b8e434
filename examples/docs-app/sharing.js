// Reads and changes shares in grantd. The application stores and caches none of them.

import { find } from './store.js';

/** @typedef {import('@grantd/client').Grantd} Grantd */
/** @typedef {import('@grantd/client').Relation} Relation */

/** The page explains each holder with one more check. */
const PEOPLE_MAX = 25;
const TEAMS_MAX = 50;

export const EVERYONE = 'user:*';

/**
 * The relations in which an object of each kind can be shared, the weakest first.
 *
 * @type {Readonly<Record<string, readonly Relation[]>>}
 */
const SHARED_AS = { document: ['viewer', 'editor'], folder: ['viewer', 'editor'], team: ['member'] };

/** @param {string} object */
export const sharedAs = (object) => SHARED_AS[object.split(':', 1)[0] ?? ''] ?? [];

/**
 * The first items of a listing, which may have very many pages.
 *
 * @template T
 * @param {AsyncIterable<T>} listing
 * @param {number} max
 */
export async function firstOf(listing, max) {
  /** @type {T[]} */
  const items = [];
  for await (const item of listing) {
    if (items.length === max) return { items, complete: false };
    items.push(item);
  }
  return { items, complete: true };
}

/**
 * The users with access to an object, each with the strongest relation and the grants from which it follows, also
 * through teams and folders.
 *
 * @param {Grantd} grantd
 * @param {string} object
 */
export async function whoMay(grantd, object) {
  const relations = ['owner', ...sharedAs(object).toReversed()];
  const lists = await Promise.all(
    relations.map((relation) => firstOf(grantd.listSubjects({ object, relation, namespace: 'user' }), PEOPLE_MAX)),
  );
  /** @type {Map<string, string>} */
  const strongest = new Map();
  for (const [index, { items }] of lists.entries()) {
    for (const subject of items) if (!strongest.has(subject)) strongest.set(subject, relations[index] ?? '');
  }
  const shown = [...strongest].slice(0, PEOPLE_MAX);
  const people = await Promise.all(
    shown.map(async ([subject, relation]) => ({
      subject,
      relation,
      ...(await grantd.explain({ subject, relation, object })),
    })),
  );
  // A user may have lost access since the listing.
  const holders = people.filter(({ authorized }) => authorized);
  return { holders, complete: shown.length === strongest.size && lists.every(({ complete }) => complete) };
}

/**
 * The subjects with which a user may share an object: the other users, the teams of that user, and everyone.
 *
 * @param {Grantd} grantd
 * @param {string} object
 * @param {{ person: string, people: readonly string[] }} options
 */
export async function sharableWith(grantd, object, { person, people }) {
  const others = people.filter((each) => each !== person).map((each) => ({ subject: `user:${each}`, title: each }));
  if (object.startsWith('team:')) return others;
  const mine = grantd.listObjects({ subject: `user:${person}`, relation: 'member', namespace: 'team' });
  const { items } = await firstOf(mine, TEAMS_MAX);
  const teams = items.flatMap((team) => {
    const title = find(team)?.title;
    return title === undefined ? [] : [{ subject: `${team}#member`, title: `the team ${title}` }];
  });
  return [...others, ...teams, { subject: EVERYONE, title: 'everyone, even without logging in' }];
}

/**
 * Shares an object, atomically: if the owner is still the owner, the subject gets this relation and loses every other
 * one that can be shared. `expiresAt` of null removes the expiry.
 *
 * @param {Grantd} grantd
 * @param {{ owner: string, subject: string, relation: Relation, object: string, expiresAt: string | null }} share
 */
export async function share(grantd, { owner, subject, relation, object, expiresAt }) {
  const others = sharedAs(object).filter((each) => each !== relation);
  await grantd.writeBulk({
    if: [{ subject: owner, relation: 'owner', object, exists: true }],
    grants: [{ subject, relation, object, expires_at: expiresAt }],
    revocations: others.map((each) => ({ subject, relation: each, object })),
  });
}
