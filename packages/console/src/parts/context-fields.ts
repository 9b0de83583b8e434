// What a question may bring along, as a person types it: values for the parameters of conditions, as JSON, and grants
// that count for this question alone, as lines or as JSON. Reading it reports one error for each wrong field.

import {
  CALL_CONTEXT_BYTES_MAX,
  type CallContext,
  NO_CONTEXT,
  parseCallContext,
} from '../../../../src/core/call-context.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { conditionInText } from '../../../../src/core/grant-terms.ts';
import type { JsonObject } from '../../../../src/core/json-members.ts';
import { CONTEXT_GRANTS_MAX } from '../../../../src/core/limits.ts';
import { parseJson } from '../../../../src/core/text/json.ts';
import { linesOf } from '../../../../src/core/text/tuple-lines.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { tenantIdOf } from '../../../../src/operator/path-ids.ts';
import { type Fields, NO_FIELDS, type Refusal, refuseAll } from '../forms.ts';
import { type PageCall, type PageResult, type Query, redirect, tenantPath } from '../page.ts';
import type { OperatorSession } from '../sessions.ts';
import { type FormContent, hidden, textArea } from './form-parts.ts';

/** UTF-16 units that each box takes: white space may make a context longer than its canonical text. */
const TEXT_LENGTH_MAX = 2 * CALL_CONTEXT_BYTES_MAX;
/** Every browser and proxy takes a path of this length. */
const LINK_LENGTH_MAX = 2000;
const GRANT_LINE = /^(\S+)\s+(\S+)\s+(\S+)(?:\s+with\s+(\S.*))?$/;

/** The texts of both boxes as they were typed; undefined where one is empty. */
export interface TypedContext {
  readonly context: string | undefined;
  readonly context_grants: string | undefined;
}

export const typedContext = (fields: Fields): TypedContext => ({
  context: fields.typed('context') || undefined,
  context_grants: fields.typed('context_grants') || undefined,
});

const isTyped = ({ context, context_grants: grants }: TypedContext): boolean =>
  context !== undefined || grants !== undefined;

/** Undefined: what was typed is too long for a link. */
export function linkTo(tenantId: string, path: string, query: Query): string | undefined {
  const link = tenantPath(tenantId, path, query);
  return link.length <= LINK_LENGTH_MAX ? link : undefined;
}

/** The page of one check, with the context as far as a link has room for it. */
export const checkLinkTo = (tenantId: string, question: Query, typed: TypedContext): string =>
  linkTo(tenantId, 'check', { ...question, ...typed }) ?? tenantPath(tenantId, 'check', question);

/** The form of a question. It is sent as a body, which has room for a context. */
export const questionForm = (session: OperatorSession, action: string, content: Markup, label: string): Markup =>
  html`<form method="post" action=${action} class="form-row" novalidate aria-label=${label}>
    ${hidden({ csrf: session.csrf })}${content}
  </form>`;

/** Receives that form: leads to the link of the question, or answers at once where it is too long for a link. */
export const askQuestion =
  (page: string, names: readonly string[], answer: (call: PageCall) => Promise<PageResult>) =>
  async (call: PageCall): Promise<PageResult> => {
    const { form } = call;
    const asked = Object.fromEntries(['relation', ...names].map((name) => [name, form.typed(name)]));
    const link = linkTo(tenantIdOf(call), page, { ...asked, ...typedContext(form) });
    if (asked.relation !== '' && link !== undefined) return redirect(link);
    return answer({ ...call, query: form, form: NO_FIELDS });
  };

/** Both boxes, open where one of them is filled in. `of`: completes “they count for …”. */
export function contextFields(filled: FormContent | undefined, of = 'this check'): Markup {
  const open = filled !== undefined && isTyped(typedContext(filled.fields));
  const context = {
    name: 'context',
    label: 'Context',
    hint: html`A JSON object with values for the parameters of conditions: <code>{"now": "2030-01-31T12:00:00Z"}</code>`,
    rows: 3,
    lengthMax: TEXT_LENGTH_MAX,
  };
  const grants = {
    name: 'context_grants',
    label: 'Context grants, one per line',
    hint: html`At most ${CONTEXT_GRANTS_MAX}; they count for ${of} alone: <code>user:ada member team:eng</code>, perhaps${' '}
      <code>with office_hours {"zone": "UTC"}</code>. The JSON array of the API works too.`,
    rows: 3,
    lengthMax: TEXT_LENGTH_MAX,
  };
  return html`<details class="context" open=${open || isRefused(filled)}>
    <summary>With a context</summary>
    ${textArea(context, filled)}${textArea(grants, filled)}
  </details>`;
}

/** The service may ask for a context where none was typed. */
const isRefused = (filled: FormContent | undefined): boolean =>
  ['context', 'context_grants'].some((name) => filled?.refusal?.messages[name] !== undefined);

/** As the API takes them. Throws `invalid-request`, which names the line. */
function grantsInLines(text: string): readonly object[] {
  return linesOf(text).map((line) => {
    const [, subject, relation, object, condition] = GRANT_LINE.exec(line.text) ?? [];
    if (subject === undefined) {
      const form = 'a grant is its subject, relation and object, and perhaps “with” a condition.';
      throw new GrantdError('invalid-request', `Line ${line.number}: ${form}`);
    }
    return { subject, relation, object, ...(condition && { condition: conditionInText(condition) }) };
  });
}

export interface ReadContext {
  readonly call: CallContext;
  /** `context` and `context_grants` as the API takes them. */
  readonly members: JsonObject;
  readonly typed: TypedContext;
}

function attempt(members: () => JsonObject): { readonly members: JsonObject; readonly call: CallContext } | string {
  try {
    const read = members();
    return { members: read, call: parseCallContext(read) };
  } catch (error) {
    const { code, message } = GrantdError.from(error);
    if (code === 'internal') throw error;
    return message;
  }
}

const NOTHING = { members: {}, call: NO_CONTEXT };

export function readContext(fields: Fields): ReadContext | { readonly refusal: Refusal } {
  const typed = typedContext(fields);
  const { context, context_grants: grants } = typed;
  const tooLong = (text: string): string | undefined =>
    text.length > TEXT_LENGTH_MAX
      ? `This is longer than ${TEXT_LENGTH_MAX.toLocaleString('en')} characters.`
      : undefined;
  const values =
    context === undefined
      ? NOTHING
      : (tooLong(context) ?? attempt(() => ({ context: parseJson(context, 'The context') })));
  const added =
    grants === undefined
      ? NOTHING
      : (tooLong(grants) ??
        attempt(() => ({
          context_grants: grants.startsWith('[') ? parseJson(grants, 'The list') : grantsInLines(grants),
        })));
  if (typeof values !== 'string' && typeof added !== 'string') {
    return { typed, call: { ...values.call, ...added.call }, members: { ...values.members, ...added.members } };
  }
  const refusal = refuseAll({
    context: typeof values === 'string' ? values : undefined,
    context_grants: typeof added === 'string' ? added : undefined,
  });
  return { refusal: refusal ?? { status: 422, messages: {} } };
}
