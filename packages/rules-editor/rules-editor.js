// @ts-check
// The editor of rules in the browser: takes the place of the text box, highlights, completes, and marks what the server
// found wrong while the text was typed. The box stays in the form, hidden, with the same text: what is sent and
// validated is the box. The Tab key leaves the editor; Escape closes what is open in it.

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
  completionStatus,
  pickedCompletion,
  startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState, Prec, StateField } from '@codemirror/state';
import { Decoration, drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { changeFor, complete } from './rules-completion.js';
import { marksOf, scanJson } from './rules-language.js';

/** @import { CompletionContext, CompletionResult } from '@codemirror/autocomplete' */
/** @import { Diagnostic } from '@codemirror/lint' */
/** @import { Text } from '@codemirror/state' */
/** @import { Command } from '@codemirror/view' */
/** @import { Vocabulary } from './rules-completion.js' */

/** The icons of the list of completions. */
const ICONS = new Map([
  ['relation', 'constant'],
  ['name', 'property'],
  ['member', 'property'],
  ['namespace', 'namespace'],
  ['condition', 'method'],
  ['parameter', 'variable'],
  ['function', 'function'],
  ['type', 'type'],
  ['keyword', 'keyword'],
]);

/** @param {Vocabulary} vocabulary */
const completionSource =
  (vocabulary) =>
  (/** @type {CompletionContext} */ { state, pos, explicit }) => {
    const text = state.doc.toString();
    const offers = complete(text, pos, vocabulary);
    // Outside of a string, only a word or a request asks for completion.
    if (offers === undefined || (!explicit && offers.from === pos && !/["\w.# ]/.test(text.charAt(pos - 1))))
      return null;
    if (!explicit && offers.from === pos && /\s/.test(text.charAt(pos - 1)) && !/\S "?$/.test(text.slice(pos - 2, pos)))
      return null;
    /** @type {CompletionResult} */
    const result = {
      from: offers.from,
      validFor: /^[\w.-]*$/,
      options: offers.options.map((offer) => ({
        label: offer.label,
        ...(offer.detail === undefined ? {} : { detail: offer.detail }),
        ...(offer.boost === undefined ? {} : { boost: offer.boost }),
        type: ICONS.get(offer.kind) ?? 'text',
        apply: (view, completion) => {
          // What was typed since the list was made is replaced too.
          const { head } = view.state.selection.main;
          const present = complete(view.state.doc.toString(), head, vocabulary) ?? offers;
          const { cursor, ...changes } = changeFor(present, offer);
          view.dispatch({
            changes,
            selection: { anchor: cursor },
            userEvent: 'input.complete',
            annotations: pickedCompletion.of(completion),
            scrollIntoView: true,
          });
          if (offer.insert !== undefined) startCompletion(view);
        },
      })),
    };
    return result;
  };

/**
 * While the list is asked for again, it is still shown, but the editor accepts nothing from it: Enter would put a line
 * break into a string. It takes the choice that is shown.
 * @param {Vocabulary} vocabulary
 * @returns {Command}
 */
const acceptShown = (vocabulary) => (view) => {
  if (completionStatus(view.state) !== 'pending') return false;
  const shown = view.dom.querySelector('.cm-tooltip-autocomplete [aria-selected] .cm-completionLabel');
  const offers = complete(view.state.doc.toString(), view.state.selection.main.head, vocabulary);
  const offer = offers?.options.find(({ label }) => label === shown?.textContent);
  if (offers === undefined || offer === undefined) return false;
  const { cursor, ...changes } = changeFor(offers, offer);
  view.dispatch({ changes, selection: { anchor: cursor }, userEvent: 'input.complete', scrollIntoView: true });
  closeCompletion(view);
  return true;
};

/** @param {Text} doc */
const decorationsOf = (doc) =>
  Decoration.set(
    marksOf(scanJson(doc.toString()).strings).map(({ from, to, of }) =>
      Decoration.mark({ class: `tok-cel-${of}` }).range(from, to),
    ),
  );

const marks = StateField.define({
  create: ({ doc }) => decorationsOf(doc),
  update: (value, { docChanged, newDoc }) => (docChanged ? decorationsOf(newDoc) : value),
  // Inside of what is highlighted as a string.
  provide: (field) => Prec.highest(EditorView.decorations.from(field)),
});

/**
 * The place of a problem in the document, which may have changed since.
 * @param {Text} doc
 * @param {HTMLElement} link
 */
function rangeOf(doc, { dataset }) {
  const line = doc.line(Math.min(Number(dataset.line), doc.lines));
  const from = Math.min(line.from + Number(dataset.column) - 1, line.to);
  return { from, to: Math.min(from + Number(dataset.length), line.to) };
}

/** @returns {HTMLElement[]} */
const problemLinks = () =>
  [...document.querySelectorAll('#rules-problems a[data-line]')].filter((each) => each instanceof HTMLElement);

/** @param {EditorView} view */
function markProblems(view) {
  const links = problemLinks();
  const diagnostics = links.map(
    (link) =>
      /** @type {Diagnostic} */ ({
        ...rangeOf(view.state.doc, link),
        severity: 'error',
        message: link.parentElement?.querySelector('bdi')?.textContent ?? '',
      }),
  );
  view.dispatch(setDiagnostics(view.state, diagnostics));
  const { contentDOM } = view;
  if (links.length > 0) contentDOM.setAttribute('aria-invalid', 'true');
  else contentDOM.removeAttribute('aria-invalid');
}

/** @param {HTMLTextAreaElement} box */
function replaceBox(box) {
  const label = box.labels[0];
  const vocabulary = JSON.parse(box.dataset.vocabulary ?? '{}');
  const isReadOnly = box.matches(':disabled');
  const nonce = document.querySelector('script[data-editor]');
  const describedBy = [box.getAttribute('aria-describedby'), 'rules-state'].filter(Boolean).join(' ');
  const view = new EditorView({
    doc: box.value,
    extensions: [
      EditorView.cspNonce.of(nonce instanceof HTMLElement ? nonce.nonce : ''),
      EditorView.contentAttributes.of({
        'aria-label': label?.textContent ?? 'Rules',
        'aria-describedby': describedBy,
        tabindex: '0',
        ...(isReadOnly ? { 'aria-readonly': 'true' } : {}),
      }),
      EditorState.readOnly.of(isReadOnly),
      EditorState.changeFilter.of(({ newDoc, docChanged }) => !docChanged || newDoc.length <= box.maxLength),
      EditorView.lineWrapping,
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      // In a string, the Enter key is never meant for anything else.
      autocompletion({ override: [completionSource(vocabulary)], interactionDelay: 0 }),
      Prec.high(keymap.of([{ key: 'Enter', run: acceptShown(vocabulary) }])),
      json(),
      syntaxHighlighting(classHighlighter),
      marks,
      keymap.of([...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (!docChanged) return;
        box.value = state.doc.toString();
        box.dispatchEvent(new Event('input', { bubbles: true }));
      }),
    ],
  });
  box.hidden = true;
  box.removeAttribute('aria-invalid');
  box.before(view.dom);
  label?.addEventListener('click', () => view.focus());
  markProblems(view);
  document.addEventListener('htmx:after:swap', () => markProblems(view));
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('#rules-problems a[data-line]') : null;
    if (!(link instanceof HTMLElement)) return;
    event.preventDefault();
    const { from, to } = rangeOf(view.state.doc, link);
    view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
    view.focus();
  });
}

const box = document.querySelector('textarea[data-vocabulary]');
if (box instanceof HTMLTextAreaElement) replaceBox(box);
