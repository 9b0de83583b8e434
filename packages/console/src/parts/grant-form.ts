// The fields of a grant, or of a question about one, as a person types them: subject, relation, object, and when the
// grant expires. Reading them reports one error for each wrong field.

import { GrantdError } from '../../../../src/core/errors.ts';
import type { TermsRequest } from '../../../../src/core/grant-attributes.ts';
import { conditionInText, type ExpiryRequest, parseCondition } from '../../../../src/core/grant-terms.ts';
import { formatTimestamp, MS_PER_DAY, MS_PER_HOUR } from '../../../../src/core/text/timestamps.ts';
import {
  EVERY_SUBJECT,
  type Grant,
  isIdentifier,
  isNamespaceName,
  isRelation,
  isRelationName,
  isSubject,
  type Tuple,
} from '../../../../src/core/tuples.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import type { NamedTuple } from '../../../../src/rules/questions.ts';
import { grantedNames, isRuleName, type RuleSet } from '../../../../src/rules/rule-set.ts';
import { type Fields, parseDateTime, type Refusal, refuse, refuseAll } from '../forms.ts';
import { tenantPath } from '../page.ts';
import type { OperatorSession } from '../sessions.ts';
import {
  changeForm,
  choicesOf,
  type FormContent,
  formError,
  selectField,
  submit,
  type TextFieldOptions,
  textField,
} from './form-parts.ts';
import { buttonLink } from './parts.ts';

const SUBJECT_HINT = 'namespace:id, such as user:ada';
const STATES_HINT = `${SUBJECT_HINT}; nothing for a state`;
const OBJECT_HINT = 'namespace:id, such as document:plan';
const SUBJECT_REFUSED = `A subject is ${SUBJECT_HINT}, without spaces; of a state, it is *.`;
const OBJECT_REFUSED = `An object has the form ${OBJECT_HINT}, without spaces.`;
const NAME_REFUSED =
  'A relation or a name that a rule defines: a letter, then up to 63 letters, digits, “_”, “.” or “-”.';
const RELATION_SHOWN_FIRST = 'viewer';

export const subjectField = (options: Partial<TextFieldOptions>, filled: FormContent | undefined): Markup =>
  textField({ name: 'subject', label: 'Subject', hint: SUBJECT_HINT, ...options }, filled);

export const relationField = (ruleSet: RuleSet, filled: FormContent | undefined): Markup => {
  const choices = choicesOf('', grantedNames(ruleSet)).slice(1);
  return selectField({ name: 'relation', label: 'Relation', choices, value: RELATION_SHOWN_FIRST }, filled);
};

/** Offers the names while one is typed. `id`: needed if several forms of a page have this field. */
export function nameField(names: readonly string[], filled: FormContent | undefined, id = 'relation'): Markup {
  const field = textField(
    { name: 'relation', label: 'Relation', required: true, id, attributes: { list: `${id}-names` } },
    filled,
  );
  return html`${field}<datalist id="${id}-names">${names.map((name) => html`<option value=${name} />`)}</datalist>`;
}

export const objectField = (
  filled: FormContent | undefined,
  options: Partial<TextFieldOptions> = { required: true },
): Markup => textField({ name: 'object', label: 'Object', hint: OBJECT_HINT, ...options }, filled);

/** What is wrong with each of the given texts. The tenant's owner decides whether a well-formed name is defined. */
export function refuseTyped(typed: {
  readonly subject?: string | undefined;
  readonly name?: string;
  readonly object?: string | undefined;
  readonly namespace?: string;
}): Refusal | undefined {
  const { subject, name, object, namespace = '' } = typed;
  return refuseAll({
    subject: subject === undefined || isSubject(subject) ? undefined : SUBJECT_REFUSED,
    relation: name === undefined || isRuleName(name) ? undefined : NAME_REFUSED,
    object: object === undefined || isIdentifier(object) ? undefined : OBJECT_REFUSED,
    namespace: namespace === '' || isNamespaceName(namespace) ? undefined : 'This is not a valid namespace name.',
  });
}

/** A tuple of any name. */
export function readQuestion(fields: Fields): { readonly question: NamedTuple } | { readonly refusal: Refusal } {
  const [subject, relation, object] = [fields.typed('subject'), fields.typed('relation'), fields.typed('object')];
  const refusal = refuseTyped({ subject, name: relation, object });
  return refusal === undefined ? { question: { subject, relation, object } } : { refusal };
}

