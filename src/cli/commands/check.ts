// `grantd check`: one check. Its exit code is the answer, distinct from every failure.

import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { TENANT_OPTION } from '../command-parts.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { path } from '../operator-client.ts';
import { renderJson } from '../output/render.ts';
import { OBJECT_ARGUMENT, RELATION_ARGUMENT, SUBJECT_ARGUMENT } from './grants.ts';

export function registerCheckCommand(program: Command, context: CliContext): void {
  program
    .command('check')
    .description('check whether a subject holds a relation on an object')
    .argument(...SUBJECT_ARGUMENT)
    .argument(...RELATION_ARGUMENT)
    .argument(...OBJECT_ARGUMENT)
    .option(...TENANT_OPTION)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExit code: 0 authorized, 3 not authorized, 1 the check failed, 2 wrong usage.\n\nExamples:\n  grantd check user:ann viewer doc:readme --tenant ten_01k8x0000000000000000000zz\n',
    )
    .action(
      context.action(
        async (
          subject: string,
          relation: string,
          object: string,
          options: { readonly tenant: string; readonly json?: boolean },
        ) => {
          const client = await context.connect();
          const answer = await client.readJson({
            method: 'POST',
            path: path`/tenants/${options.tenant}/check`,
            json: { subject, relation, object },
          });
          const { authorized } = answer;
          if (typeof authorized !== 'boolean')
            throw new CliFailure('The response to the check is neither true nor false.');
          context.print(options.json ? renderJson(answer) : `authorized ${authorized}`);
          return authorized ? EXIT.ok : EXIT.denied;
        },
      ),
    );
}
