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
import { type Grant, grantOf, isRelationName, namespaceOf } from './tuples.ts';

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

/** A missing field lets everything pass. */
export interface FeedFilter {
  /** That of a grant's object, or a new one. Changes of rules pass for every namespace. */
  readonly namespace?: string | undefined;
  /** The relation of a grant. New namespaces do not pass; changes of rules pass for every relation. */
  readonly relation?: string | undefined;
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

const actions: ReadonlySet<unknown> = new Set(FEED_ACTIONS);

export function isFeedAction(action: unknown): action is FeedAction {
  return actions.has(action);
}

/** Parses a list separated by commas; each action once. Undefined: one of them is not an action of the feed. */
export function feedActionsOf(text: string): readonly FeedAction[] | undefined {
  const names = [...new Set(text.split(','))];
  return names.every(isFeedAction) ? names : undefined;
}

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

/** Undefined: everything passes. */
export function feedMatcher(filter: FeedFilter): ((change: Pick<FeedChange, 'change'>) => boolean) | undefined {
  const { namespace, relation } = filter;
  const wanted = filter.actions === undefined ? undefined : new Set(filter.actions);
  if (namespace === undefined && relation === undefined && wanted === undefined) return undefined;
  return ({ change }) => {
    if (wanted !== undefined && !wanted.has(change.action)) return false;
    switch (change.action) {
      case 'rules.updated':
        return true;
      case 'namespace.created':
        return relation === undefined && (namespace === undefined || change.name === namespace);
      default: {
        const { grant } = change;
        if (relation !== undefined && grant.relation !== relation) return false;
        return namespace === undefined || namespaceOf(grant.object) === namespace;
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
