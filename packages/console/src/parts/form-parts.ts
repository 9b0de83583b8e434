// Parts of forms: fields with their labels, hints and errors. A refused field is recognizable for everyone: by words
// next to it, and for assistive technology by the attributes that link the two.

import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import type { Fields, Refusal } from '../forms.ts';
import type { OperatorSession } from '../sessions.ts';
import { buttonLink } from './parts.ts';

/** The content of a form when it is shown: the values as typed before, with their errors. */
export interface FormContent {
  readonly fields: Fields;
  readonly refusal: Refusal | undefined;
}

/** A form keeps what was typed only if it was refused. */
export const refilled = (fields: Fields, refusal: Refusal | undefined): FormContent | undefined =>
  refusal && { fields, refusal };

export const hidden = (fields: Readonly<Record<string, string>>): Markup =>
  Object.entries(fields).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`);

/**
 * A form that changes something. Only the session for which it was rendered can send it. An operator with read-only
 * access sees it disabled.
 */
export function changeForm(
  session: OperatorSession,
  action: string,
  content: Markup,
  options: {
    readonly htmxTarget?: string;
    readonly htmxTrigger?: string | undefined;
    readonly label?: string;
    /** The form only reads: an operator with read-only access can send it too. */
    readonly changesNothing?: boolean;
  } = {},
): Markup {
  const { htmxTarget, htmxTrigger, label, changesNothing = false } = options;
  const swap =
    htmxTarget === undefined
      ? {}
      : {
          'hx-post': action,
          'hx-target': htmxTarget,
          'hx-select': htmxTarget,
          'hx-swap': 'outerHTML',
          'hx-trigger': htmxTrigger,
        };
  const inner =
    changesNothing || session.access === 'full'
      ? content
      : html`<p class="read-only">You have read-only access: you can see this form, but not send it.</p>
          <fieldset disabled>${content}</fieldset>`;
  return html`<form method="post" action=${action} class="form-stack" novalidate aria-label=${label} ...${swap}>
    ${hidden({ csrf: session.csrf })}
    ${inner}
  </form>`;
}

/** A form that searches or filters: its fields stand in a row, and become the query of the page. */
export const queryForm = (action: string, content: Markup, label?: string): Markup =>
  html`<form method="get" action=${action} class="form-row" novalidate aria-label=${label}>${content}</form>`;

const messageOf = (filled: FormContent | undefined, name: string): string | undefined =>
  filled?.refusal?.messages[name];

/** The error of the form as a whole. */
export function formError(filled: FormContent | undefined): Markup {
  const message = messageOf(filled, 'form');
  return message && html`<p class="form-error" role="alert" tabindex="-1">${message}</p>`;
}

interface FieldOptions {
  readonly name: string;
  readonly label: Markup;
  readonly hint?: Markup;
  readonly required?: boolean;
  /** Needed if several forms of a page have a field with this name. */
  readonly id?: string;
  readonly value?: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

const fieldError = (id: string, message: string | undefined): Markup =>
  message && html`<small class="field-error" id="${id}-error" role="alert">${message}</small>`;

/** A label, the control that gets the attributes, and below it the error and the hint. */
function field(
  { name, label, hint: hintText, required = false, id = name, attributes = {} }: FieldOptions,
  filled: FormContent | undefined,
  control: (attributes: Readonly<Record<string, string | boolean | undefined>>) => Markup,
): Markup {
  const message = messageOf(filled, name);
  // An error that says the same as the hint takes its place.
  const hint = typeof hintText === 'string' && message?.includes(hintText) === true ? undefined : hintText;
  const ids = [hint && `${id}-hint`, message && `${id}-error`].filter(Boolean);
  const all = {
    id,
    name,
    required,
    'aria-describedby': ids.length === 0 ? undefined : ids.join(' '),
    'aria-invalid': message && 'true',
    ...attributes,
  };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${control(all)}
    ${fieldError(id, message)}${hint && html`<small class="field-hint" id="${id}-hint">${hint}</small>`}
  </div>`;
}

