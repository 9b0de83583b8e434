// The models of OpenFGA in the comparison, in the form of its API: of flat grants, and of what a model decides.

import type { ModelShape } from '../load-job.ts';
import { AT_WORK } from './at-work.ts';

const SCHEMA = { schema_version: '1.1' };
const USER = { type: 'user' };
const GRANTED = { this: {} };
const USERS_AND_TEAMS = { directly_related_user_types: [USER, { type: 'team', relation: 'member' }] };
const TEAM = {
  type: 'team',
  relations: { member: GRANTED },
  metadata: { relations: { member: { directly_related_user_types: [USER] } } },
};

/** Users are viewers of it. */
const viewedByUsers = (type: string, condition?: string): object => ({
  type,
  relations: { viewer: GRANTED },
  metadata: {
    relations: {
      viewer: { directly_related_user_types: [{ ...USER, ...(condition === undefined ? {} : { condition }) }] },
    },
  },
});

export const MODEL: object = { ...SCHEMA, type_definitions: [USER, viewedByUsers('document')] };

/** Whoever views a folder, views what is in it. */
const inFolders = (type: string): object => ({
  type,
  relations: {
    parent: GRANTED,
    viewer: {
      union: {
        child: [
          GRANTED,
          { tupleToUserset: { tupleset: { relation: 'parent' }, computedUserset: { relation: 'viewer' } } },
        ],
      },
    },
  },
  metadata: {
    relations: { parent: { directly_related_user_types: [{ type: 'folder' }] }, viewer: USERS_AND_TEAMS },
  },
});

const computed = (relation: string): object => ({ computedUserset: { relation } });
const PAGE = {
  type: 'page',
  relations: {
    viewer: GRANTED,
    editor: GRANTED,
    guest: GRANTED,
    publish: { intersection: { child: [computed('viewer'), computed('editor')] } },
    read: { difference: { base: computed('viewer'), subtract: computed('guest') } },
  },
  metadata: { relations: { viewer: USERS_AND_TEAMS, editor: USERS_AND_TEAMS, guest: USERS_AND_TEAMS } },
};

export const MODELS: Readonly<Record<ModelShape, object>> = {
  ruled: { ...SCHEMA, type_definitions: [USER, TEAM, inFolders('folder'), inFolders('file')] },
  gated: { ...SCHEMA, type_definitions: [USER, TEAM, PAGE] },
  conditional: {
    ...SCHEMA,
    type_definitions: [USER, viewedByUsers('record', 'at_work')],
    conditions: {
      at_work: {
        name: 'at_work',
        expression: AT_WORK,
        parameters: {
          second: { type_name: 'TYPE_NAME_INT' },
          zone: { type_name: 'TYPE_NAME_STRING' },
          home: { type_name: 'TYPE_NAME_STRING' },
        },
      },
    },
  },
};
