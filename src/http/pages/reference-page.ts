// The reference of the interface as one page: all sections, operations, types and errors, each with an anchor. It works
// without scripts: the language of the samples is chosen with a folded part for each.

import { ERROR_CATALOGUE, type ErrorCode } from '../../core/errors.ts';
import type {
  CodeSample,
  Field,
  Reference,
  ReferenceBody,
  ReferenceOperation,
  ReferenceResponse,
  ReferenceType,
} from '../openapi/reference.ts';
import type { PublicPage } from '../pipeline/response-writer.ts';
import { createPage, inline, paragraphs } from './frame.ts';
import { html, type Markup } from './markup.ts';

const sectionAnchor = (name: string): string => `section-${name.toLowerCase()}`;
const typeAnchor = (name: string): string => `type-${name}`;

/** `array of Grant`, with a link to each type that it names. */
function typeMarkup({ type, refers }: Pick<Field, 'type' | 'refers'>): Markup {
  const words = type.split(/(?<= )|(?= )/);
  return words.map((word) => (refers.includes(word) ? html`<a href=${`#${typeAnchor(word)}`}>${word}</a>` : word));
}

function fieldsMarkup(title: string, fields: readonly Field[]): Markup {
  if (fields.length === 0) return undefined;
  const rows = fields.map(
    (field) => html`<tr>
      <td><code>${field.name}</code>${field.required ? '' : html` <span class="soft">optional</span>`}</td>
      <td>${typeMarkup(field)}${field.place === undefined ? '' : html` <span class="soft">in ${field.place}</span>`}</td>
      <td>${inline(field.description)}</td>
    </tr>`,
  );
  return html`<h4>${title}</h4>
    <div class="scroll"><table>
      <thead><tr><th>Name</th><th>Type</th><th>Meaning</th></tr></thead>
      <tbody>${rows}</tbody>
    </table></div>`;
}

const codeBlock = (text: string | undefined): Markup =>
  text === undefined ? undefined : html`<pre tabindex="0"><code>${text}</code></pre>`;

const bodyMarkup = (title: string, body: ReferenceBody | undefined): Markup =>
  body === undefined
    ? undefined
    : html`${fieldsMarkup(title, body.fields)}
        ${body.description === '' ? undefined : html`<p class="soft">${inline(body.description)}</p>`}
        ${codeBlock(body.example)}`;

function responseMarkup({ status, description, bodies }: ReferenceResponse): Markup {
  return html`<h4>Response ${status}</h4>
    <p>${inline(description)}</p>
    ${bodies.map((body) => bodyMarkup(body.contentType, body))}`;
}

const errorLink = (code: ErrorCode): Markup =>
  html`<li>${ERROR_CATALOGUE[code].httpStatus} <a href=${`errors/${code}`}><code>${code}</code></a></li>`;

function samplesMarkup(samples: readonly CodeSample[]): Markup {
  return samples.map(
    ({ label, source }, index) =>
      html`<details open=${index === 0}><summary>${label}</summary>${codeBlock(source)}</details>`,
  );
}

function operationMarkup(operation: ReferenceOperation): Markup {
  const { id, method, path, summary, description, parameters, body, successes, errors, samples } = operation;
  return html`<section aria-labelledby=${id}>
    <h3 id=${id}><a href=${`#${id}`}>${summary}</a></h3>
    <p><code><span class="method">${method}</span> ${path}</code></p>
    ${paragraphs(description)}
    ${samplesMarkup(samples)}
    ${fieldsMarkup('Parameters', parameters)}
    ${bodyMarkup('Request body', body)}
    ${successes.map(responseMarkup)}
    ${errors.length === 0 ? undefined : html`<h4>Errors of its own</h4><ul>${errors.map(errorLink)}</ul>`}
  </section>`;
}

const typesMarkup = (types: readonly ReferenceType[]): Markup =>
  types.map(
    ({ name, type, description, fields }) => html`<section>
      <h3 id=${typeAnchor(name)}><a href=${`#${typeAnchor(name)}`}>${name}</a></h3>
      ${fields.length === 0 ? html`<p class="soft">${type}</p>` : undefined}
      ${paragraphs(description)}
      ${fieldsMarkup('Fields', fields)}
    </section>`,
  );

function navigation({ sections }: Reference): Markup {
  const lists = sections.map(
    ({ name, operations }) => html`<p><a href=${`#${sectionAnchor(name)}`}>${name}</a></p>
      <ul>${operations.map(({ id, summary }) => html`<li><a href=${`#${id}`}>${summary}</a></li>`)}</ul>`,
  );
  return html`<nav aria-label="Reference">${lists}<p><a href="#types">Types</a></p><p><a href="#errors">Errors</a></p></nav>`;
}

function introduction({ description, version }: Reference, baseUrl: string): Markup {
  return html`<h1>The API of grantd</h1>
    <p class="soft">Version ${version} of the interface</p>
    ${paragraphs(description)}
    <p>
      Send an API key with every request. The samples take the address of the service and the key from the environment:
    </p>
    ${codeBlock(`export GRANTD_URL=${baseUrl}\nexport GRANTD_KEY=gk1_…`)}
    <p>
      Bodies are JSON in UTF-8. Every response has a request id, in <code>X-Service-Request-Id</code>. The
      ${' '}<a href="docs/openapi.json">OpenAPI document</a> of the service says all of this to machines. With a key, it is at
      ${' '}<code>/openapi.json</code>, too.
    </p>`;
}

export function createReferencePage(reference: Reference, baseUrl: string): PublicPage {
  const sections = reference.sections.map(
    ({ name, description, operations }) => html`<h2 id=${sectionAnchor(name)}>${name}</h2>
      ${paragraphs(description)}
      ${operations.map(operationMarkup)}`,
  );
  return createPage({
    title: 'The API of grantd',
    body: html`<div class="wide">
      ${navigation(reference)}
      <main>
        ${introduction(reference, baseUrl)}
        ${sections}
        <h2 id="types">Types</h2>
        ${typesMarkup(reference.types)}
        <h2 id="errors">Errors</h2>
        <p>
          Errors are problem documents (RFC 9457). Match on <code>type</code>. Every request can meet these, and those
          of its own:
        </p>
        <ul>${reference.commonErrors.map(errorLink)}</ul>
        <p>No error ever means “no”: whoever gets one knows nothing about the grant.</p>
      </main>
    </div>`,
  });
}
