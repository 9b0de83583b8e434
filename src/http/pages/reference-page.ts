// The reference of the interface: all sections, operations, types and errors, each a view with an anchor. Without the
// script, the views stand below each other; with it, one is shown at a time, and there are the search, the buttons that
// copy, one language for all samples, and forms that send requests. The script has no data but what is in this page.

import { ERROR_CATALOGUE, type ErrorCode, isErrorCode } from '../../core/errors.ts';
import type {
  CodeSample,
  Reference,
  ReferenceBody,
  ReferenceOperation,
  ReferenceResponse,
  ReferenceType,
} from '../openapi/reference.ts';
import type { PublicPage } from '../pipeline/response-writer.ts';
import { fieldList, typeAnchor } from './field-list.ts';
import { createPage, inline, paragraphs, topBar } from './frame.ts';
import { html, type Markup } from './markup.ts';

type Section = Reference['sections'][number];

const sectionAnchor = (name: string): string => `section-${name.toLowerCase()}`;
const errorAnchor = (code: ErrorCode): string => `error-${code}`;

interface View {
  readonly id: string;
  readonly title: string;
  /** Where it belongs. */
  readonly group?: string;
  /** What the search calls it; undefined: the search does not find it. */
  readonly kind?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly opening: Markup;
  /** Stands beside the two others; where there is no room, between them. */
  readonly aside?: Markup;
  readonly rest?: Markup;
}

