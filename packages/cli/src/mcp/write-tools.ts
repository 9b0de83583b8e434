// The tools that change a tenant. They exist only with --allow-writes.

import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ProblemFailure } from '../failures.ts';
import { putTenantRules } from '../tenant-rules.ts';
import type { RunTool } from './tool-runner.ts';
import * as schemas from './tool-schemas.ts';

/** Repeating any of them is safe. */
const WRITES = { readOnlyHint: false, idempotentHint: true, openWorldHint: false } as const;

const expiresAt = z.iso
  .datetime({ offset: true })
  .optional()
  .describe('When it ends, such as 2030-01-31T12:00:00Z. Give one to every grant that is for a task.');

export function registerWriteTools(server: McpServer, run: RunTool): void {
  server.registerTool(
    'create_grant',
    {
      title: 'Create a grant',
      description:
        'Lets a subject hold a relation on an object. An existing grant stays; its expiry and condition become those given here.',
      inputSchema: z.strictObject({ ...schemas.question, expires_at: expiresAt, condition: schemas.condition }),
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
        'Ends one grant: exactly this subject, relation and object. Checks that start afterwards do not follow it. Revoking it again changes nothing.',
      inputSchema: z.strictObject(schemas.question),
      outputSchema: schemas.revokedResult,
      annotations: { ...WRITES, destructiveHint: true },
    },
    (json) =>
      run(async (client) => {
        try {
          await client.readJson({ method: 'DELETE', path: '/grants', json });
          return { revoked: true };
        } catch (error) {
          if (error instanceof ProblemFailure && error.code === 'grant-not-found') return { revoked: false };
          throw error;
        }
      }),
  );
  server.registerTool(
    'write_rules',
    {
      title: 'Replace the rules',
      description:
        'Replaces all rules of the tenant. Try them with validate_rules first. Refused unless "revision" is that of the present rules, from read_rules.',
      inputSchema: z.strictObject({ ...schemas.rules, revision: z.string().regex(/^[0-9a-f]{32}$/) }),
      outputSchema: schemas.writtenRulesResult,
      annotations: { ...WRITES, destructiveHint: true },
    },
    ({ revision, ...rules }) =>
      run((client) => putTenantRules(client, schemas.rulesBody(rules), { ifMatch: revision })),
  );
}