/** Without a subject, the relation is a state; the tenant's owner refuses others. */
export function readTuple(fields: Fields): { readonly tuple: Tuple } | { readonly refusal: Refusal } {
  const [typed, relation, object] = [fields.typed('subject'), fields.text('relation'), fields.typed('object')];
  const subject = typed === '' && !isRelation(relation) ? EVERY_SUBJECT : typed;
  const refusal = refuseTyped({ subject, object });
  if (refusal === undefined && isRelationName(relation)) return { tuple: { subject, relation, object } };
  const messages = isRelationName(relation) ? {} : { relation: 'This must be one of the relations.' };
  return { refusal: { status: 422, messages: { ...messages, ...refusal?.messages } } };
}

/** Choices with a time from now on. */
const DURATIONS_MS: ReadonlyMap<string, number> = new Map([
  ['1h', MS_PER_HOUR],
  ['1d', MS_PER_DAY],
  ['7d', 7 * MS_PER_DAY],
  ['30d', 30 * MS_PER_DAY],
  ['90d', 90 * MS_PER_DAY],
  ['1y', 365 * MS_PER_DAY],
]);

const EXPIRIES = [
  { value: '', text: 'No expiry' },
  { value: '1h', text: 'In an hour' },
  { value: '1d', text: 'In a day' },
  { value: '7d', text: 'In 7 days' },
  { value: '30d', text: 'In 30 days' },
  { value: '90d', text: 'In 90 days' },
  { value: '1y', text: 'In a year' },
  { value: 'date', text: 'At a date' },
  { value: 'never', text: 'Remove the expiry' },
] as const;

/** A part of a form that few need: closed, unless it is filled in or refused. */
const optionalPart = (
  summary: string,
  names: readonly string[],
  filled: FormContent | undefined,
  fields: Markup,
): Markup => {
  const isOpen = names.some(
    (name) => filled?.fields.optional(name) !== undefined || filled?.refusal?.messages[name] !== undefined,
  );
  return html`<details class="optional" open=${isOpen}><summary>${summary}</summary>${fields}</details>`;
};

export const expiryFields = (filled: FormContent | undefined): Markup =>
  optionalPart(
    'Expiry',
    ['expires', 'expires-at'],
    filled,
    html`<div class="expiry">${selectField(
      {
        name: 'expires',
        label: 'Expires',
        hint: 'A grant that exists already keeps its expiry with “No expiry”.',
        choices: EXPIRIES,
        value: '',
      },
      filled,
    )}
    ${textField({ name: 'expires-at', label: 'Date and time (UTC)', type: 'datetime-local' }, filled)}</div>`,
  );

/** Only for a tenant whose rules declare conditions. */
export function conditionField({ conditions }: RuleSet, filled: FormContent | undefined): Markup {
  if (conditions.length === 0 && filled?.refusal?.messages.condition === undefined) return undefined;
  const hint = html`The grant counts only where it is met: ${conditions.map(({ name }) => name).join(', ')}. Its context
    may follow as JSON: <code>NAME {"zone": "UTC"}</code>. Empty: none, and an existing grant keeps its own.`;
  const list = 'conditions';
  const field = textField({ name: 'condition', label: 'Condition', hint, attributes: { list } }, filled);
  const names = html`<datalist id=${list}>${conditions.map(({ name }) => html`<option value=${name} />`)}</datalist>`;
  return optionalPart('Condition', ['condition'], filled, [field, names]);
}

/** Reads a date in the future from the field of that name. */
export function readFuture(
  fields: Fields,
  name: string,
  nowMs: number,
): { readonly ms: number } | { readonly refusal: Refusal } {
  const ms = parseDateTime(fields.typed(name));
  if (ms === undefined) return { refusal: refuse(name, 'This is not a date and time.') };
  return ms > nowMs ? { ms } : { refusal: refuse(name, 'This must be in the future.') };
}

