// Fields that calls have in common.

import { hasApiKeyForm } from '../../core/api-keys.ts';
import { isCondition } from '../../core/grant-terms.ts';
import { parseKeyId, parseTenantId } from '../../core/ids.ts';
import { PAGE_LIMIT_MAX } from '../../core/limits.ts';
import { IDENTIFIER_LENGTH_MAX, isIdentifier, isRelationName, isSubject, relationOf } from '../../core/tuples.ts';
import { isRuleName } from '../../rules/rule-set.ts';
import type { PageQuery, ResultPage } from '../../shard/shard.ts';
import { demand } from '../wire-violation.ts';
import * as s from './schema.ts';

/** UTF-16 units: a code point takes two at most. */
const IDENTIFIER_UNITS_MAX = 2 * IDENTIFIER_LENGTH_MAX;
/** For ids, hashes, and names of plans and operators: far above any that this program creates. */
export const SHORT_TEXT_MAX = 256;
const HASH_PATTERN = /^[0-9a-f]{64}$/;

export const shortText = s.textOf(SHORT_TEXT_MAX);
export const identifierText = s.textOf(IDENTIFIER_UNITS_MAX);
export const tenantId = s.form('a tenant id', parseTenantId);
export const keyId = s.form('a key id', parseKeyId);
/** The same, of a port that takes any text. */
export const tenantIdText: s.Field<string> = s.formOf('a tenant id', (each) => parseTenantId(each) !== undefined);
export const keyIdText: s.Field<string> = s.formOf('a key id', (each) => parseKeyId(each) !== undefined);
/** The error does not quote the value, which may be a key all the same. */
export const apiKey = s.formOf('an API key', hasApiKeyForm);
export const hash = s.formOf('a hash', (each) => HASH_PATTERN.test(each));
export const identifier = s.formOf('an identifier', isIdentifier);
export const subject = s.formOf('a subject', isSubject);
/** A relation, built-in or own, or a name that rules may define: all have the same form. */
export const relation = s.formOf('a relation', isRelationName);
/** The same, where it need not be a relation. */
export const ruleName = s.formOf('a name', isRuleName);
export const condition = s.formOf('a condition', isCondition);

export const limit = s.uint32In(1, PAGE_LIMIT_MAX);
export const pageFields = { limit, cursor: s.orUndefined(s.text) };
export const pageQuery = s.message<PageQuery>(pageFields);

/** A page of a listing, whose items are in a field of that name. */
export const page = <Item>(wireName: string, item: s.Field<Item>): s.Field<ResultPage<Item>> =>
  s.message<ResultPage<Item>>({ items: s.as(wireName, s.list(item)), nextCursor: s.orUndefined(s.text) });

/** Demands the lengths of a check's tuple: no grant contains an invalid identifier, and the front has parsed these. */
export function demandTuple(subject: string, relation: number, object: string): void {
  demand(relationOf(relation) !== undefined, 'A check names a relation by an unknown number.');
  demandIdentifiers(subject, object);
}

export function demandIdentifiers(subject: string, object: string): void {
  demand(
    subject.length <= IDENTIFIER_UNITS_MAX && object.length <= IDENTIFIER_UNITS_MAX,
    'An identifier is longer than any valid one.',
  );
}
