// Parts of forms: fields with their labels, hints and errors. A refused field is recognizable for everyone: by words
// next to it, and for assistive technology by the attributes that link the two.

import { html, type Markup } from '../../../http/pages/markup.ts';
import type { Fields, Refusal } from '../forms.ts';
import type { OperatorSession } from '../sessions.ts';

/** The content of a form when it is shown: the values as typed before, with their errors. */
export interface Filled {
  readonly fields: Fields;
  readonly refusal: Refusal | undefined;
}

const readOnlyHint = (): Markup =>
  html`<p class="read-only">You have read-only access: you can see this form, but not send it.</p>`;

/**
 * A form that changes something. Only the session for which it was rendered can send it. An operator who may only read
 * sees it disabled.
 */
export function changeForm(
  session: OperatorSession,
  action: string,
  content: Markup,
  options: {
    readonly layout?: 'row' | 'stack' | 'inline';
    readonly htmxTarget?: string;
    readonly htmxTrigger?: string;
    readonly label?: string;
    /** The form only asks something: an operator who may only read can send it too. */
    readonly changesNothing?: boolean;
  } = {},
): Markup {
  const { layout = 'stack', htmxTarget, htmxTrigger, label, changesNothing = false } = options;
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
      : html`${readOnlyHint()}<fieldset disabled>${content}</fieldset>`;
  return html`<form method="post" action=${action} class="form-${layout}" novalidate aria-label=${label} ...${swap}>
    <input type="hidden" name="csrf" value=${session.csrf} />
    ${inner}
  </form>`;
}

function messageOf(filled: Filled | undefined, name: string): string | undefined {
  return filled?.refusal?.messages[name];
}

/** The error of the form as a whole. */
export function formError(filled: Filled | undefined): Markup {
  const message = messageOf(filled, 'form');
  return message === undefined ? undefined : html`<p class="form-error" role="alert" tabindex="-1">${message}</p>`;
}

interface FieldOptions {
  readonly name: string;
  readonly label: Markup;
  readonly hint?: Markup;
  readonly required?: boolean;
  /** Needed if several forms of a page have a field with this name. */
  readonly id?: string;
}

interface Described {
  readonly id: string;
  readonly attributes: Readonly<Record<string, string | boolean | undefined>>;
  readonly below: Markup;
}

function describe({ name, hint: told, required, id = name }: FieldOptions, filled: Filled | undefined): Described {
  const message = messageOf(filled, name);
  // An error that says the same as the hint takes its place.
  const hint = typeof told === 'string' && message?.includes(told) === true ? undefined : told;
  const ids = [hint === undefined ? '' : `${id}-hint`, message === undefined ? '' : `${id}-error`].filter(Boolean);
  return {
    id,
    attributes: {
      id,
      name,
      required: required === true,
      'aria-describedby': ids.length === 0 ? undefined : ids.join(' '),
      'aria-invalid': message === undefined ? undefined : 'true',
    },
    below: [
      message === undefined
        ? undefined
        : html`<small class="field-error" id="${id}-error" role="alert">${message}</small>`,
      hint === undefined ? undefined : html`<small class="field-hint" id="${id}-hint">${hint}</small>`,
    ],
  };
}

export interface TextFieldOptions extends FieldOptions {
  readonly type?: 'text' | 'password' | 'search' | 'datetime-local';
  readonly value?: string;
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

export function textField(options: TextFieldOptions, filled?: Filled): Markup {
  const { id, attributes, below } = describe(options, filled);
  const { type = 'text', label, placeholder, autocomplete = 'off' } = options;
  // A password must be typed again.
  const value = type === 'password' ? '' : (filled?.fields.optional(options.name) ?? options.value ?? '');
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <input
      type=${type} value=${value} placeholder=${placeholder} autocomplete=${autocomplete} spellcheck="false"
      autocapitalize="none" dir=${type === 'text' ? 'auto' : undefined} ...${attributes} ...${options.attributes ?? {}}
    />
    ${below}
  </div>`;
}

export function textArea(
  options: FieldOptions & {
    readonly rows: number;
    readonly lengthMax: number;
    readonly value?: string;
    readonly attributes?: Readonly<Record<string, string>>;
  },
  filled?: Filled,
): Markup {
  const { id, attributes, below } = describe(options, filled);
  const { rows, lengthMax, value = '' } = options;
  return html`<div class="field">
    <label for=${id}>${options.label}</label>
    <textarea rows=${String(rows)} maxlength=${String(lengthMax)} spellcheck="false" autocapitalize="none" autocomplete="off" dir="auto" ...${attributes} ...${options.attributes ?? {}}>${filled?.fields.text(options.name) ?? value}</textarea>
    ${below}
  </div>`;
}

/** One box that is sent as `yes`, or not at all. */
export function checkBox(options: { readonly name: string; readonly text: Markup; readonly checked: boolean }): Markup {
  return html`<div class="field box"><label>
    <input type="checkbox" name=${options.name} value="yes" checked=${options.checked} /> ${options.text}
  </label></div>`;
}

export function selectField(
  options: FieldOptions & {
    readonly choices: readonly { readonly value: string; readonly text: string }[];
    readonly value?: string;
  },
  filled?: Filled,
): Markup {
  const { id, attributes, below } = describe(options, filled);
  const chosen = filled?.fields.optional(options.name) ?? options.value;
  const choices = options.choices.map(
    ({ value, text }) => html`<option value=${value} selected=${value === chosen}>${text}</option>`,
  );
  return html`<div class="field">
    <label for=${id}>${options.label}</label>
    <select ...${attributes}>${choices}</select>
    ${below}
  </div>`;
}

export function checkBoxes(
  options: {
    readonly name: string;
    readonly legend: string;
    readonly choices: readonly { readonly value: string; readonly text: Markup }[];
    readonly checked: readonly string[];
  },
  filled?: Filled,
): Markup {
  const { name, legend, choices } = options;
  const message = messageOf(filled, name);
  const checked = filled === undefined ? options.checked : filled.fields.list(name);
  const error = { 'aria-describedby': `${name}-error`, 'aria-invalid': 'true' };
  return html`<fieldset class="field">
    <legend>${legend}</legend>
    ${choices.map(
      ({ value, text }) => html`<label>
        <input type="checkbox" name=${name} value=${value} checked=${checked.includes(value)} ...${message === undefined ? {} : error} />
        ${text}
      </label>`,
    )}
    ${message === undefined ? undefined : html`<small class="field-error" id="${name}-error" role="alert">${message}</small>`}
  </fieldset>`;
}

/** `name` and `value`: which of the buttons of a form was pressed. */
export function submit(
  text: string,
  kind: 'primary' | 'secondary' | 'danger' = 'primary',
  pressed: { readonly name?: string; readonly value?: string } = {},
): Markup {
  return html`<button type="submit" class=${kind === 'primary' ? undefined : kind} ...${{ ...pressed }}>${text}</button>`;
}
