// The page as text. Invariant: what people have written is escaped.

import { DOCUMENTS_PER_PAGE } from './list.js';

/** @type {Readonly<Record<string, string>>} */
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escaped = (/** @type {string} */ text) => text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

/** @param {Record<string, string>} parameters */
const addressOf = (parameters) => escaped(`/?${new URLSearchParams(parameters)}`);

/** @param {string} content */
const page = (content) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Documents</title>
<style>body { font: 1rem/1.5 system-ui; max-width: 40rem; margin: 1rem auto } time { color: #666 }</style>
${content}</html>
`;

/**
 * @param {{ person: string, people: readonly string[], search: string }} request
 * @param {Awaited<ReturnType<typeof import('./list.js').readPage>>} found
 * @param {number} durationMs
 */
export function listPage({ person, people, search }, { documents, form, at }, durationMs) {
  const last = documents.length === DOCUMENTS_PER_PAGE ? documents.at(-1) : undefined;
  const items = documents.map(
    ({ id, title, folder, updated_at }) =>
      `<li id="${id}">${escaped(title)} <time>${updated_at.toISOString().slice(0, 10)}, ${escaped(folder)}</time></li>\n`,
  );
  const next = last && { as: person, search, after: `${last.updated_at.getTime()},${last.id}` };
  return page(`<p>As ${people.map((each) => `<a href="${addressOf({ as: each, search })}">${each}</a>`).join(', ')}</p>
<h1>Documents that ${person} may read</h1>
<form><input type="hidden" name="as" value="${person}">
<input type="search" name="search" value="${escaped(search)}" aria-label="Title"> <button>Search</button></form>
<ul>
${items.join('')}</ul>
${next ? `<p><a rel="next" href="${addressOf(next)}">Older documents</a></p>` : ''}
<p>As of entry ${at.seq}, by ${form}, in ${durationMs.toFixed(0)} ms.</p>
`);
}

/** @param {string} message */
export const errorPage = (message) => page(`<h1>Sorry</h1>\n<p>${message}</p>\n`);
