// When a grant ends, as a person chooses it and as pages show it.

import { assertNever } from '../../../core/assert.ts';
import type { ExpiryRequest } from '../../../core/grant-expiry.ts';
import { formatTimestamp } from '../../../core/text/timestamps.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { type Fields, type Refusal, refuse } from '../forms.ts';
import { parseDateTime } from './date-time.ts';
import { type Filled, selectField, textField } from './form-parts.ts';
import { span } from './parts.ts';

const DAY_MS = 24 * 3_600_000;

const PRESETS = [
  { value: '', text: 'No expiry' },
  { value: '30d', text: 'In 30 days' },
  { value: '90d', text: 'In 90 days' },
  { value: '1y', text: 'In a year' },
  { value: 'date', text: 'At a date' },
  { value: 'never', text: 'Remove the expiry' },
] as const;

type Preset = (typeof PRESETS)[number]['value'];

const isPreset = (text: string): text is Preset => PRESETS.some(({ value }) => value === text);

export const expiryFields = (filled: Filled | undefined): Markup =>
  html`${selectField(
    {
      name: 'expires',
      label: 'Expires',
      hint: 'An existing grant keeps its expiry with “No expiry”.',
      choices: PRESETS,
      value: '',
    },
    filled,
  )}
  ${textField(
    { name: 'expires-at', label: 'Date (UTC)', type: 'datetime-local', hint: 'Only for “At a date”.' },
    filled,
  )}`;

const dateRefused = (message: string) => ({ refusal: refuse('expires-at', message) });

export function readExpiry(
  fields: Fields,
  nowMs: number,
): { readonly expiry: ExpiryRequest } | { readonly refusal: Refusal } {
  const preset = fields.text('expires');
  if (!isPreset(preset)) return { refusal: refuse('expires', 'This must be one of the choices.') };
  const text = fields.text('expires-at').trim();
  if (preset !== 'date' && text !== '') return dateRefused('Choose “At a date”, or leave this empty.');
  switch (preset) {
    case '':
      return { expiry: {} };
    case '30d':
      return { expiry: { expiresAtMs: nowMs + 30 * DAY_MS } };
    case '90d':
      return { expiry: { expiresAtMs: nowMs + 90 * DAY_MS } };
    case '1y':
      return { expiry: { expiresAtMs: nowMs + 365 * DAY_MS } };
    case 'never':
      return { expiry: { expiresAtMs: null } };
    case 'date': {
      const expiresAtMs = parseDateTime(text);
      if (expiresAtMs === undefined) return dateRefused('This is not a date and time.');
      if (expiresAtMs <= nowMs) return dateRefused('This must be in the future.');
      return { expiry: { expiresAtMs } };
    }
    default:
      return assertNever(preset);
  }
}

/** The fields of the form that create a grant with this expiry. */
export const expiryAsTyped = (expiresAtMs: number | undefined): Readonly<Record<string, string>> =>
  expiresAtMs === undefined ? {} : { expires: 'date', 'expires-at': formatTimestamp(expiresAtMs).slice(0, -1) };

/** `in 3 days`, with the moment as its title. */
export function expiry(expiresAtMs: number | undefined, nowMs: number): Markup {
  if (expiresAtMs === undefined) return 'never';
  const text = formatTimestamp(expiresAtMs);
  const shown = expiresAtMs <= nowMs ? 'now' : `in ${span(expiresAtMs - nowMs)}`;
  return html`<time datetime=${text} title=${text}>${shown}</time>`;
}
