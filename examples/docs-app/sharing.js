// What the application asks and tells grantd about sharing. Nothing of it is stored or cached here.

import { find } from './store.js';

/** @typedef {import('@grantd/client').Grantd} Grantd */
/** @typedef {import('@grantd/client').Relation} Relation */

/** For each person, one more question is asked: why. */
const PEOPLE_MAX = 25;
const TEAMS_MAX = 50;

export const EVERYBODY = 'user:*';

/**
 * As what each kind is shared, the weakest relation first.
 *
 * @type {Readonly<Record<string, readonly Relation[]>>}
 */
const SHARED_AS = { document: ['viewer', 'editor'], folder: ['viewer', 'editor'], team: ['member'] };

/** @param {string} object */
export const sharedAs = (object) => SHARED_AS[object.split(':', 1)[0] ?? ''] ?? [];

/**
 * The first items of a listing, which may have more pages than anybody wants to see.
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
 * Everybody who may do something with an object, as much as they may, and the grants from which that follows: through
 * teams and folders, too.
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
      ...(await grantd.explain(subject, relation, object)),
    })),
  );
  // Somebody may have lost it since the listing.
  const holders = people.filter(({ authorized }) => authorized);
  return { holders, complete: shown.length === strongest.size && lists.every(({ complete }) => complete) };
}

/**
 * With whom a person may share something: with people, and with the teams that the person belongs to.
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
  return [...others, ...teams, { subject: EVERYBODY, title: 'everybody, also without log-in' }];
}

/**
 * Shares an object. All at one moment: the subject has this relation from now on and no other one that can be shared,
 * if the owner still is the owner. `expiresAt` of null: without end, also if there was one before.
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