export function readExpiry(
  fields: Fields,
  nowMs: number,
): { readonly expiry: ExpiryRequest } | { readonly refusal: Refusal } {
  const chosen = fields.text('expires');
  if (!EXPIRIES.some(({ value }) => value === chosen)) {
    return { refusal: refuse('expires', 'This must be one of the choices.') };
  }
  if (chosen === 'date') {
    const read = readFuture(fields, 'expires-at', nowMs);
    return 'ms' in read ? { expiry: { expiresAtMs: read.ms } } : read;
  }
  if (fields.typed('expires-at') !== '') {
    return { refusal: refuse('expires-at', 'Choose “At a date”, or leave this empty.') };
  }
  if (chosen === 'never') return { expiry: { expiresAtMs: null } };
  const durationMs = DURATIONS_MS.get(chosen);
  return { expiry: durationMs === undefined ? {} : { expiresAtMs: nowMs + durationMs } };
}

/** The fields of the terms. */
export const TERM_FIELDS = ['expires', 'expires-at', 'condition'];

/** What the form requests of a grant besides its tuple. */
export function readTerms(
  fields: Fields,
  nowMs: number,
): { readonly terms: TermsRequest } | { readonly refusal: Refusal } {
  const end = readExpiry(fields, nowMs);
  if ('refusal' in end) return end;
  const condition = fields.typed('condition');
  if (condition === '') return { terms: end.expiry };
  try {
    return { terms: { ...end.expiry, ...parseCondition(conditionInText(condition)) } };
  } catch (error) {
    return { refusal: refuse('condition', GrantdError.from(error).message) };
  }
}

/** The fields of the form that create a grant on these terms. */
export const termsAsTyped = ({ expiresAtMs, condition }: TermsRequest): Readonly<Record<string, string>> => ({
  ...(typeof expiresAtMs === 'number'
    ? { expires: 'date', 'expires-at': formatTimestamp(expiresAtMs).slice(0, -1) }
    : {}),
  ...(typeof condition === 'string' ? { condition } : {}),
});

/** Leads to the confirmation. It also has the terms of the grant, so that the revocation can be undone. */
export function revokeLink(tenantId: string, grant: Grant): Markup {
  const { subject, relation, object } = grant;
  const path = tenantPath(tenantId, 'grants/revoke', { subject, relation, object, ...termsAsTyped(grant) });
  return buttonLink(path, 'Revoke …', 'danger outline', `Revoke ${relation} on ${object}`);
}

/** What the form of a new grant already says. */
export type GrantDraft = Readonly<Partial<Record<'subject' | 'object', string>>>;

/** The form that creates a grant: in a dialog of the grants page, or on a page of its own. */
export function grantForm(
  session: OperatorSession,
  tenantId: string,
  ruleSet: RuleSet,
  { subject, object }: GrantDraft,
  filled: FormContent | undefined,
): Markup {
  const path = tenantPath(tenantId, 'grants');
  const leave = tenantPath(tenantId, 'grants', subject === undefined ? { object } : { subject });
  const mayLack = ruleSet.states.length === 0 ? { required: true } : { hint: STATES_HINT };
  const fields = html`${formError(filled)}
    <div class="tuple">
      ${subjectField({ id: 'new-subject', value: subject ?? '', ...mayLack }, filled)}
      ${relationField(ruleSet, filled)}
      ${objectField(filled, { id: 'new-object', value: object ?? '', required: true })}
    </div>
    ${expiryFields(filled)}
    ${conditionField(ruleSet, filled)}
    <p class="buttons">${submit('Create the grant')}
      <a class="button secondary outline" href=${leave} data-close>Cancel</a></p>`;
  return html`<article id="grant-form">
    <h2 id="grant-form-title">Create a grant</h2>
    ${changeForm(session, path, fields, { htmxTarget: '#grant-form' })}
    <p class="hint"><a href=${tenantPath(tenantId, 'grants/lines')}>Create many grants at once</a></p>
  </article>`;
}

/** The link to that form, and the dialog in which the page's script opens it. Only for who may send it. */
export const grantDialog = (session: OperatorSession, tenantId: string, ruleSet: RuleSet, shown: GrantDraft) =>
  session.access === 'full'
    ? {
        link: html`<a class="button" href=${tenantPath(tenantId, 'grants/new', shown)} data-dialog="grant-dialog">Create a grant</a>`,
        dialog: html`<dialog id="grant-dialog" aria-labelledby="grant-form-title">
          ${grantForm(session, tenantId, ruleSet, shown, undefined)}
        </dialog>`,
      }
    : { link: undefined, dialog: undefined };
