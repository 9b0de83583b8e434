// The console's own script: what pages do in the browser beyond the attributes of htmx. A part that refreshes itself
// pauses while it is hidden and shows its age when it is out of date; buttons copy the text next to them; a log-in link
// fills in the form of the log-in.

(() => {
  // Times are in UTC. Here they appear in the zone of the person, with UTC in the title, or the reverse, as the person
  // chooses; fields for a date take one in that zone, show it in UTC beside, and send it in UTC.
  const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const ZONE_KEY = 'grantd.times';
  const hasZone = !/^(?:Etc\/)?(?:UTC|UCT|Universal|Zulu|GMT)$/.test(ZONE ?? 'UTC');
  /** Characters of `2026-11-27 18:29:02`. */
  const SHOWN = { second: [0, 19], minute: [0, 16], clock: [11, 19], hour: [11, 16] };
  let showsUtc = !hasZone;
  try {
    showsUtc ||= localStorage.getItem(ZONE_KEY) === 'utc';
  } catch {
    // A browser that keeps nothing forgets the choice.
  }
  const pad = (number) => String(number).padStart(2, '0');
  const textInUtc = (date) => date.toISOString().slice(0, 19).replace('T', ' ');
  const textInZone = (date) =>
    `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ` +
    `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;

  function showTimes() {
    for (const each of hasZone ? document.querySelectorAll('[data-as]') : []) {
      const date = new Date(each.getAttribute('datetime') ?? each.dataset.at);
      const range = SHOWN[each.dataset.as];
      if (each.localName === 'time') each.title = `${textInZone(date)} ${ZONE} = ${textInUtc(date)} UTC`;
      if (range === undefined) continue;
      const text = showsUtc ? textInUtc(date) : textInZone(date);
      each.textContent = text.slice(...range) + (showsUtc && each.localName === 'time' ? ' UTC' : '');
    }
    const button = document.getElementById('zone');
    if (button === null) return;
    button.textContent = showsUtc ? `Times in UTC. Show ${ZONE}` : `Times in ${ZONE}. Show UTC`;
    button.parentElement.hidden = document.querySelector('[data-as]') === null;
  }

  function addZoneButton() {
    const main = document.getElementById('content');
    if (!hasZone || main === null) return;
    const line = document.createElement('p');
    line.className = 'zone';
    const button = document.createElement('button');
    button.type = 'button';
    button.id = 'zone';
    button.className = 'secondary outline';
    button.addEventListener('click', () => {
      showsUtc = !showsUtc;
      try {
        localStorage.setItem(ZONE_KEY, showsUtc ? 'utc' : 'zone');
      } catch {
        // As above.
      }
      showTimes();
    });
    line.append(button);
    main.after(line);
  }

  /** As the pages show it, so that one can be pasted. A browser's own field shows the order of its locale. */
  const DATE_TIME = /^(\d{4,6}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(?: ?(Z|UTC))?$/;
  /** A field in UTC becomes one in the zone of the person; what is sent stays in UTC. */
  function replaceDateField(field) {
    const before = new Date(`${field.value.replace(' ', 'T')}Z`);
    // What is no date stays as it was typed.
    if (field.value !== '' && Number.isNaN(before.getTime())) return;
    const sent = document.createElement('input');
    sent.type = 'hidden';
    sent.name = field.name;
    const beside = document.createElement('output');
    const value = field.value === '' ? '' : textInZone(before);
    field.removeAttribute('name');
    field.value = value.replace(/:00$/, '');
    for (const { firstChild } of field.labels) firstChild.data = firstChild.data.replace(' (UTC)', '');
    field.after(sent, beside);
    const read = () => {
      const text = field.value.trim();
      const [, day, time, utc] = DATE_TIME.exec(text) ?? [];
      const date = new Date(`${day}T${time}${utc === undefined ? '' : 'Z'}`);
      const isDate = !Number.isNaN(date.getTime());
      sent.value = isDate ? date.toISOString().slice(0, 19) : text;
      beside.textContent = isDate ? `= ${textInUtc(date)} UTC` : ZONE;
    };
    field.addEventListener('input', read);
    read();
  }
  function replaceDateFields() {
    for (const field of hasZone ? document.querySelectorAll('input[data-date]') : []) {
      field.removeAttribute('data-date');
      replaceDateField(field);
    }
  }

  const localize = () => {
    showTimes();
    replaceDateFields();
  };
  document.addEventListener('DOMContentLoaded', () => {
    addZoneButton();
    localize();
  });
  document.addEventListener('htmx:after:swap', localize);

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

  // A link to a form opens its dialog, if the page has it.
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('[data-dialog], dialog [data-close]') : null;
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const dialog = link.closest('dialog') ?? document.getElementById(link.dataset.dialog);
    if (!(dialog instanceof HTMLDialogElement)) return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else {
      dialog.showModal();
      const fields = [...dialog.querySelectorAll('input[required]')];
      (fields.find(({ value }) => value === '') ?? fields[0])?.focus();
    }
  });

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
    const source = event.detail.ctx?.sourceElement;
    // The form itself, or what has taken its place.
    const isSent = source?.matches('form[method="post"]') || source?.querySelector('form[method="post"]');
    if (isSent && !isLive(source)) focusWhatMatters();
  });
})();
