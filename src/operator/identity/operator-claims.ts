// Who an operator is and what they may do, according to the claims of a token that has been verified. Invariant: no
// claim that is missing, unknown or of another type gives access. A name from here never equals that of an operator
// token, and two subjects never share one.

import { createHash } from 'node:crypto';
import type { Operator } from '../../core/scopes.ts';

export interface ClaimRules {
  readonly nameClaim: string;
  readonly accessClaim: string;
  readonly fullValues: readonly string[];
  readonly readOnlyValues: readonly string[];
  readonly groupsClaim: string;
  /** Every one of them is required. */
  readonly requiredGroups: readonly string[];
}

export type Admission =
  | { readonly kind: 'admitted'; readonly operator: Operator }
  /** `reason`: a sentence for the person, without values of the token. */
  | { readonly kind: 'refused'; readonly reason: string };

type Claims = Readonly<Record<string, unknown>>;

/** No operator token has a colon in its name. */
const NAME_PREFIX = 'oidc:';
/** The longest name that the audit log can filter by. */
const NAME_LENGTH_MAX = 64;
/** More than any provider gives, and far more than is read from a header. */
const CLAIM_LENGTH_MAX = 1024;
const DIGEST_LENGTH = 20;

/** `%` and `~` have meanings here, so they are escaped too. */
const escaped = (text: string): string =>
  Array.from(Buffer.from(text, 'utf8'), (byte) => {
    const character = String.fromCharCode(byte);
    return /[\w.@:/|+=-]/.test(character) && byte < 0x80 ? character : `%${byte.toString(16).padStart(2, '0')}`;
  }).join('');

/** A long name is cut and ends in `~` and a part of its digest. */
function operatorName(text: string): string {
  const name = `${NAME_PREFIX}${escaped(text)}`;
  if (name.length <= NAME_LENGTH_MAX) return name;
  const digest = createHash('sha256').update(text, 'utf8').digest('hex').slice(0, DIGEST_LENGTH);
  return `${name.slice(0, NAME_LENGTH_MAX - DIGEST_LENGTH - 1)}~${digest}`;
}

/** A claim is one text or a list of texts. A list with anything else in it counts as empty. */
function valuesOf(claims: Claims, name: string): readonly string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : [];
}

const refused = (reason: string): Admission => ({ kind: 'refused', reason });

export function admit(claims: Claims, rules: ClaimRules): Admission {
  const { nameClaim, accessClaim, fullValues, readOnlyValues, groupsClaim, requiredGroups } = rules;
  const name = Object.hasOwn(claims, nameClaim) ? claims[nameClaim] : undefined;
  if (typeof name !== 'string' || name === '' || name.length > CLAIM_LENGTH_MAX) {
    return refused(`The identity provider did not say who you are: the claim "${nameClaim}" is missing or unusable.`);
  }
  const groups = new Set(valuesOf(claims, groupsClaim));
  if (!requiredGroups.every((group) => groups.has(group))) {
    return refused(`You are not in every group that grantd requires (claim "${groupsClaim}").`);
  }
  const values = valuesOf(claims, accessClaim);
  const access = values.some((value) => fullValues.includes(value))
    ? 'full'
    : values.some((value) => readOnlyValues.includes(value))
      ? 'read-only'
      : undefined;
  if (access === undefined) {
    return refused(`The identity provider gives you no access to grantd (claim "${accessClaim}").`);
  }
  return { kind: 'admitted', operator: Object.freeze({ name: operatorName(name), access }) };
}
