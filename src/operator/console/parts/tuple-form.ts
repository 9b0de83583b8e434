// The three fields of a tuple, or of a question about one, as a person types them: all errors are reported at once, one
// message per wrong field.

import { isIdentifier, isRelation, RELATIONS, type Tuple } from '../../../core/tuples.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import type { NamedTuple } from '../../../rules/questions.ts';
import { isRuleName } from '../../../rules/rule-set.ts';
import type { Fields, Refusal } from '../forms.ts';
import { type Filled, selectField, type TextFieldOptions, textField } from './form-parts.ts';

export const SUBJECT_HINT = 'namespace:id, such as user:ada';
const OBJECT_HINT = 'namespace:id, such as document:plan';
export const SUBJECT_REFUSED = `A subject is ${SUBJECT_HINT}, without spaces.`;
export const OBJECT_REFUSED = `An object has the form ${OBJECT_HINT}, without spaces.`;
export const RELATION_REFUSED = 'This must be one of the relations.';
const NAME_REFUSED =
  'A relation or a name that a rule defines: a letter, then up to 63 letters, digits, “_”, “.” or “-”.';
const RELATION_SHOWN_FIRST = 'viewer';

export function subjectField(options: Partial<TextFieldOptions>, filled: Filled | undefined): Markup {
  return textField({ name: 'subject', label: 'Subject', hint: SUBJECT_HINT, ...options }, filled);
}

export function relationField(filled: Filled | undefined): Markup {
  const choices = RELATIONS.map((relation) => ({ value: relation, text: relation }));
  return selectField({ name: 'relation', label: 'Relation', choices, value: RELATION_SHOWN_FIRST }, filled);
}

/** Any of the names, by typing; `id`: needed if several forms of a page have one. */
export function nameField(names: readonly string[], filled: Filled | undefined, id = 'relation'): Markup {
  const field = textField(
    { name: 'relation', label: 'Relation', required: true, id, attributes: { list: `${id}-names` } },
    filled,
  );
  return html`${field}<datalist id="${id}-names">${names.map((name) => html`<option value=${name} />`)}</datalist>`;
}

export function objectField(
  filled: Filled | undefined,
  options: Partial<TextFieldOptions> = { required: true },
): Markup {
  return textField({ name: 'object', label: 'Object', hint: OBJECT_HINT, ...options }, filled);
}

/** Undefined if the text can be a name to ask about; whether the tenant has it, its owner knows. */
export const refusedName = (relation: string): string | undefined => (isRuleName(relation) ? undefined : NAME_REFUSED);

/** As `readTuple`, but with any name. */
export function readQuestion(fields: Fields): { readonly question: NamedTuple } | { readonly refusal: Refusal } {
  const subject = fields.text('subject').trim();
  const relation = fields.text('relation').trim();
  const object = fields.text('object').trim();
  const messages = {
    ...(isIdentifier(subject) ? {} : { subject: SUBJECT_REFUSED }),
    ...(isRuleName(relation) ? {} : { relation: NAME_REFUSED }),
    ...(isIdentifier(object) ? {} : { object: OBJECT_REFUSED }),
  };
  if (Object.keys(messages).length > 0) return { refusal: { status: 422, messages } };
  return { question: { subject, relation, object } };
}

export function readTuple(fields: Fields): { readonly tuple: Tuple } | { readonly refusal: Refusal } {
  const subject = fields.text('subject').trim();
  const relation = fields.text('relation');
  const object = fields.text('object').trim();
  if (isIdentifier(subject) && isRelation(relation) && isIdentifier(object)) {
    return { tuple: { subject, relation, object } };
  }
  const messages = {
    ...(isIdentifier(subject) ? {} : { subject: SUBJECT_REFUSED }),
    ...(isRelation(relation) ? {} : { relation: RELATION_REFUSED }),
    ...(isIdentifier(object) ? {} : { object: OBJECT_REFUSED }),
  };
  return { refusal: { status: 422, messages } };
}