/** One page of the reference. */
const view = ({ id, title, group, kind, data = {}, opening, aside, rest }: View): Markup =>
  html`<section class="view" data-view data-find=${kind} aria-labelledby=${id} ...${data}>
    <div class="prose">
      ${group === undefined ? undefined : html`<p class="group">${group}</p>`}
      <h2 id=${id} tabindex="-1"><a href=${`#${id}`}>${title}</a></h2>
      ${opening}
    </div>
    ${aside === undefined ? undefined : html`<div class="aside">${aside}</div>`}
    ${rest === undefined ? undefined : html`<div class="prose rest">${rest}</div>`}
  </section>`;

const codeBlock = (text: string): Markup => html`<pre tabindex="0"><code>${text}</code></pre>`;

const methodMark = (method: string): Markup => html`<span class="method" data-method-mark=${method}>${method}</span>`;

const sectionWithFields = (title: string, body: Markup): Markup =>
  body === undefined ? undefined : html`<h3>${title}</h3>${body}`;

function requestBody(body: ReferenceBody | undefined): Markup {
  if (body === undefined) return undefined;
  const { description, fields } = body;
  return html`<h3>Body</h3>
    ${description === '' ? undefined : html`<p class="soft">${inline(description)}</p>`}
    ${fieldList(fields)}`;
}

function responseMarkup({ status, description, bodies }: ReferenceResponse): Markup {
  const folded = bodies.map(({ contentType, description: meaning, fields }) =>
    fields.length === 0
      ? undefined
      : html`<details><summary>Fields of the response${bodies.length > 1 ? html`, <code>${contentType}</code>` : ''}</summary>
          ${meaning === '' ? undefined : html`<p class="soft">${inline(meaning)}</p>`}
          ${fieldList(fields)}
        </details>`,
  );
  return html`<div class="response"><p><strong class="status">${status}</strong> ${inline(description)}</p>${folded}</div>`;
}

const errorLink = (code: ErrorCode): Markup =>
  html`<li>${ERROR_CATALOGUE[code].httpStatus} <a href=${`#${errorAnchor(code)}`}><code>${code}</code></a></li>`;

const samplesMarkup = (samples: readonly CodeSample[]): Markup =>
  html`<div class="samples" data-samples>
    ${samples.map(
      ({ label, source }, index) =>
        html`<details data-language=${label} open=${index === 0}><summary>${label}</summary>${codeBlock(source)}</details>`,
    )}
  </div>`;

function exampleMarkup({ status, bodies }: ReferenceResponse): Markup {
  return bodies.map(({ contentType, example }) =>
    example === undefined
      ? undefined
      : html`<div class="example"><p class="caption">Response ${status}${bodies.length > 1 ? `, ${contentType}` : ''}</p>${codeBlock(example)}</div>`,
  );
}

function operationMarkup(operation: ReferenceOperation, group: string): Markup {
  const { id, method, path, summary, description, readsOnly, parameters, body, successes, errors, samples } = operation;
  const [first] = successes.filter(({ bodies }) => bodies.some(({ example }) => example !== undefined)).slice(-1);
  const opening = html`<p class="endpoint">${methodMark(method)} <code>${path}</code></p>${paragraphs(description)}`;
  const rest = html`${sectionWithFields('Parameters', fieldList(parameters))}
    ${requestBody(body)}
    <h3>Responses</h3>
    ${successes.map(responseMarkup)}
    ${
      errors.length === 0
        ? undefined
        : html`<h3>Errors</h3><p>Beside <a href="#errors">those of every operation</a>:</p><ul class="errors">${errors.map(errorLink)}</ul>`
    }`;
  const aside = html`${samplesMarkup(samples)}${first === undefined ? undefined : exampleMarkup(first)}`;
  const data = {
    'data-method': method,
    'data-path': path,
    ...(readsOnly ? {} : { 'data-writes': 'true' }),
    ...(body?.example === undefined ? {} : { 'data-body': body.example }),
  };
  return view({ id, title: summary, group, kind: 'operation', data, opening, aside, rest });
}

function sectionMarkup({ name, description, operations }: Section): Markup {
  const list = operations.map(
    ({ id, method, path, summary }) =>
      html`<li><a href=${`#${id}`}>${summary}</a><br />${methodMark(method)} <code>${path}</code></li>`,
  );
  const opening = html`${paragraphs(description)}<ul class="contents">${list}</ul>`;
  return html`${view({ id: sectionAnchor(name), title: name, kind: 'section', opening })}
    ${operations.map((operation) => operationMarkup(operation, name))}`;
}

function typesMarkup(types: readonly ReferenceType[]): Markup {
  const list = types.map(({ name }) => html`<li><a href=${`#${typeAnchor(name)}`}>${name}</a></li>`);
  const overview = html`<p>What occurs in the bodies of several operations has a name.</p><ul class="columns">${list}</ul>`;
  return html`${view({ id: 'types', title: 'Types', opening: overview })}
    ${types.map(({ name, type, description, fields }) => {
      const opening = html`${fields.length === 0 ? html`<p class="soft">${type}</p>` : undefined}
        ${paragraphs(description)}
        ${sectionWithFields('Fields', fieldList(fields))}`;
      return view({ id: typeAnchor(name), title: name, group: 'Types', kind: 'type', opening });
    })}`;
}

function errorsMarkup(commonErrors: readonly ErrorCode[]): Markup {
  const rows = Object.keys(ERROR_CATALOGUE)
    .filter(isErrorCode)
    .map((code) => {
      const { httpStatus, title, meaning, retryable } = ERROR_CATALOGUE[code];
      return html`<li id=${errorAnchor(code)} data-find="error" data-title=${code} tabindex="-1">
        <p class="field"><strong class="status">${httpStatus}</strong> <a href=${`errors/${code}`}><code>${code}</code></a> ${title}
        ${retryable ? html` <span class="soft">safe to repeat</span>` : ''}</p>
        <p>${inline(meaning)}</p>
      </li>`;
    });
  const opening = html`<p>
      Errors are problem documents (RFC 9457). Match on <code>type</code>, which ends with one of these names, not on
      ${' '}<code>detail</code>. No error ever means “no”: whoever gets one knows nothing about the grant.
    </p>`;
  const aside = html`<div class="example"><p class="caption">Errors of every operation</p>
    <ul class="errors">${commonErrors.map(errorLink)}</ul></div>`;
  return view({ id: 'errors', title: 'Errors', opening, aside, rest: html`<ul class="fields">${rows}</ul>` });
}

function navigation({ sections, types }: Reference): Markup {
  const item = (id: string, title: string, method?: string): Markup =>
    html`<li><a href=${`#${id}`}><span>${title}</span>${method === undefined ? '' : html` ${methodMark(method)}`}</a></li>`;
  const lists = sections.map(
    ({ name, operations }) => html`<details open><summary>${name}</summary><ul>
      ${item(sectionAnchor(name), 'Overview')}
      ${operations.map(({ id, summary, method }) => item(id, summary, method))}
    </ul></details>`,
  );
  return html`<nav id="contents" aria-label="Reference">
    <ul>${item('start', 'Start')}${item('errors', 'Errors')}</ul>
    ${lists}
    <details><summary>Types</summary><ul>
      ${item('types', 'Overview')}
      ${types.map(({ name }) => item(typeAnchor(name), name))}
    </ul></details>
  </nav>`;
}

/** The first sentence, as an entry of a list. */
const firstSentence = (text: string): string => /^.*?[.?](?= |$)/.exec(text)?.[0] ?? text;

function introduction({ sections, description }: Reference, baseUrl: string): Markup {
  const [about = '', ...announced] = description.split('\n\n');
  const check = sections.flatMap(({ operations }) => operations).find(({ id }) => id === 'check');
  const opening = html`${paragraphs(about)}
    <h3>Authentication</h3>
    <p>
      Send an API key with every request, as <code>Authorization: Bearer gk1_…</code>. The samples take the address of the
      service and the key from the environment.
    </p>
    <h3>Conventions</h3>
    <p>
      Bodies are JSON in UTF-8. Every response has a request id, in <code>X-Service-Request-Id</code>, and those to a
      ${' '}known key have the state of its rate limit, in <code>RateLimit</code>. Failures are
      ${' '}<a href="#errors">problem documents</a>. The <a href="docs/openapi.json">OpenAPI document</a> says all of this to
      ${' '}machines; with a key, it is at <code>/openapi.json</code>, too.
    </p>
    ${paragraphs(announced.join('\n\n'))}`;
  const aside = html`<div class="example"><p class="caption">Environment of the samples</p>
      ${codeBlock(`export GRANTD_URL=${baseUrl}\nexport GRANTD_KEY=gk1_…`)}</div>
    ${check === undefined ? undefined : samplesMarkup(check.samples)}`;
  const rest = html`<h3>Operations</h3>
    <ul class="contents">${sections.map(
      ({ name, description: meaning }) =>
        html`<li><a href=${`#${sectionAnchor(name)}`}>${name}</a><br />${inline(firstSentence(meaning))}</li>`,
    )}</ul>`;
  return view({ id: 'start', title: 'The API of grantd', opening, aside, rest });
}

export function createReferencePage(reference: Reference, baseUrl: string): PublicPage {
  const facts = html`<span class="version">${reference.version}</span><div class="tools" data-tools></div>`;
  return createPage({
    title: 'The API of grantd',
    root: '',
    scripted: true,
    body: html`<a class="skip" href="#start">To the content</a>
      ${topBar('', html`<h1>grantd API</h1>`, facts)}
      <div class="layout">
        ${navigation(reference)}
        <main>
          ${introduction(reference, baseUrl)}
          ${reference.sections.map(sectionMarkup)}
          ${typesMarkup(reference.types)}
          ${errorsMarkup(reference.commonErrors)}
          <div data-neighbours></div>
        </main>
      </div>`,
  });
}
