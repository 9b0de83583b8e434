// The context of a check or a listing on the command line: values for parameters of conditions, and grants that
// count for this call.

import { readFileSync, statSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { CALL_CONTEXT_BYTES_MAX } from '../../../src/core/call-context.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import { conditionInText } from '../../../src/core/grant-terms.ts';
import { isJsonObject, type JsonObject } from '../../../src/core/json-members.ts';
import { parseJson } from '../../../src/core/text/json.ts';
import { fieldsOf, splitCondition } from '../../../src/core/text/tuple-lines.ts';
import { utf8Text } from '../../../src/core/text/utf8.ts';
import { reasonOf } from './failures.ts';

/** White space and escapes may make a context several times as long. */
const FILE_BYTES_MAX = 8 * CALL_CONTEXT_BYTES_MAX;

function readText(file: string): string {
  try {
    if (statSync(file).size > FILE_BYTES_MAX) throw new Error(`it is longer than ${FILE_BYTES_MAX / 1024} KiB`);
    return utf8Text(readFileSync(file));
  } catch (error) {
    throw new InvalidArgumentError(`Cannot read ${file}: ${reasonOf(error)}.`);
  }
}

/** The value of an option that is a JSON object, or `@` and the name of a file with one. */
export function jsonObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = parseJson(text.startsWith('@') ? readText(text.slice(1)) : text, 'The value');
  } catch (error) {
    throw error instanceof GrantdError ? new InvalidArgumentError(error.message) : error;
  }
  if (isJsonObject(value)) return value;
  throw new InvalidArgumentError('It must be a JSON object.');
}

/**
 * A grant as text, not yet validated: `subject relation object`, or with `with CONDITION {"parameter": "value"}` after
 * it. Throws `invalid-request` for any other text.
 */
export function grantInText(text: string): JsonObject {
  const { tuple, condition } = splitCondition(text);
  const [subject, relation, object, ...more] = fieldsOf(tuple.trim());
  if (object === undefined || more.length > 0) {
    throw new GrantdError(
      'invalid-request',
      `${JSON.stringify(text.slice(0, 200))} is not a grant: write subject, relation and object, optionally followed by "with" and a condition.`,
    );
  }
  return { subject, relation, object, ...(condition === undefined ? {} : { condition: conditionInText(condition) }) };
}

function addGrant(text: string, previous: readonly JsonObject[] = []): readonly JsonObject[] {
  try {
    return [...previous, grantInText(text)];
  } catch (error) {
    throw new InvalidArgumentError(GrantdError.from(error).message);
  }
}

export interface ContextOptions {
  readonly context?: JsonObject;
  readonly contextGrant?: readonly JsonObject[];
}

export const addContextOptions = (command: Command): Command =>
  command
    .option('--context <json>', 'values for parameters of conditions: a JSON object, or @FILE with one', jsonObject)
    .option(
      '--context-grant <grant>',
      'a grant that counts for this call alone: "user:ann viewer doc:a", or with \'with CONDITION {"key":"value"}\' after it; may be repeated',
      addGrant,
    );

/** The members of a body for these options. */
export function contextMembers({ context, contextGrant }: ContextOptions): JsonObject | undefined {
  if (context === undefined && contextGrant === undefined) return undefined;
  return { ...(context && { context }), ...(contextGrant && { context_grants: contextGrant }) };
}
