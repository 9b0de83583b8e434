// Who asks, and what of it may pass: a handler runs after grantd has said yes, and not without an answer.

import { Grantd, GrantdError } from '@grantd/client';

let client: Grantd | undefined;

/** One client for the process. It is made at the first request: a build has no GRANTD_URL and GRANTD_KEY. */
export function grantd(): Grantd {
  client ??= new Grantd({ timeoutMs: 2000 });
  return client;
}

/** The authenticated subject: here from a header of a proxy, in your application from the session. */
export function subjectOf(request: Request): string | undefined {
  const user = request.headers.get('x-authenticated-user');
  return user === null ? undefined : `user:${user}`;
}

const refusal = (status: number, headers: Record<string, string> = {}): Response =>
  Response.json({ status }, { status, headers });

/**
 * The response of a handler, for a subject that has been authenticated, and only then. What grantd refuses as
 * ill-formed is nobody's; without an answer, the response is a 503, and never that of the handler.
 */
export async function authenticated(
  request: Request,
  handler: (subject: string) => Promise<Response>,
): Promise<Response> {
  const subject = subjectOf(request);
  if (subject === undefined) return refusal(401);
  try {
    return await handler(subject);
  } catch (error) {
    if (!(error instanceof GrantdError)) throw error;
    if (error.type === 'invalid-subject') return refusal(403);
    if (error.type === 'invalid-object') return refusal(404);
    console.error(String(error));
    return refusal(503, { 'retry-after': '1' });
  }
}

/** The response of a handler, if the subject of the request has the relation on the object. */
export const authorized = (
  request: Request,
  { relation, object }: { readonly relation: string; readonly object: string },
  handler: () => Promise<Response> | Response,
): Promise<Response> =>
  authenticated(request, async (subject) =>
    (await grantd().check({ subject, relation, object })) ? handler() : refusal(403),
  );
