// The calls about the rules of a tenant. Rules travel as the text by which they are stored.

import { DEEP_MAX } from '../../core/limits.ts';
import { isNamespaceName } from '../../core/tuples.ts';
import {
  type AccessChanges,
  type AccessRow,
  type AccessSide,
  OPEN_POINTS,
  type RevokedGrants,
} from '../../rules/access-changes.ts';
import type { JoinQuery } from '../../rules/join.ts';
import { RULES_SOURCE_BYTES_MAX } from '../../rules/rule-set.ts';
import { RulesText } from '../../rules/rules-text.ts';
import { KEEP_OUTSIDE, type VanishingName } from '../../rules/rules-writes.ts';
import type { RevisedJoin, RulesPreview, RulesRequest } from '../../shard/shard.ts';
import { demand } from '../wire-violation.ts';
import { DONE, defineCall } from './define-call.ts';
import { identifier, relation, ruleName, shortText, subject } from './fields.ts';
import * as s from './schema.ts';

/** Revisions in a condition: several times what fits into the header of a request. */
const REVISIONS_MAX = 1000;

/** In no text of rules: JSON escapes it, and the text form may not have it. */
const CONTROL = /[\p{Cc}--[\t\n\r\x7f-\x9f]]/v;

const isFit = (text: string): boolean => text !== '' && text.length <= RULES_SOURCE_BYTES_MAX && !CONTROL.test(text);

/** Whether they are rules is found by whoever parses them, in turns. */
const rulesText = s.form(
  'rules',
  (text) => (isFit(text) ? new RulesText(text) : undefined),
  ({ text }) => text,
);

const rulesRequest = s.message<RulesRequest>({
  rules: rulesText,
  ifMatch: s.orUndefined(s.only('revisions', s.list(shortText, { max: REVISIONS_MAX }))),
  outsideTypes: s.as(
    'keepsOutside',
    s.converted(
      s.flag,
      (outsideTypes: RulesRequest['outsideTypes']) => outsideTypes === KEEP_OUTSIDE,
      (keepsOutside) => (keepsOutside ? KEEP_OUTSIDE : undefined),
    ),
  ),
});

const accessSide = s.message<AccessSide>({
  subjects: s.uint32,
  objects: s.uint32,
  rows: s.list(
    s.message<AccessRow>({
      subjects: s.list(s.text),
      subjectCount: s.uint32,
      names: s.list(s.text),
      objects: s.list(s.text),
      objectCount: s.uint32,
      isGroup: s.flag,
      members: s.uint32,
    }),
  ),
  rowsLeft: s.uint32,
  byName: s.flag,
});

const accessChanges = s.message<AccessChanges>({
  lost: accessSide,
  gained: accessSide,
  compared: s.uint32,
  open: s.list(s.word(...OPEN_POINTS)),
});

/** A comparison takes seconds at most, in turns; mostly some milliseconds. */
const COMPARISON_MS = 2;

/** Of the largest rules, a tenth of a second at most, in turns. */
const JOIN_MS = 0.5;

const namespace = s.formOf('a namespace', isNamespaceName);

export const ruleCalls = {
  /** What a revocation would change. */
  compareAccess: defineCall('compareAccess', {
    access: 'admin',
    costMs: COMPARISON_MS,
    request: s.refined(
      s.message<RevokedGrants>({
        subject: s.sparse(subject),
        relation: s.sparse(relation),
        object: s.sparse(identifier),
      }),
      ({ subject, object }) => demand((subject ?? object) !== undefined, 'A revocation is of a subject or an object.'),
    ),
    reply: 'accessChanges',
    answer: accessChanges,
  }),

  readRules: defineCall('readRules', {
    access: 'admin',
    request: s.nothing,
    reply: 'rules',
    answer: s.only('rules', rulesText),
  }),

  /** Most are there already, or built in one step. */
  readJoin: defineCall('readJoin', {
    access: 'check:read',
    costMs: JOIN_MS,
    request: s.message<JoinQuery>({ namespace, name: ruleName, deep: s.list(namespace, { max: DEEP_MAX }) }),
    reply: 'join',
    answer: s.message<RevisedJoin>({ revision: s.text, json: s.text }),
    namespacesDenied: ({ namespace: own, deep }) => [...new Set([own, ...deep])],
  }),

  writeRules: defineCall('writeRules', { access: 'admin', write: 'repeatable', request: rulesRequest, ...DONE }),

  previewRules: defineCall('previewRules', {
    access: 'admin',
    request: rulesRequest,
    reply: 'rulesPreview',
    answer: s.message<RulesPreview>({
      revision: s.text,
      groupSubjects: s.uint32,
      publicGrants: s.uint32,
      notFollowed: s.uint32,
      outsideTypes: s.uint32,
      ungranted: s.list(s.message({ namespace: s.text, relation })),
      vanishing: s.list(s.message<VanishingName>({ name: s.text, askedAtMs: s.orUndefined(s.int64) })),
      access: s.sparse(accessChanges),
      scannedGrants: s.uint32,
      complete: s.flag,
    }),
  }),

  listRulesVersions: defineCall('listRulesVersions', {
    access: 'admin',
    request: s.nothing,
    reply: 'rulesVersions',
    answer: s.only(
      'versions',
      s.list(
        s.message({
          version: s.uint32,
          revision: s.text,
          atMs: s.int64,
          actor: s.text,
          requestId: s.text,
          added: s.uint32,
          removed: s.uint32,
        }),
      ),
    ),
  }),

  readRulesVersion: defineCall('readRulesVersion', {
    access: 'admin',
    request: s.only('version', s.uint32),
    reply: 'rules',
    answer: s.only('rules', rulesText),
  }),
};
