// The search over operations, types and errors, in what the page has. `/` leads to it from anywhere.

const FOUND_MAX = 12;

/** Without samples and examples. */
const proseOf = (view) => [...view.querySelectorAll('.prose')].map(({ textContent }) => textContent).join(' ');

/** What can be found, with the texts in which words are looked for, the more telling ones first. */
function readIndex() {
  return [...document.querySelectorAll('[data-find]')].map((element) => {
    const heading = element.querySelector('h2');
    const title = element.dataset.title ?? heading.textContent;
    const { method = '', path = '' } = element.dataset;
    const fields = [...element.querySelectorAll('.field > code')].map((code) => code.textContent);
    return {
      kind: element.dataset.find,
      title,
      hint: path === '' ? '' : `${method} ${path}`,
      anchor: heading?.id ?? element.id,
      texts: [
        title,
        `${heading?.id ?? ''} ${path}`,
        fields.join(' '),
        heading === null ? element.textContent : proseOf(element),
      ].map((text) => text.toLowerCase()),
    };
  });
}

/** Lower is better; undefined: one of the words is nowhere. */
function rankOf({ texts }, words) {
  const places = words.map((word) => {
    if (texts[0].startsWith(word)) return 0;
    const place = texts.findIndex((text) => text.includes(word));
    return place < 0 ? undefined : place + 1;
  });
  return places.includes(undefined) ? undefined : places.reduce((sum, place) => sum + place, 0);
}

function find(index, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return index
    .map((item) => ({ item, rank: rankOf(item, words) }))
    .filter(({ rank }) => rank !== undefined)
    .sort((left, right) => left.rank - right.rank)
    .slice(0, FOUND_MAX)
    .map(({ item }) => item);
}

function optionOf({ kind, title, hint, anchor }, at) {
  const option = document.createElement('li');
  option.id = `found-${at}`;
  option.setAttribute('role', 'option');
  option.dataset.anchor = anchor;
  for (const [name, text] of [
    ['title', title],
    ['kind', kind],
    ['hint', hint],
  ]) {
    const part = document.createElement('span');
    part.className = name;
    part.textContent = text;
    option.append(part, ' ');
  }
  return option;
}

function createParts(tools) {
  const box = document.createElement('search');
  const input = document.createElement('input');
  const list = document.createElement('ul');
  const told = document.createElement('p');
  const key = document.createElement('kbd');
  Object.assign(input, { type: 'search', placeholder: 'Search', autocomplete: 'off', spellcheck: false });
  for (const [name, value] of [
    ['role', 'combobox'],
    ['aria-label', 'Search operations, types and errors'],
    ['aria-controls', 'found'],
    ['aria-expanded', 'false'],
    ['aria-autocomplete', 'list'],
    ['aria-keyshortcuts', '/'],
  ]) {
    input.setAttribute(name, value);
  }
  list.id = 'found';
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Found');
  list.hidden = true;
  told.setAttribute('role', 'status');
  key.textContent = '/';
  key.setAttribute('aria-hidden', 'true');
  box.append(input, key, list, told);
  tools.append(box);
  return { box, input, list, told };
}

export function addSearch(tools) {
  const { box, input, list, told } = createParts(tools);
  let index;
  let chosen = 0;

  const choose = (at) => {
    const options = [...list.children];
    chosen = options.length === 0 ? 0 : (at + options.length) % options.length;
    for (const [each, option] of options.entries()) option.setAttribute('aria-selected', String(each === chosen));
    const option = options[chosen];
    if (option === undefined) input.removeAttribute('aria-activedescendant');
    else {
      input.setAttribute('aria-activedescendant', option.id);
      option.scrollIntoView({ block: 'nearest' });
    }
  };
  const close = () => {
    list.hidden = true;
    told.textContent = '';
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const open = () => {
    index ??= readIndex();
    const found = find(index, input.value);
    list.replaceChildren(...found.map(optionOf));
    list.hidden = found.length === 0;
    told.textContent = found.length === 0 && input.value.trim() !== '' ? 'Nothing is found.' : '';
    input.setAttribute('aria-expanded', String(!list.hidden));
    choose(0);
  };
  const go = (option) => {
    if (option === undefined || option === null) return;
    const anchor = `#${option.dataset.anchor}`;
    input.value = '';
    close();
    if (location.hash === anchor) window.dispatchEvent(new HashChangeEvent('hashchange'));
    else location.hash = anchor;
  };

  input.addEventListener('input', open);
  input.addEventListener('focus', open);
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') choose(chosen + 1);
    else if (event.key === 'ArrowUp') choose(chosen - 1);
    else if (event.key === 'Enter') go(list.children[chosen]);
    else if (event.key === 'Escape') {
      input.value = '';
      input.blur();
    } else return;
    event.preventDefault();
  });
  // Before the input loses the focus.
  list.addEventListener('mousedown', (event) => {
    event.preventDefault();
    go(event.target.closest('li'));
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.closest('input, textarea, select, dialog') !== null;
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    box.scrollIntoView({ block: 'nearest' });
  });
}
