// How a tool calls the service: its answer is the structured result, and a failure is a result too, with the text of
// the problem, so that the agent can act on it. Invariant: no failure looks like an answer to a check.

import type { CallToolResult } from '@modelcontextprotocol/server';
import { CliFailure } from '../failures.ts';
import type { JsonRecord } from '../output/json-view.ts';
import type { ServiceClient } from '../service-client.ts';

/** An agent calls a few tools at once; more would only wait at the service. */
const CALLS_IN_FLIGHT_MAX = 16;

export type RunTool = (call: (client: ServiceClient) => Promise<JsonRecord>) => Promise<CallToolResult>;

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
      return failed(error.message);
    } finally {
      inFlight -= 1;
    }
  };
}
