// The home page: the user's documents, folders and teams, and forms to create them.

import { html } from './html.js';
import { page } from './layout.js';

/** @typedef {import('../store.js').Thing} Thing */

const titleField = html`<label>Title <input name="title" required maxlength="100"></label>`;

/** @param {string} object */
export const addressOf = (object) => `/${object.replace(':', '/')}`;

/** @param {readonly { thing: Thing, editable: boolean }[]} documents */
const documentList = (documents) =>
  html`<ul>${documents.map(
    ({ thing, editable }) =>
      html`<li><a href="${addressOf(thing.object)}">${thing.title}</a> ${editable ? 'you may edit it' : ''}</li>`,
  )}</ul>`;

/**
 * @param {readonly Thing[]} things
 * @param {ReadonlySet<string>} owned
 */
const thingList = (things, owned) =>
  html`<ul>${things.map(
    ({ object, title }) =>
      html`<li>${title} ${
        owned.has(object) ? html`<a href="${addressOf(object)}/sharing">Share ${title}</a>` : ''
      }</li>`,
  )}</ul>`;

/**
 * @param {string} person
 * @param {object} parts
 * @param {readonly { thing: Thing, editable: boolean }[]} parts.documents
 * @param {string | null} parts.cursor
 * @param {readonly Thing[]} parts.folders
 * @param {readonly Thing[]} parts.teams
 * @param {readonly Thing[]} parts.writable The folders for a new document.
 * @param {ReadonlySet<string>} parts.owned
 */
export function homePage(person, { documents, cursor, folders, teams, writable, owned }) {
  const options = writable.map(({ object, title }) => html`<option value="${object}">${title}</option>`);
  const content = html`<h2>Documents that you may see</h2>
${documentList(documents)}
${cursor === null ? '' : html`<p><a href="/?cursor=${encodeURIComponent(cursor)}">More</a></p>`}
<form method="post" action="/documents" aria-label="New document">
  ${titleField}
  <label>Folder <select name="folder"><option value="">none</option>${options}</select></label>
  <label>Text <textarea name="text" maxlength="20000"></textarea></label>
  <button>Create document</button>
</form>
<h2>Folders</h2>
${thingList(folders, owned)}
<form method="post" action="/folders" aria-label="New folder">${titleField} <button>Create folder</button></form>
<h2>Teams</h2>
${thingList(teams, owned)}
<form method="post" action="/teams" aria-label="New team">${titleField} <button>Create team</button></form>`;
  return page('My documents', person, content);
}
