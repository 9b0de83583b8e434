// The editor of rules in the browser: takes the place of the text box, colours, folds, completes, and marks what the
// server found wrong while the text was typed. The box stays in the form, hidden, with the same text: what is sent and
// validated is the box. The Tab key leaves the editor; Escape closes what is open in it.

import {
  autocompletion,
  type CompletionSource,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
  insertBracket,
  pickedCompletion,
  selectedCompletion,
  startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, foldGutter, foldKeymap, foldService, indentService } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState, Prec, StateField, type Text } from '@codemirror/state';
import { type Command, Decoration, drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { changeFor, complete, type Vocabulary } from './rules-completion.ts';
import { foldsOf, marksOf, statementsOf } from './rules-language.ts';

/** The icons of the list of completions. */
const ICONS = new Map([
  ['relation', 'constant'],
  ['name', 'property'],
  ['namespace', 'namespace'],
  ['condition', 'method'],
  ['parameter', 'variable'],
  ['function', 'function'],
  ['type', 'type'],
  ['keyword', 'keyword'],
]);

const completionSource =
  (vocabulary: Vocabulary): CompletionSource =>
  ({ state, pos, explicit }) => {
    const offers = complete(state.doc.toString(), pos, vocabulary);
    if (offers === undefined || (!explicit && offers.from === pos && !offers.eager)) return null;
    return {
      from: offers.from,
      validFor: /^[\w-]*$/,
      options: offers.options.map((offer) => ({
        label: offer.label,
        ...(offer.detail === undefined ? {} : { detail: offer.detail }),
        ...(offer.boost === undefined ? {} : { boost: offer.boost }),
        type: ICONS.get(offer.kind) ?? 'text',
        apply: (view, completion) => {
          // What was typed since the list was made is replaced too.
          const present = complete(view.state.doc.toString(), view.state.selection.main.head, vocabulary) ?? offers;
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
  };

/** A choice that is typed already: Enter ends the line, as it does where nothing is offered. */
const endLine: Command = (view) => {
  const { state } = view;
  const label = selectedCompletion(state)?.label;
  const { head } = state.selection.main;
  if (label !== undefined && state.sliceDoc(Math.max(0, head - label.length), head) === label) closeCompletion(view);
  return false;
};

/**
 * Chromium keeps the colour of what is typed over as a style of what is typed, which the policy of the page refuses: so
 * the editor replaces it.
 */
const typeOver = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    const { state } = view;
    if (inputType !== 'insertText' || data === null || view.composing || state.selection.main.empty) return false;
    const bracket = insertBracket(state, data);
    if (bracket === null) view.dispatch({ ...state.replaceSelection(data), userEvent: 'input.type' });
    else view.dispatch(bracket);
    return true;
  },
});

/** What is derived from the text, once for each change. */
function readingOf(doc: Text) {
  const text = doc.toString();
  const statements = statementsOf(text);
  const marks = marksOf(text, statements).map(({ from, to, of }) =>
    Decoration.mark({ class: `tok-${of}` }).range(from, to),
  );
  return { folds: foldsOf(text, statements), marks: Decoration.set(marks) };
}

const reading = StateField.define({
  create: ({ doc }) => readingOf(doc),
  update: (value, { docChanged, newDoc }) => (docChanged ? readingOf(newDoc) : value),
  provide: (field) => EditorView.decorations.from(field, ({ marks }) => marks),
});

const language = [
  reading,
  foldService.of((state, _, from) => {
    const to = state.field(reading).folds.get(from);
    return to === undefined || to <= from ? null : { from, to };
  }),
  // What stands beneath the name of a namespace is indented.
  indentService.of(({ state }, at) => {
    const { text, number } = state.doc.lineAt(at);
    const above = number > 1 && text.trim() === '' ? state.doc.line(number - 1).text : text;
    return /^namespace\s/.test(above) ? 2 : /^\s*/.exec(above)?.[0].length;
  }),
  EditorState.languageData.of(() => [{ commentTokens: { line: '#' } }]),
];

/** The place of a problem in the document, which may have changed since. */
function rangeOf(doc: Text, { dataset }: HTMLElement) {
  const line = doc.line(Math.min(Number(dataset.line), doc.lines));
  const from = Math.min(line.from + Number(dataset.column) - 1, line.to);
  return { from, to: Math.min(from + Number(dataset.length), line.to) };
}

const problemLinks = (): readonly HTMLElement[] =>
  [...document.querySelectorAll('#rules-problems a[data-line]')].filter((each) => each instanceof HTMLElement);

function markProblems(view: EditorView): void {
  const links = problemLinks();
  const diagnostics = links.map((link) => ({
    ...rangeOf(view.state.doc, link),
    severity: 'error' as const,
    message: link.parentElement?.querySelector('bdi')?.textContent ?? '',
  }));
  view.dispatch(setDiagnostics(view.state, diagnostics));
  const { contentDOM } = view;
  if (links.length > 0) contentDOM.setAttribute('aria-invalid', 'true');
  else contentDOM.removeAttribute('aria-invalid');
}

function replaceBox(box: HTMLTextAreaElement): void {
  const label = box.labels[0];
  const vocabulary: Vocabulary = JSON.parse(box.dataset.vocabulary ?? '{}');
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
      Prec.highest(keymap.of([{ key: 'Enter', run: endLine }])),
      EditorView.lineWrapping,
      lineNumbers(),
      foldGutter(),
      lintGutter(),
      history(),
      drawSelection(),
      typeOver,
      bracketMatching(),
      closeBrackets(),
      autocompletion({ override: [completionSource(vocabulary)], interactionDelay: 0 }),
      language,
      keymap.of([
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...foldKeymap,
        ...lintKeymap,
        ...historyKeymap,
        ...defaultKeymap,
      ]),
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
