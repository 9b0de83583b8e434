// The page on which an owner shares an object and sees who has access, and why.

import { find } from '../store.js';
import { addressOf } from './home.js';
import { html } from './html.js';
import { page } from './layout.js';

/** @typedef {import('@grantd/client').Grant} Grant */

/**
 * A name to display.
 *
 * @param {string} entity
 */
function nameOf(entity) {
  if (entity === 'user:*') return 'everyone';
  const [object = '', group] = entity.split('#');
  if (object.startsWith('user:')) return object.slice('user:'.length);
  const name = `the ${object.split(':', 1)[0]} ${find(object)?.title ?? 'of another time'}`;
  return group === undefined ? name : `each ${group} of ${name}`;
}

/** @param {Grant} grant */
const sentence = ({ subject, relation, object }) =>
  relation === 'parent'
    ? `${nameOf(object)} is in ${nameOf(subject)}`
    : `${nameOf(subject)} is ${relation} of ${nameOf(object)}`;

/** @param {string | null} time */
const end = (time) => (time === null ? 'without end' : html`until <time datetime="${time}">${time}</time>`);

/**
 * @param {string} person
 * @param {object} parts
 * @param {import('../store.js').Thing} parts.thing
 * @param {readonly { subject: string, relation: string, because: readonly Grant[] }[]} parts.holders
 * @param {readonly Grant[]} parts.shares
 * @param {boolean} parts.complete
 * @param {readonly { subject: string, title: string }[]} parts.subjects
 * @param {readonly string[]} parts.relations
 * @param {readonly string[]} parts.durations
 */
export function sharingPage(person, { thing, holders, shares, complete, subjects, relations, durations }) {
  const address = `${addressOf(thing.object)}/sharing`;
  const rows = holders.map(
    ({ subject, relation, because }) =>
      html`<tr><td>${nameOf(subject)}</td><td>${relation}</td><td>${because.map(sentence).join('; ')}</td></tr>`,
  );
  const items = shares.map(
    ({ subject, relation, expires_at }) => html`<li><form method="post" action="${address}/revocation">
  ${nameOf(subject)}: ${relation}, ${end(expires_at)}
  <input type="hidden" name="subject" value="${subject}"><input type="hidden" name="relation" value="${relation}">
  <button aria-label="Revoke: ${nameOf(subject)}, ${relation}">Revoke</button>
</form></li>`,
  );
  const options = relations.map((relation) => html`<option>${relation}</option>`);
  const content = html`<table>
<caption>Who may, and why</caption>
<thead><tr><th scope="col">Who</th><th scope="col">Is</th><th scope="col">Because</th></tr></thead>
<tbody>${rows}</tbody>
</table>
${complete ? '' : html`<p>There is more than this page shows.</p>`}
<h2>Shared here</h2>
<ul>${items}</ul>
<form method="post" action="${address}" aria-label="Share">
  <label>With <select name="subject">${subjects.map(
    ({ subject, title }) => html`<option value="${subject}">${title}</option>`,
  )}</select></label>
  <label>As <select name="relation">${options}</select></label>
  <label>For how long <select name="duration">${durations.map((each) => html`<option>${each}</option>`)}</select></label>
  <button>Share</button>
</form>`;
  return page(`Sharing ${nameOf(thing.object)}`, person, content);
}
