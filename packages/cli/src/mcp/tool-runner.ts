// How a tool calls the service: its answer is the structured result, and a failure is a result too, with the text of
// the problem, so that the agent can act on it. Invariant: no failure looks like an answer to a check.

import type { CallToolResult } from '@modelcontextprotocol/server';
import { CliFailure, ProblemFailure } from '../failures.ts';
import type { JsonRecord } from '../output/json-view.ts';
import type { ServiceClient } from '../service-client.ts';

/** An agent calls a few tools at once; more would only wait at the service. */
const CALLS_IN_FLIGHT_MAX = 16;

export type RunTool = (call: (client: ServiceClient) => Promise<JsonRecord>) => Promise<CallToolResult>;

/** What an agent can do about it, by the code of the problem. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['invalid-cursor', 'A cursor is for the tool and the arguments that it came from. Call again without it.'],
  ['precondition-failed', 'The rules have changed: call read_rules, and try yours with validate_rules again.'],
  ['unauthorized', 'The API key of this server is wrong, revoked or expired. Only a person can change that.'],
  ['insufficient-scope', 'The API key of this server may not do this. Only a person can change that.'],
  ['rate-limited', 'Nothing was done. Call again later.'],
  ['overloaded', 'Nothing was done. Call again in a moment.'],
  ['unavailable', 'It is unknown whether a change took effect. Calling again is safe.'],
]);

/** The text of a failure without what the command line adds for people. */
function textOf(failure: CliFailure): string {
  const hint = failure instanceof ProblemFailure ? HINTS.get(failure.code) : undefined;
  return hint === undefined ? failure.fault : `${failure.fault}\n  ${hint}`;
}

const failed = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

export function toolRunner(client: ServiceClient): RunTool {
  let inFlight = 0;
  return async (call) => {
    if (inFlight === CALLS_IN_FLIGHT_MAX) {
      return failed(`${CALLS_IN_FLIGHT_MAX} calls are in flight already. Nothing was done: call again after them.`);
    }
    inFlight += 1;
    try {
      const warnings: string[] = [];
      const answer = await call(client.withWarnings((warning) => void warnings.push(warning)));
      const result = warnings.length === 0 ? { ...answer } : { ...answer, warnings };
      return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
    } catch (error) {
      if (!(error instanceof CliFailure)) throw error;
      return failed(textOf(error));
    } finally {
      inFlight -= 1;
    }
  };
}
