// The tools that change nothing: checks, listings, the rules, and a dry run of others.

import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ruleSetRecord } from '../../../../src/rules/rule-set.ts';
import { sourceOf } from '../../../../src/rules/text/printer.ts';
import { putTenantRules, readTenantRules } from '../tenant-rules.ts';
import type { RunTool } from './tool-runner.ts';
import * as schemas from './tool-schemas.ts';

const { question, questions, subject, relation, object, namespace, called, limit, cursor } = schemas;
/** The world that a tool acts on is one tenant. */
const READS = { readOnlyHint: true, openWorldHint: false } as const;

function registerChecks(server: McpServer, run: RunTool): void {
  server.registerTool(
    'check',
    {
      title: 'Check a permission',
      description:
        'Whether a subject holds a relation on an object now, and why: "reason" says in its "text" what denies it, and names the grants that exclude the subject or are missing; "because" has the stored grants that a yes rests on, and "proof" those of context_grants, too.',
      inputSchema: z.strictObject({ ...question, ...called, proof: schemas.proof }),
      outputSchema: schemas.checkResult,
      annotations: READS,
    },
    ({ proof: wantsProof, ...input }) =>
      run(async (client) => {
        const json = { ...input, explain: true };
        const { proof, ...answer } = await client.readJson({ method: 'POST', path: '/check', json });
        return wantsProof && proof !== undefined ? { ...answer, proof } : answer;
      }),
  );
  server.registerTool(
    'check_many',
    {
      title: 'Check several permissions at one moment',
      description:
        'Up to 100 checks, all answered from the same state. Use it to act for somebody: one check for the agent and one for the person.',
      inputSchema: z.strictObject({ checks: questions, ...called }),
      outputSchema: schemas.checksResult,
      annotations: READS,
    },
    (json) => run((client) => client.readJson({ method: 'POST', path: '/check/bulk', json })),
  );
}

function registerListings(server: McpServer, run: RunTool): void {
  server.registerTool(
    'list_objects',
    {
      title: 'List objects',
      description: 'The objects on which a subject holds a relation, page by page.',
      inputSchema: z.strictObject({ subject, relation, namespace, ...called, limit, cursor }),
      outputSchema: schemas.objectsResult,
      annotations: READS,
    },
    (json) => run((client) => client.readJson({ method: 'POST', path: '/objects', json })),
  );
  server.registerTool(
    'list_subjects',
    {
      title: 'List subjects',
      description:
        'The subjects that hold a relation on an object, page by page. "user:*" stands for everybody of the namespace, but for those in "excluded".',
      inputSchema: z.strictObject({ relation, object, namespace, ...called, limit, cursor }),
      outputSchema: schemas.subjectsResult,
      annotations: READS,
    },
    (json) => run((client) => client.readJson({ method: 'POST', path: '/subjects', json })),
  );
  server.registerTool(
    'list_grants',
    {
      title: 'List grants',
      description:
        'The stored grants of one subject, or on one object: pass exactly one of the two. Rules do not count.',
      inputSchema: z.strictObject({
        subject: subject.optional(),
        object: object.optional(),
        relation: relation.optional(),
        limit,
        cursor,
      }),
      outputSchema: schemas.grantsResult,
      annotations: READS,
    },
    ({ limit, ...query }) =>
      run((client) => client.readJson({ method: 'GET', path: '/grants', query: { ...query, limit: String(limit) } })),
  );
}

export function registerReadTools(server: McpServer, run: RunTool): void {
  registerChecks(server, run);
  registerListings(server, run);
  server.registerTool(
    'read_rules',
    {
      title: 'Read the rules',
      description:
        'All rules of the tenant, as text with its comments and as JSON, and their revision, which write_rules needs.',
      inputSchema: z.strictObject({}),
      outputSchema: schemas.rulesResult,
      annotations: READS,
    },
    () =>
      run(async (client) => {
        const { ruleSet, revision } = await readTenantRules(client);
        return { revision, rules: sourceOf(ruleSet), rule_set: ruleSetRecord(ruleSet) };
      }),
  );
  server.registerTool(
    'validate_rules',
    {
      title: 'Try rules without setting them',
      description:
        'A dry run: whether the rules are valid, and what they would change for stored grants. Every place that is wrong is named.',
      inputSchema: z.strictObject(schemas.rules),
      outputSchema: schemas.previewResult,
      annotations: READS,
    },
    (rules) => run((client) => putTenantRules(client, schemas.rulesBody(rules), { dryRun: true })),
  );
}
