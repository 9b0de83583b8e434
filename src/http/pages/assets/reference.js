// The script of the reference: shows one view at a time, marks it in the navigation, and adds what needs a script.
// Everything that it shows is in the page already.

import { addCopyButtons, addLanguages, highlight } from './samples.js';
import { addSearch } from './search.js';
import { addForms } from './try-it.js';

const views = [...document.querySelectorAll('[data-view]')];
const navigation = document.getElementById('contents');
const neighbours = document.querySelector('[data-neighbours]');
const titleOf = (view) => view.querySelector('h2');
const [name] = document.title.split(' – ');

/** The view of an anchor; the first one if there is none. */
function viewOf(anchor) {
  const target = anchor === '' ? null : document.getElementById(anchor);
  return target?.closest('[data-view]') ?? views[0];
}

function markInNavigation(view) {
  const anchor = titleOf(view).id;
  for (const link of navigation.querySelectorAll('a')) {
    const isCurrent = link.hash === `#${anchor}`;
    if (!isCurrent) link.removeAttribute('aria-current');
    else {
      link.setAttribute('aria-current', 'page');
      const group = link.closest('details');
      if (group !== null) group.open = true;
      const [box, bounds] = [link.getBoundingClientRect(), navigation.getBoundingClientRect()];
      if (box.top < bounds.top || box.bottom > bounds.bottom) navigation.scrollTop += box.top - bounds.top - 100;
    }
  }
}

function linkNeighbours(view) {
  const at = views.indexOf(view);
  const links = [
    ['previous', 'Previous', views[at - 1]],
    ['next', 'Next', views[at + 1]],
  ].flatMap(([rel, label, other]) => {
    if (other === undefined) return [];
    const link = document.createElement('a');
    link.className = rel;
    link.href = `#${titleOf(other).id}`;
    const caption = document.createElement('span');
    caption.textContent = label;
    link.append(caption, ' ', titleOf(other).textContent);
    return [link];
  });
  neighbours.replaceChildren(...links);
}

/** The place that a fragment names; one that is not percent-encoded UTF-8 names itself. */
function anchorIn(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return hash.slice(1);
  }
}

/** `moved`: the reader has asked for it, so the focus goes there. */
function show(moved) {
  const anchor = anchorIn(location.hash);
  const view = viewOf(anchor);
  for (const each of views) each.classList.toggle('current', each === view);
  document.title = view === views[0] ? name : `${titleOf(view).textContent} – ${name}`;
  document.documentElement.classList.remove('with-menu');
  markInNavigation(view);
  linkNeighbours(view);
  highlight(view);
  const target = (anchor === '' ? null : document.getElementById(anchor)) ?? titleOf(view);
  if (target === titleOf(view)) window.scrollTo(0, 0);
  else target.scrollIntoView();
  if (moved) target.focus({ preventScroll: true });
}

function addMenuButton(tools) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'menu';
  button.textContent = 'Menu';
  button.setAttribute('aria-controls', 'contents');
  button.setAttribute('aria-expanded', 'false');
  const root = document.documentElement;
  button.addEventListener('click', () => root.classList.toggle('with-menu'));
  new MutationObserver(() => {
    button.setAttribute('aria-expanded', String(root.classList.contains('with-menu')));
  }).observe(root, { attributeFilter: ['class'] });
  tools.append(button);
}

const tools = document.querySelector('[data-tools]');
document.documentElement.classList.add('scripted');
addSearch(tools);
addMenuButton(tools);
addLanguages();
addForms(views);
addCopyButtons(document);
window.addEventListener('hashchange', () => show(true));
show(false);
