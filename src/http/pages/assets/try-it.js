// A form for each operation that sends it to this very service. The key is in this variable, and nowhere else: it is
// not stored, not part of an address, and gone with the tab. What changes data asks first.

import { addCopyButtons, highlight } from './samples.js';

const TIMEOUT_MS = 30_000;
const SHOWN_BYTES_MAX = 256 * 1024;
const HEADERS_SHOWN = [
  'X-Service-Request-Id',
  'X-Service-Warning',
  'X-Service-Cursor',
  'ETag',
  'RateLimit',
  'Retry-After',
  'Content-Type',
];

let key = '';
const keyInputs = new Set();

function create(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

let fields = 0;
function labelled(text, input, hint = '') {
  fields += 1;
  input.id = `try-${fields}`;
  const label = create('label', { htmlFor: input.id }, create('code', { textContent: text }));
  if (hint !== '') label.append(' ', create('span', { className: 'soft', textContent: hint }));
  return create('p', {}, label, input);
}

function keyField() {
  const input = create('input', { type: 'text', className: 'key', autocomplete: 'off', spellcheck: false, value: key });
  input.setAttribute('autocapitalize', 'off');
  input.placeholder = 'gk1_…';
  input.addEventListener('input', () => {
    key = input.value.trim();
    for (const each of keyInputs) if (each !== input) each.value = input.value;
  });
  keyInputs.add(input);
  return labelled('API key', input, 'stays in this tab, stored nowhere');
}

/** One for each parameter. A body and a query together would be refused, so examples go into the body. */
function parameterFields(view) {
  const hasBody = view.dataset.body !== undefined;
  return [...view.querySelectorAll('[data-parameter]')].map(({ dataset }) => {
    const { parameter, place, example = '' } = dataset;
    const isGiven = place === 'path' || (place === 'query' && !hasBody);
    const input = create('input', { type: 'text', autocomplete: 'off', spellcheck: false, placeholder: example });
    if (isGiven) input.value = example;
    return {
      name: parameter,
      place,
      input,
      markup: labelled(parameter, input, place === 'query' ? '' : `in ${place}`),
    };
  });
}

function bodyField(view) {
  const { body } = view.dataset;
  if (body === undefined) return undefined;
  const input = create('textarea', { value: body, spellcheck: false, autocomplete: 'off' });
  input.rows = Math.min(16, body.split('\n').length + 1);
  return { input, markup: labelled('Body', input, 'JSON') };
}

/** The request that the form says; throws an error for its reader if there is none. */
function requestOf(view, parameters, body) {
  const { method, path } = view.dataset;
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error('Type an API key first. It begins with gk1_.');
  const headers = new Headers({ Authorization: `Bearer ${key}` });
  const query = new URLSearchParams();
  let target = path;
  for (const { name, place, input } of parameters) {
    const value = input.value.trim();
    if (place === 'path') {
      if (value === '') throw new Error(`The parameter ${name} is part of the path: give it a value.`);
      target = target.replace(`{${name}}`, encodeURIComponent(value));
    } else if (value !== '' && place === 'query') query.append(name, value);
    else if (value !== '') headers.set(name, value);
  }
  const text = body?.input.value.trim() ?? '';
  if (text !== '') {
    try {
      JSON.parse(text);
    } catch (error) {
      throw new Error(`The body is no JSON: ${error.message}`);
    }
    headers.set('Content-Type', 'application/json');
  }
  // The page is at `docs`, next to all paths of the service, whatever is before them.
  const url = new URL(`${target.slice(1)}${query.size === 0 ? '' : `?${query}`}`, document.baseURI);
  const options = { method, headers, credentials: 'omit', cache: 'no-store', redirect: 'error' };
  return new Request(url, { ...options, ...(text === '' ? {} : { body: text }) });
}

/** The body up to a bound; the rest is not read. */
async function readText(response) {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
    if (bytes <= SHOWN_BYTES_MAX) continue;
    await reader.cancel();
    return `${text}\n… (there is more)`;
  }
}

function formatted(text) {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

async function send(request, result) {
  result.replaceChildren(create('p', { className: 'soft', textContent: 'Waiting for the response …' }));
  const startedAtMs = performance.now();
  const response = await fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const text = formatted(await readText(response));
  const elapsedMs = Math.round(performance.now() - startedAtMs);
  const status = create('strong', { className: 'status', textContent: `${response.status} ${response.statusText}` });
  status.dataset.good = String(response.ok || response.status === 304);
  const headers = HEADERS_SHOWN.filter((name) => response.headers.has(name)).flatMap((name) => [
    create('dt', { textContent: name }),
    create('dd', { textContent: response.headers.get(name) }),
  ]);
  result.replaceChildren(
    create('p', {}, status, ' ', create('span', { className: 'soft', textContent: `${elapsedMs} ms` })),
    create('dl', {}, ...headers),
  );
  if (text !== '') result.append(create('pre', { tabIndex: 0 }, create('code', { textContent: text })));
  addCopyButtons(result);
}

/** Resolves to whether the reader agrees. */
function confirmed({ method, url }) {
  const dialog = create('dialog', {});
  dialog.setAttribute('aria-label', 'Change data?');
  const cancel = create('button', { type: 'button', textContent: 'Cancel' });
  const agree = create('button', { type: 'button', className: 'primary', textContent: `Send ${method}` });
  const { pathname, search } = new URL(url);
  dialog.append(
    create('p', {}, 'This changes data of the tenant that the key belongs to:'),
    create('p', {}, create('code', { textContent: `${method} ${pathname}${search}` })),
    create('p', { className: 'buttons' }, cancel, agree),
  );
  document.body.append(dialog);
  dialog.showModal();
  cancel.focus();
  return new Promise((resolve) => {
    cancel.addEventListener('click', () => dialog.close());
    agree.addEventListener('click', () => dialog.close('agreed'));
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'agreed');
    });
  });
}

function createForm(view) {
  const parameters = parameterFields(view);
  const body = bodyField(view);
  const button = create('button', { type: 'submit', className: 'primary', textContent: 'Send' });
  const result = create('div', { className: 'result' });
  result.setAttribute('role', 'status');
  const form = create('form', { className: 'try', noValidate: true }, keyField());
  form.append(...parameters.map(({ markup }) => markup), ...(body === undefined ? [] : [body.markup]));
  form.append(create('p', { className: 'buttons' }, button), result);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    try {
      const request = requestOf(view, parameters, body);
      if (view.dataset.writes === undefined || (await confirmed(request))) await send(request, result);
      highlight(view);
    } catch (error) {
      const said = error.name === 'TimeoutError' ? 'There was no response within 30 seconds.' : error.message;
      result.replaceChildren(create('p', { className: 'failure', textContent: said }));
    } finally {
      button.disabled = false;
    }
  });
  return form;
}

/** Adds a button to each operation; its form is made when it is first opened. */
export function addForms(views) {
  for (const view of views.filter(({ dataset }) => dataset.method !== undefined)) {
    const details = create('details', { className: 'trial' }, create('summary', { textContent: 'Try it' }));
    details.addEventListener('toggle', () => {
      if (details.open && details.children.length === 1) details.append(createForm(view));
    });
    view.querySelector('.aside [data-samples]').after(details);
  }
}
