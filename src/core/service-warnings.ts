// Warnings to the developer, in the response header `X-Service-Warning`. They never affect the result of a call.

import { assertNever } from './assert.ts';

export const WARNING_HEADER = 'X-Service-Warning';

/**
 * Why no rule of the tenant can follow a grant. `groups-off`: its subject `ns:id#name` is no group, because the rules
 * have no groups. `unknown-name`: no subject can hold the name of its group. `not-public`: its subject `ns:*` does not
 * stand for all subjects, because the namespace is not public. `no-entity`: rules only follow its relation to entities,
 * and its subject is a group or `ns:*`.
 */
export const UNFOLLOWED_REASONS = Object.freeze(['groups-off', 'unknown-name', 'not-public', 'no-entity'] as const);
export type UnfollowedReason = (typeof UNFOLLOWED_REASONS)[number];

/** Why rules cannot follow a grant that was written. Absent: they can, or the tenant has none. */
export interface UnfollowedGrant {
  readonly notFollowed?: UnfollowedReason | undefined;
}

export type ServiceWarning =
  /** The tenant has no grant and no rule of the namespace, and never created it. */
  | { readonly code: 'unknown-namespace'; readonly namespace: string }
  /** A grant was written that the rules cannot follow. `grant`: its index in a bulk write. */
  | { readonly code: 'grant-not-followed'; readonly reason: UnfollowedReason; readonly grant?: number | undefined }
  /** Rules were written whose types do not allow so many stored grants; unless `complete`, or more. */
  | { readonly code: 'grants-outside-types'; readonly grants: number; readonly complete: boolean };

/** A bulk call may have more; these keep a header below a KiB. */
const WARNINGS_MAX = 10;

/** The value of the header; undefined without warnings. Names of namespaces need no quotes. */
export function warningHeaderOf(warnings: readonly ServiceWarning[]): string | undefined {
  return warnings.length === 0 ? undefined : warnings.slice(0, WARNINGS_MAX).map(headerValueOf).join(', ');
}

function headerValueOf(warning: ServiceWarning): string {
  switch (warning.code) {
    case 'unknown-namespace':
      return `unknown-namespace; namespace=${warning.namespace}`;
    case 'grant-not-followed':
      return `grant-not-followed; reason=${warning.reason}${warning.grant === undefined ? '' : `; grant=${warning.grant}`}`;
    case 'grants-outside-types':
      return `grants-outside-types; grants=${warning.grants}; complete=${warning.complete}`;
    default:
      return assertNever(warning);
  }
}

/** The warnings of an answered request: namespaces that it names, and of which the tenant has no grant and no rule. */
export const unknownNamespaceWarnings = ({
  unknownNamespaces = [],
}: {
  readonly unknownNamespaces?: readonly string[] | undefined;
}): readonly ServiceWarning[] => unknownNamespaces.map((namespace) => ({ code: 'unknown-namespace', namespace }));

/** The warnings about grants in the order of the request; at most one for each reason. */
export function unfollowedWarnings(grants: readonly UnfollowedGrant[]): readonly ServiceWarning[] {
  const warnings = new Map<UnfollowedReason, ServiceWarning>();
  for (const [grant, { notFollowed: reason }] of grants.entries()) {
    if (reason === undefined || warnings.has(reason)) continue;
    warnings.set(reason, { code: 'grant-not-followed', reason, ...(grants.length === 1 ? {} : { grant }) });
  }
  return [...warnings.values()];
}

const REASONS_IN_WORDS: Readonly<Record<UnfollowedReason, string>> = Object.freeze({
  'groups-off': 'its subject names a group, but the rules have no "groups"',
  'unknown-name': 'its subject is a group of a name that nobody can hold there',
  'not-public': 'its subject is everybody of a namespace that is not "public"',
  'no-entity': 'rules follow its relation to single entities, and its subject is a group or everybody',
});

export function describeWarning(warning: ServiceWarning): string {
  switch (warning.code) {
    case 'unknown-namespace':
      return `The tenant has no grant, rule or namespace "${warning.namespace}".`;
    case 'grant-not-followed':
      return `The rules can never follow this grant: ${REASONS_IN_WORDS[warning.reason]}.`;
    case 'grants-outside-types':
      return `The types of the rules do not allow ${warning.complete ? '' : 'at least '}${warning.grants} stored grants.`;
    default:
      return assertNever(warning);
  }
}

const parameterOf = (text: string, name: string): string | undefined =>
  text
    .split('; ')
    .find((part) => part.startsWith(`${name}=`))
    ?.slice(name.length + 1);

function warningOf(text: string): ServiceWarning | undefined {
  const [code] = text.split('; ');
  const namespace = parameterOf(text, 'namespace');
  if (code === 'unknown-namespace' && namespace !== undefined) return { code, namespace };
  const grants = Number(parameterOf(text, 'grants'));
  if (code === 'grants-outside-types' && Number.isSafeInteger(grants)) {
    return { code, grants, complete: parameterOf(text, 'complete') === 'true' };
  }
  const reason = UNFOLLOWED_REASONS.find((each) => each === parameterOf(text, 'reason'));
  return code === 'grant-not-followed' && reason !== undefined ? { code, reason } : undefined;
}

/** The warnings of a header, for people. A warning that this version does not know is returned unchanged. */
export function describeWarnings(header: string): readonly string[] {
  const texts = header === '' ? [] : header.split(', ');
  return texts.map((text) => {
    const warning = warningOf(text);
    return warning === undefined ? text : describeWarning(warning);
  });
}
