// The metadata of the service as an AuthZEN policy decision point (Authorization API 1.0, section "Policy Decision
// Point Metadata"). Invariant: it is made of the base URL alone, never of a request, and is the same for every tenant,
// since the key of a request names its tenant.

const WELL_KNOWN = '/.well-known/authzen-configuration';

export interface AuthzenConfiguration {
  /** Where clients that know the base URL look for it: the path of the base URL comes last. */
  readonly path: string;
  readonly json: string;
}

/** Undefined: a policy decision point is named by an https URL, and this service has none. */
export function createAuthzenConfiguration(baseUrl: string): AuthzenConfiguration | undefined {
  const { protocol, pathname } = new URL(baseUrl);
  if (protocol !== 'https:') return undefined;
  const access = `${baseUrl}/access/v1`;
  return {
    path: `${WELL_KNOWN}${pathname === '/' ? '' : pathname}`,
    json: JSON.stringify({
      policy_decision_point: baseUrl,
      access_evaluation_endpoint: `${access}/evaluation`,
      access_evaluations_endpoint: `${access}/evaluations`,
      search_subject_endpoint: `${access}/search/subject`,
      search_resource_endpoint: `${access}/search/resource`,
      search_action_endpoint: `${access}/search/action`,
    }),
  };
}
