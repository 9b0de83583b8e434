// The three fields of a tuple, as a person types them: all errors are reported at once, one message per wrong field.

import { isIdentifier, isRelation, RELATIONS, type Tuple } from '../../../core/tuples.ts';
import type { Fields, Refusal } from '../forms.ts';
import type { Markup } from '../markup.ts';
import { type Filled, selectField, type TextFieldOptions, textField } from './form-parts.ts';

export const SUBJECT_HINT = 'namespace:id, such as user:ada';
const OBJECT_HINT = 'namespace:id, such as document:plan';
export const SUBJECT_REFUSED = `A subject is ${SUBJECT_HINT}, without spaces.`;
export const OBJECT_REFUSED = `An object has the form ${OBJECT_HINT}, without spaces.`;
export const RELATION_REFUSED = 'This must be one of the relations.';
const RELATION_SHOWN_FIRST = 'viewer';

export function subjectField(options: Partial<TextFieldOptions>, filled: Filled | undefined): Markup {
  return textField({ name: 'subject', label: 'Subject', hint: SUBJECT_HINT, ...options }, filled);
}

export function relationField(filled: Filled | undefined): Markup {
  const choices = RELATIONS.map((relation) => ({ value: relation, text: relation }));
  return selectField({ name: 'relation', label: 'Relation', choices, value: RELATION_SHOWN_FIRST }, filled);
}

export function objectField(
  filled: Filled | undefined,
  options: Partial<TextFieldOptions> = { required: true },
): Markup {
  return textField({ name: 'object', label: 'Object', hint: OBJECT_HINT, ...options }, filled);
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
