// The frame of all pages, and the page for errors.

import { html } from './html.js';

/**
 * @param {string} title
 * @param {string | undefined} person
 * @param {unknown} content
 */
export function page(title, person, content) {
  const bar = html`<form method="post" action="/log-out">
    You are <strong>${person}</strong>. <button>Log out</button>
  </form>`;
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><a href="/">Documents</a> ${person === undefined ? html`<a href="/log-in">Log in</a>` : bar}</header>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`);
}

/**
 * @param {string | undefined} person
 * @param {string} message
 */
export const errorPage = (person, message) => page('Sorry', person, html`<p>${message}</p>`);
