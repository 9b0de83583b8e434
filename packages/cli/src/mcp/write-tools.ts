// The tools that change a tenant. They exist only with --allow-writes.

import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { putTenantRules } from '../tenant-rules.ts';
import type { RunTool } from './tool-runner.ts';
import * as schemas from './tool-schemas.ts';

/** Repeating any of them is safe. */
const WRITES = { readOnlyHint: false, idempotentHint: true, openWorldHint: false } as const;

const expiresAt = z.iso
  .datetime({ offset: true })
  .optional()
  .describe('When it ends, such as 2030-01-31T12:00:00Z. Give one to every grant that is for a task.');
const condition = z
  .strictObject({ name: z.string().min(1).max(64), context: schemas.context })
  .optional()
  .describe('A condition of the rules on which the grant depends.');

export function registerWriteTools(server: McpServer, run: RunTool): void {
  server.registerTool(
    'create_grant',
    {
      title: 'Create a grant',
      description:
        'Lets a subject hold a relation on an object. An existing grant stays; its expiry and condition become those given here.',
      inputSchema: z.strictObject({ ...schemas.question, expires_at: expiresAt, condition }),
      outputSchema: schemas.grantResult,
      annotations: { ...WRITES, destructiveHint: false },
    },
    (json) => run((client) => client.readJson({ method: 'POST', path: '/grants', json })),
  );
  server.registerTool(
    'revoke_grant',
    {
      title: 'Revoke a grant',
      description:
        'Ends one grant: exactly this subject, relation and object. Checks that start afterwards are denied.',
      inputSchema: z.strictObject(schemas.question),
      outputSchema: schemas.revokedResult,
      annotations: { ...WRITES, destructiveHint: true },
    },
    (json) =>
      run(async (client) => {
        await client.readJson({ method: 'DELETE', path: '/grants', json });
        return { revoked: true };
      }),
  );
  server.registerTool(
    'write_rules',
    {
      title: 'Replace the rules',
      description:
        'Replaces all rules of the tenant. Try them with validate_rules first. Refused unless "revision" is that of the present rules, from read_rules.',
      inputSchema: z.strictObject({ rule_set: schemas.ruleSet, revision: z.string().regex(/^[0-9a-f]{32}$/) }),
      outputSchema: schemas.writtenRulesResult,
      annotations: { ...WRITES, destructiveHint: true },
    },
    ({ rule_set: rules, revision }) => run((client) => putTenantRules(client, rules, { ifMatch: revision })),
  );
}
