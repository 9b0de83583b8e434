// Samples and examples: one language for all, remembered; buttons that copy; colours.

const LANGUAGE = 'grantd.docs.language';
const COPIED_SHOWN_MS = 1500;

/** The browser may refuse to keep anything. */
function remembered() {
  try {
    return localStorage.getItem(LANGUAGE);
  } catch {
    return null;
  }
}
function remember(language) {
  try {
    localStorage.setItem(LANGUAGE, language);
  } catch {}
}

const languagesOf = (samples) => [...samples.querySelectorAll('[data-language]')];

/** A sample that does not exist in the language shows its first one. */
function choose(samples, language) {
  const all = languagesOf(samples);
  const chosen = all.find((each) => each.dataset.language === language) ?? all[0];
  for (const each of all) each.open = each === chosen;
  for (const button of samples.querySelectorAll('.languages button')) {
    button.setAttribute('aria-pressed', String(button.textContent === chosen?.dataset.language));
  }
}

export function addLanguages() {
  const blocks = [...document.querySelectorAll('[data-samples]')];
  for (const samples of blocks) {
    const bar = document.createElement('div');
    bar.className = 'languages';
    bar.setAttribute('role', 'group');
    bar.setAttribute('aria-label', 'Language');
    for (const { dataset } of languagesOf(samples)) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = dataset.language;
      button.addEventListener('click', () => {
        remember(dataset.language);
        for (const each of blocks) choose(each, dataset.language);
      });
      bar.append(button);
    }
    samples.prepend(bar);
    choose(samples, remembered());
  }
}

/** Without TLS, there is no clipboard but for a selection. */
async function copy(code) {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(code.textContent);
  const selection = getSelection();
  selection.selectAllChildren(code);
  const copied = document.execCommand('copy');
  selection.removeAllRanges();
  if (!copied) throw new Error('The browser copies nothing.');
}

export function addCopyButtons(part) {
  for (const block of part.querySelectorAll('pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      button.textContent = await copy(block.querySelector('code')).then(
        () => 'Copied',
        () => 'Not copied',
      );
      setTimeout(() => {
        button.textContent = 'Copy';
      }, COPIED_SHOWN_MS);
    });
    const frame = document.createElement('div');
    frame.className = 'code';
    block.replaceWith(frame);
    frame.append(block, button);
  }
}

const TOKENS =
  /(?<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)(?<colon>\s*:)?|(?<word>\b(?:await|async|break|catch|const|curl|export|false|for|from|func|if|import|in|new|null|of|range|return|true|try|var|with|False|None|True|nil)\b)|(?<number>\b\d+(?:\.\d+)?\b)/g;
const HIGHLIGHTED_LENGTH_MAX = 50_000;

/** Colours are laid over the text, so that it stays what it is. Browsers without them show it plain. */
export function highlight(part) {
  if (typeof Highlight === 'undefined') return;
  const ranges = { text: [], name: [], word: [], number: [] };
  for (const code of part.querySelectorAll('pre code')) {
    const node = code.firstChild;
    if (!(node instanceof Text) || node.length > HIGHLIGHTED_LENGTH_MAX) continue;
    for (const { index, groups } of node.data.matchAll(TOKENS)) {
      const range = document.createRange();
      range.setStart(node, index);
      const token = groups.text ?? groups.word ?? groups.number;
      range.setEnd(node, index + token.length);
      const kind = groups.word !== undefined ? 'word' : groups.number !== undefined ? 'number' : 'text';
      ranges[kind === 'text' && groups.colon !== undefined ? 'name' : kind].push(range);
    }
  }
  for (const [kind, found] of Object.entries(ranges)) CSS.highlights.set(`code-${kind}`, new Highlight(...found));
}
