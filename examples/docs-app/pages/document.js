// The page of one document.

import { addressOf } from './home.js';
import { html } from './html.js';
import { page } from './layout.js';

/**
 * @param {string | undefined} person
 * @param {import('../store.js').Thing} document
 * @param {{ editable: boolean, owned: boolean }} may
 */
export function documentPage(person, { object, title, text }, { editable, owned }) {
  const address = addressOf(object);
  const form = html`<form method="post" action="${address}" aria-label="Document">
  <label>Text <textarea name="text" maxlength="20000">
${text}</textarea></label>
  <button>Save</button>
</form>`;
  const forOwner = html`<p><a href="${address}/sharing">Share</a></p>
<form method="post" action="${address}/deletion"><button>Delete</button></form>`;
  return page(title, person, html`${editable ? form : html`<pre>${text}</pre>`}${owned ? forOwner : ''}`);
}
