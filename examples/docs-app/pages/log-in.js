// The log-in page, on which users choose who they are.

import { html } from './html.js';
import { page } from './layout.js';

/** @param {readonly string[]} people */
export function logInPage(people) {
  const content = html`<p>This is a demo: choose any user. A real application requires a password.</p>
<form method="post">
  <label>Person <select name="person">${people.map((person) => html`<option>${person}</option>`)}</select></label>
  <button>Log in</button>
</form>`;
  return page('Log in', undefined, content);
}