export interface TextFieldOptions extends FieldOptions {
  /** `datetime-local`: in UTC, as text; the page's script makes it a field in the zone of the person. */
  readonly type?: 'text' | 'password' | 'search' | 'datetime-local';
  readonly placeholder?: string;
  readonly autocomplete?: string;
}

export function textField(options: TextFieldOptions, filled?: FormContent): Markup {
  const { name, autocomplete = 'off' } = options;
  const isDate = options.type === 'datetime-local';
  const type = isDate ? 'text' : (options.type ?? 'text');
  const placeholder = isDate ? '2030-01-31 17:00' : options.placeholder;
  // A password must be typed again.
  const value = type === 'password' ? '' : (filled?.fields.optional(name) ?? options.value ?? '');
  return field(
    options,
    filled,
    (attributes) => html`<input
      type=${type} value=${value} placeholder=${placeholder} autocomplete=${autocomplete} spellcheck="false"
      autocapitalize="none" dir=${type === 'text' ? 'auto' : undefined} data-date=${isDate ? 'utc' : undefined} ...${attributes}
    />`,
  );
}

export const textArea = (
  options: FieldOptions & { readonly rows: number; readonly lengthMax: number },
  filled?: FormContent,
): Markup =>
  field(
    options,
    filled,
    (attributes) =>
      html`<textarea rows=${String(options.rows)} maxlength=${String(options.lengthMax)} spellcheck="false" autocapitalize="none" autocomplete="off" dir="auto" ...${attributes}>${filled?.fields.text(options.name) ?? options.value ?? ''}</textarea>`,
  );

export interface Choice<Text = string> {
  readonly value: string;
  readonly text: Text;
}

/** `all`: the text of the first choice, which stands for every value. */
export const choicesOf = (all: string, values: readonly string[]): readonly Choice[] => [
  { value: '', text: all },
  ...values.map((value) => ({ value, text: value })),
];

export function selectField(
  options: FieldOptions & { readonly choices: readonly Choice[] },
  filled?: FormContent,
): Markup {
  const chosen = filled?.fields.optional(options.name) ?? options.value ?? '';
  const choices = options.choices.map(
    ({ value, text }) => html`<option value=${value} selected=${value === chosen}>${text}</option>`,
  );
  return field(options, filled, (attributes) => html`<select ...${attributes}>${choices}</select>`);
}

/** One box that is sent as `yes`, or not at all. */
export const checkBox = (options: {
  readonly name: string;
  readonly text: Markup;
  readonly checked: boolean;
}): Markup =>
  html`<div class="field box"><label>
    <input type="checkbox" name=${options.name} value="yes" checked=${options.checked} /> ${options.text}
  </label></div>`;

export function checkBoxes(
  options: {
    readonly name: string;
    readonly legend: string;
    readonly choices: readonly Choice<Markup>[];
    readonly checked: readonly string[];
  },
  filled?: FormContent,
): Markup {
  const { name, legend, choices } = options;
  const message = messageOf(filled, name);
  const checked = filled === undefined ? options.checked : filled.fields.list(name);
  const error = message === undefined ? {} : { 'aria-describedby': `${name}-error`, 'aria-invalid': 'true' };
  return html`<fieldset class="field">
    <legend>${legend}</legend>
    ${choices.map(
      ({ value, text }) => html`<label>
        <input type="checkbox" name=${name} value=${value} checked=${checked.includes(value)} ...${error} />
        ${text}
      </label>`,
    )}
    ${fieldError(name, message)}
  </fieldset>`;
}

type ButtonKind = 'primary' | 'secondary' | 'danger';

/** `name` and `value`: which of the buttons of a form was pressed. */
export const submit = (
  text: string,
  kind: ButtonKind = 'primary',
  pressed: { readonly name?: string; readonly value?: string } = {},
): Markup =>
  html`<button type="submit" class=${kind === 'primary' ? undefined : kind} ...${{ ...pressed }}>${text}</button>`;

/** The end of a form: the button that sends it, and the link that leaves it. */
export const submitOrLeave = (text: string, kind: ButtonKind, leaveTo: string, leaveText = 'Cancel'): Markup =>
  html`<p class="buttons">${submit(text, kind)} ${buttonLink(leaveTo, leaveText)}</p>`;
