// The change feed of a tenant: its content, parsed from the JSON of the audit log, and its filter. Changes of keys, of
// the plan and of the record of the tenant are not part of it. Invariant: a filter has the same result at a shard,
// which applies it to what it reads, and at a front, which applies it to what it forwards.

import type { AuditAction } from './audit-log.ts';
import {
  attributesOfId,
  type GrantTerms,
  grantRecord,
  termsInRecord,
  termsRecord,
  textOfTerms,
} from './grant-attributes.ts';
import { isJsonObject, type JsonObject } from './json-members.ts';
import { formatTimestamp } from './text/timestamps.ts';
import {
  type Grant,
  grantOf,
  isNamespaceName,
  isRelationName,
  namespaceOf,
  parseRelation,
  type Relation,
} from './tuples.ts';

export const FEED_ACTIONS = [
  'grant.created',
  'grant.updated',
  'grant.revoked',
  'grant.expired',
  'namespace.created',
  'rules.updated',
] as const satisfies readonly AuditAction[];
export type FeedAction = (typeof FEED_ACTIONS)[number];

/** For how long a page may wait for a change: shorter than proxies wait for a response by default. */
export const FEED_WAIT_SECONDS_MAX = 30;

/**
 * Names in one list of a filter: as many as a mirror of an application's lists needs. A front keeps the filter of each
 * stream, of which it may have thousands.
 */
export const FILTER_NAMES_MAX = 200;
export const FILTER_LENGTH_MAX = 4096;

/** A missing list lets everything pass. Changes of rules pass whatever names a filter has. */
export interface FeedFilter {
  /** Those of the objects of grants, and new ones. */
  readonly namespaces?: readonly string[] | undefined;
  /** Those of grants. New namespaces do not pass. */
  readonly relations?: readonly string[] | undefined;
  /** Pairs: `document:viewer`. New namespaces do not pass. */
  readonly on?: readonly string[] | undefined;
  readonly actions?: readonly FeedAction[] | undefined;
}

export type FeedContent =
  | {
      readonly action: 'grant.created' | 'grant.updated' | 'grant.revoked' | 'grant.expired';
      readonly grant: Grant;
      /** For `grant.updated`: the terms before. Absent: they were not recorded. */
      readonly formerTerms?: GrantTerms | undefined;
    }
  | { readonly action: 'namespace.created'; readonly name: string }
  /** Both as JSON. */
  | {
      readonly action: 'rules.updated';
      /** Undefined: the reader may not read rules. */
      readonly texts?: { readonly rules: string; readonly former: string };
    };

/** A place between two changes: after (seq, index). (seq, −1): before the first change of an entry. */
export interface FeedPlace {
  readonly seq: number;
  readonly index: number;
}

/** Whether a change, or a place, is after a place. */
export const isAfter = (left: FeedPlace, right: FeedPlace): boolean =>
  left.seq > right.seq || (left.seq === right.seq && left.index > right.index);

/** The last entry of which every change is before a place: what is before it may end within the next entry. */
export const wholeSeq = ({ seq }: FeedPlace): number => Math.max(0, seq - 1);

export interface FeedChange {
  /** (seq, index) orders the changes of a tenant and identifies each. */
  readonly seq: number;
  readonly index: number;
  /** Wall clock, ms since the Unix epoch. */
  readonly atMs: number;
  /** A key id, `operator:<name>` or `system`. */
  readonly actor: string;
  /** `req_…` */
  readonly requestId: string;
  /** The position after this change. */
  readonly cursor: string;
  readonly change: FeedContent;
}

/** Of what a client sent, in a message. */
const QUOTED_LENGTH_MAX = 64;

const actions: ReadonlySet<unknown> = new Set(FEED_ACTIONS);

export function isFeedAction(action: unknown): action is FeedAction {
  return actions.has(action);
}

/** Parses a list separated by commas; each action once. Undefined: one of them is not an action of the feed. */
export function feedActionsOf(text: string): readonly FeedAction[] | undefined {
  const names = [...new Set(text.split(','))];
  return names.every(isFeedAction) ? names : undefined;
}

/**
 * What is wrong with a list separated by commas; undefined: nothing. It completes the sentence `"<parameter>" …`.
 * `form`: that of each item.
 */
export function filterFault(text: string, form: string, isItem: (item: string) => boolean): string | undefined {
  const items = text.split(',');
  if (text.length > FILTER_LENGTH_MAX) return `must have at most ${FILTER_LENGTH_MAX} characters`;
  if (items.length > FILTER_NAMES_MAX) {
    return `must have at most ${FILTER_NAMES_MAX} items, separated by commas; it has ${items.length}`;
  }
  const index = items.findIndex((item) => !isItem(item));
  if (index < 0) return undefined;
  return `must be ${form}, or several separated by commas; item ${index + 1}, ${JSON.stringify(items[index]?.slice(0, QUOTED_LENGTH_MAX))}, is not of that form`;
}

/** `document:viewer`: grants of that relation on objects of that namespace. */
export const isPair = (text: string): boolean => {
  const [namespace = '', relation = '', ...more] = text.split(':');
  return isNamespaceName(namespace) && isRelationName(relation) && more.length === 0;
};

