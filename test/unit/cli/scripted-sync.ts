// `grantd sync` with a history in place of the service.

import type { MirroredGrant } from '../../../packages/sync/src/mirror.ts';
import { formatTimestamp } from '../../../src/core/text/timestamps.ts';
import type { ScriptedHistory } from '../../contract/mirror/scripted-history.ts';
import { type CliRun, type CliRunOptions, runCli } from './cli-run.ts';

const recordOf = ({ expires_at, conditional, ...tuple }: MirroredGrant) => ({
  ...tuple,
  expires_at: expires_at === null ? null : formatTimestamp(expires_at),
  ...(conditional && { condition: { name: 'allowed' } }),
});

/** Serves a history. `change`: of the body of each response. */
function serviceOf(history: ScriptedHistory, change: (body: string) => string = (body) => body): typeof fetch {
  const bodyOf = async (url: URL): Promise<{ readonly json: unknown; readonly feed?: string } | undefined> => {
    const [pairs, cursor] = [(url.searchParams.get('on') ?? '').split(','), url.searchParams.get('cursor')];
    if (url.pathname === '/v1/join') {
      const { revision, joins } = await history.joins();
      return { json: { tenant_id: 'ten_a', revision, ...joins[0]?.join } };
    }
    if (url.pathname === '/v1/grants') {
      const { grants, seq, feed, next } = await history.snapshot(pairs, cursor ?? undefined);
      return { json: { grants: grants.map(recordOf), next_cursor: next ?? null, seq }, feed };
    }
    const page = await history.changes(pairs, cursor ?? '');
    if (page === undefined) return undefined;
    const changes = page.changes.map(({ seq, grant, isThere }) => {
      return { seq, index: 0, action: isThere ? 'grant.created' : 'grant.revoked', grant: recordOf(grant) };
    });
    return { json: { changes, next_cursor: page.cursor, seq: page.seq } };
  };
  return async (input, init) => {
    const found = await bodyOf(new URL(String(input)));
    if (found === undefined) {
      await new Promise((resolve) => init?.signal?.addEventListener('abort', resolve) ?? resolve(undefined));
      throw new Error('interrupted');
    }
    const headers = found.feed === undefined ? {} : { 'X-Service-Cursor': found.feed };
    return new Response(change(JSON.stringify(found.json)), { headers });
  };
}

/** Until the history has ended. `change`: of the body of each response. */
export function sync(
  history: ScriptedHistory,
  args: readonly string[],
  { change, ...options }: Partial<CliRunOptions> & { readonly change?: (body: string) => string } = {},
): Promise<CliRun> {
  const interruption = Promise.withResolvers<void>();
  history.onEnd = () => setImmediate(interruption.resolve);
  return runCli(['sync', ...args], {
    key: { url: 'http://service.test', secret: 'gk1_secret' },
    fetch: serviceOf(history, change),
    onInterrupt: (listener) => {
      void interruption.promise.then(listener);
      return () => undefined;
    },
    ...options,
  });
}
