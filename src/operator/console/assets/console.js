// The console's own script: what pages do in the browser beyond the attributes of htmx. A part that refreshes itself
// pauses while it is hidden and shows its age when it is out of date; buttons copy the text next to them; a log-in link
// fills in the form of the log-in.

(() => {
  const isPaused = (element) => element.closest('[data-paused]') !== null;
  const isLive = (element) => element instanceof Element && element.hasAttribute('data-live');

  // A part that refreshes itself is out of date once a refresh has failed, or three in a row are missing: the server
  // may have gone away silently. The part turns grey, and its ages keep counting.
  const RENEWALS_MISSED_MAX = 3;
  const renewedAtMs = new Map();
  const failedIds = new Set();

  function inWords(ms) {
    const seconds = Math.floor(ms / 1000);
    if (seconds < 120) return `${seconds} s`;
    return seconds < 7200 ? `${Math.floor(seconds / 60)} minutes` : `${Math.floor(seconds / 3600)} hours`;
  }
  function showAges() {
    const nowMs = performance.now();
    let oldestMs;
    for (const part of document.querySelectorAll('[data-live][hx-trigger]')) {
      if (isPaused(part)) continue;
      const ageMs = nowMs - (renewedAtMs.get(part.id) ?? 0);
      const isMissed = ageMs > RENEWALS_MISSED_MAX * (Number(part.dataset.live) || Number.POSITIVE_INFINITY);
      const isStale = failedIds.has(part.id) || isMissed;
      part.classList.toggle('outdated', isStale);
      for (const each of part.querySelectorAll('[data-age]')) {
        each.textContent = `as of ${inWords(Number(each.dataset.age) + ageMs)} ago`;
      }
      if (isStale) oldestMs = Math.max(oldestMs ?? 0, ageMs);
    }
    for (const each of document.querySelectorAll('[data-stale]')) each.hidden = oldestMs === undefined;
    if (oldestMs === undefined) return;
    for (const each of document.querySelectorAll('[data-stale-age]'))
      each.textContent = `as of ${inWords(oldestMs)} ago`;
  }
  setInterval(() => {
    if (!document.hidden) showAges();
  }, 1000);

  function noteRenewal(part, succeeded) {
    if (succeeded) {
      renewedAtMs.set(part.id, performance.now());
      failedIds.delete(part.id);
    } else failedIds.add(part.id);
    showAges();
  }

  document.addEventListener('htmx:before:request', (event) => {
    const { sourceElement } = event.detail.ctx;
    if (isLive(sourceElement) && (document.hidden || isPaused(sourceElement))) event.preventDefault();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return;
    for (const each of document.querySelectorAll('[data-live]')) window.htmx.trigger(each, 'refresh');
  });
  document.addEventListener('htmx:after:request', (event) => {
    const { sourceElement, response } = event.detail.ctx;
    if (isLive(sourceElement) && response.status >= 400) noteRenewal(sourceElement, false);
  });
  document.addEventListener('htmx:after:swap', (event) => {
    const part = event.detail.ctx?.sourceElement;
    if (isLive(part) && event.detail.ctx.response?.status < 400) noteRenewal(part, true);
  });
  document.addEventListener('htmx:error', (event) => {
    if (isLive(event.detail.ctx?.sourceElement)) noteRenewal(event.detail.ctx.sourceElement, false);
  });

  const COPIED_SHOWN_MS = 2000;
  function announce(text) {
    const region = document.getElementById('announced');
    if (region === null) return;
    // The same text again would not be announced.
    region.textContent = '';
    setTimeout(() => {
      region.textContent = text;
    }, 50);
  }
  /**
   * Copies the element that the button names, or the one before it. Only a secure context has the clipboard; elsewhere
   * the text is selected, so that one keystroke copies it.
   */
  async function copy(button) {
    const source = document.getElementById(button.dataset.copy ?? '') ?? button.previousElementSibling;
    const status = document.getElementById(button.dataset.copyStatus ?? '');
    const report = (text) => {
      if (status === null) announce(text);
      else status.textContent = text;
    };
    if (source === null) return;
    try {
      await navigator.clipboard.writeText(source.textContent);
      report('Copied.');
      button.classList.add('copied');
      setTimeout(() => button.classList.remove('copied'), COPIED_SHOWN_MS);
    } catch {
      window.getSelection().selectAllChildren(source);
      report('Selected: copy it with Ctrl+C.');
    }
  }
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-copy], .copy') : null;
    if (button !== null) void copy(button);
  });

  // A list to which a part adds: paused and resumed by a button, and cut to the newest items.
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-pause]') : null;
    const list = button === null ? null : document.getElementById(button.dataset.pause);
    if (list === null) return;
    const isPausedNow = list.toggleAttribute('data-paused');
    button.setAttribute('aria-pressed', String(isPausedNow));
    button.textContent = isPausedNow ? 'Resume' : 'Pause';
    announce(isPausedNow ? 'Paused.' : 'Resumed.');
    if (isPausedNow) return;
    for (const part of list.querySelectorAll('[data-live]')) {
      renewedAtMs.set(part.id, performance.now());
      window.htmx.trigger(part, 'refresh');
    }
  });
  // The first child requests more items; the newest item follows it.
  const newestSeen = new WeakMap();
  function noteItems() {
    for (const list of document.querySelectorAll('[data-items-max]')) {
      const items = [...list.children].slice(1);
      if (newestSeen.has(list)) {
        const at = items.indexOf(newestSeen.get(list));
        const added = at < 0 ? items.length : at;
        if (added > 0) announce(added === 1 ? '1 new change.' : `${added} new changes.`);
      }
      newestSeen.set(list, items[0]);
      for (const item of items.slice(Number(list.dataset.itemsMax))) item.remove();
    }
  }
  document.addEventListener('DOMContentLoaded', noteItems);
  document.addEventListener('htmx:after:swap', noteItems);

  // The slots: the pointer, a finger or the arrow keys choose one, and the line below the picture describes it. A
  // refresh replaces the picture, so the chosen slot is marked again afterwards.
  let chosenSlot;
  function describeSlot() {
    const picture = document.querySelector('svg[data-slots]');
    const field = document.getElementById('slot-number');
    const status = document.getElementById('slot-description');
    if (picture === null || field === null || status === null || chosenSlot === undefined) return;
    const [columns, cell] = [Number(picture.dataset.columns), Number(picture.dataset.cell)];
    const [left, top] = [(chosenSlot % columns) * cell, Math.floor(chosenSlot / columns) * cell];
    const inside = new DOMPoint(left + cell / 2 - 1, top + cell / 2 - 1);
    const found = [...picture.querySelectorAll('path')].find((each) => each.isPointInFill(inside));
    if (found === undefined) return;
    const text = `Slot ${chosenSlot}: ${found.textContent}`;
    field.value = String(chosenSlot);
    field.setAttribute('aria-valuetext', text);
    status.textContent = text;
    const mark = picture.querySelector('.slot-chosen');
    mark.setAttribute('x', String(left));
    mark.setAttribute('y', String(top));
  }
  function chooseSlotAt(event) {
    const picture = event.target instanceof Element ? event.target.closest('svg[data-slots]') : null;
    if (picture === null) return;
    const { left, top, width } = picture.getBoundingClientRect();
    const columns = Number(picture.dataset.columns);
    const across = Math.floor(((event.clientX - left) / width) * columns);
    const slot = Math.floor(((event.clientY - top) / width) * columns) * columns + across;
    if (across < 0 || across >= columns || slot >= Number(picture.dataset.slots) || slot === chosenSlot) return;
    chosenSlot = slot;
    describeSlot();
  }
  for (const name of ['pointermove', 'pointerdown']) document.addEventListener(name, chooseSlotAt);
  // On focus too: the slider has a position before it is moved.
  for (const name of ['input', 'focusin']) {
    document.addEventListener(name, (event) => {
      if (event.target.id !== 'slot-number') return;
      chosenSlot = Number(event.target.value);
      describeSlot();
    });
  }
  document.addEventListener('htmx:after:swap', describeSlot);

  // Moves the code of a log-in link into the form and out of the address, so that the browser history does not keep it.
  function logInByLink() {
    const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
    if (code === undefined) return;
    history.replaceState(null, '', location.pathname + location.search);
    const form = document.querySelector('.log-in form');
    if (form === null) return;
    const field = document.createElement('input');
    field.type = 'hidden';
    field.name = 'code';
    field.value = code;
    form.append(field);
    form.submit();
  }
  document.addEventListener('DOMContentLoaded', logInByLink);

  // Ctrl-K, or Command-K, goes to the search.
  document.addEventListener('keydown', (event) => {
    const isSearch = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key === 'k';
    const field = isSearch ? document.querySelector('.top-search input[type="search"]') : null;
    if (field === null) return;
    event.preventDefault();
    field.focus();
    field.select();
  });

  // Focuses a refused field first, otherwise what was just created.
  function focusWhatMatters() {
    const invalid = document.querySelector('[aria-invalid="true"]');
    const announced = invalid ?? document.querySelector('[data-focus]');
    announced?.focus();
  }
  document.addEventListener('DOMContentLoaded', focusWhatMatters);
  document.addEventListener('htmx:after:swap', (event) => {
    if (!isLive(event.detail.ctx?.sourceElement) && event.detail.ctx?.sourceElement?.matches('form[method="post"]')) {
      focusWhatMatters();
    }
  });
})();