/** Whether a grant is of one of the pairs. */
export function pairMatcher(pairs: readonly string[]): (grant: Pick<Grant, 'relation' | 'object'>) => boolean {
  const wanted = new Set(pairs);
  return ({ relation, object }) => wanted.has(`${namespaceOf(object)}:${relation}`);
}

/** The relations that a filter names. */
export const relationsIn = ({ relations = [], on = [] }: FeedFilter): readonly Relation[] =>
  [...relations, ...on.map((pair) => pair.slice(pair.indexOf(':') + 1))].map((name) => parseRelation(name));

/** From a change as the audit log stores it. Undefined: it is not part of the feed. */
export function parseFeedContent(text: string): FeedContent | undefined {
  const fields = parsed(text);
  const action = fields?.action;
  if (fields === undefined || !isFeedAction(action)) return undefined;
  switch (action) {
    case 'namespace.created':
      return typeof fields.name === 'string' ? { action, name: fields.name } : undefined;
    case 'rules.updated':
      if (fields.rules === undefined) return { action };
      return { action, texts: { rules: JSON.stringify(fields.rules), former: JSON.stringify(fields.former ?? {}) } };
    default: {
      const grant = grantIn(fields);
      const { former_terms: former } = fields;
      return grant && { action, grant, ...(isJsonObject(former) ? { formerTerms: termsInRecord(former) } : {}) };
    }
  }
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function grantIn(fields: JsonObject): Grant | undefined {
  const { subject, relation, object, grant_id: grantId } = fields;
  if (typeof subject !== 'string' || typeof relation !== 'string' || typeof object !== 'string') return undefined;
  if (typeof grantId !== 'string' || !isRelationName(relation)) return undefined;
  return grantOf({ subject, relation, object }, { ...attributesOfId(grantId), ...termsInRecord(fields) });
}

const setOf = <Item>(items: readonly Item[] | undefined): ReadonlySet<unknown> | undefined => items && new Set(items);

/** Undefined: everything passes. */
export function feedMatcher(filter: FeedFilter): ((change: Pick<FeedChange, 'change'>) => boolean) | undefined {
  const [namespaces, relations] = [setOf(filter.namespaces), setOf(filter.relations)];
  const [isOn, actions] = [filter.on && pairMatcher(filter.on), setOf(filter.actions)];
  if ([namespaces, relations, isOn, actions].every((part) => part === undefined)) return undefined;
  return ({ change }) => {
    if (actions?.has(change.action) === false) return false;
    switch (change.action) {
      case 'rules.updated':
        return true;
      case 'namespace.created':
        return relations === undefined && isOn === undefined && namespaces?.has(change.name) !== false;
      default: {
        const { grant } = change;
        if (relations?.has(grant.relation) === false || isOn?.(grant) === false) return false;
        return namespaces === undefined || namespaces.has(namespaceOf(grant.object));
      }
    }
  };
}

// ---- changes as JSON ----

/** A change of rules as one may know it who may not read them: that it happened, when and by whom. */
export const RULES_UPDATED_TEXT = JSON.stringify({ action: 'rules.updated' });

/** The members after `action`, each with a comma before it. Rules are compact JSON already. */
function contentJson(content: FeedContent): string {
  switch (content.action) {
    case 'namespace.created':
      return `,"namespace":{"name":${JSON.stringify(content.name)}}`;
    case 'rules.updated':
      return content.texts === undefined ? '' : `,"rules":${content.texts.rules},"former":${content.texts.former}`;
    default: {
      const { grant, formerTerms } = content;
      const former = formerTerms === undefined ? '' : `,"former_terms":${JSON.stringify(termsRecord(formerTerms))}`;
      return `,"grant":${JSON.stringify(grantRecord(grant))}${former}`;
    }
  }
}

/** One line. */
export function changeJson({ seq, index, atMs, actor, requestId, change }: FeedChange): string {
  const at = formatTimestamp(atMs);
  const who = `"actor":${JSON.stringify(actor)},"request_id":${JSON.stringify(requestId)}`;
  return `{"seq":${seq},"index":${index},"at":"${at}",${who},"action":"${change.action}"${contentJson(change)}}`;
}

/** What a change takes besides its identifiers, names, conditions and rules. */
const FRAME_BYTES = 1000;

const lengthOf = (grant: Grant, former?: GrantTerms): number =>
  grant.subject.length + grant.object.length + textOfTerms(grant).length + textOfTerms(former).length;

/** At least the UTF-8 bytes of a change: each UTF-16 unit takes up to three, escaped or not. */
export function changeBytesMax({ change }: FeedChange): number {
  switch (change.action) {
    case 'namespace.created':
      return FRAME_BYTES;
    case 'rules.updated':
      return FRAME_BYTES + 3 * ((change.texts?.rules.length ?? 0) + (change.texts?.former.length ?? 0));
    default:
      return FRAME_BYTES + 3 * lengthOf(change.grant, change.formerTerms);
  }
}
