import { beginsOrderId, orderPageOf } from './order-id.js';

// Shows a list of suggestions below each search box, as a combobox (WAI-ARIA 1.2). The focus stays in the box.
const pauseMs = 150;

/**
 * The response of `/search/suggest`.
 *
 * @typedef {object} Suggestions
 * @property {string} status
 * @property {{ text: string }[]} words
 * @property {{ kind: string, name: string, path: string }[]} names
 */

/**
 * Adds suggestions to a search box.
 *
 * @param {HTMLInputElement} input
 * @param {number} number of the box on its page
 */
export function suggest(input, number) {
  const list = document.createElement('ul');
  list.id = `suggestions-${number}`;
  list.className = 'suggestions';
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Suggestions');
  input.closest('.box')?.after(list);
  const attributes = {
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': list.id,
  };
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {AbortController | null} */
  let asked = null;
  let chosen = -1;

  /** @param {boolean} isShown */
  const show = (isShown) => {
    list.hidden = !isShown;
    input.setAttribute('aria-expanded', String(isShown));
    if (!isShown) choose(-1);
  };
  /** @param {number} index of the suggestion. -1 means the box itself */
  const choose = (index) => {
    chosen = index;
    for (const [at, option] of [...list.children].entries())
      option.setAttribute('aria-selected', String(at === index));
    const option = list.children[index];
    if (option) input.setAttribute('aria-activedescendant', option.id);
    else input.removeAttribute('aria-activedescendant');
  };
  /** @param {HTMLElement} option */
  const take = (option) => {
    show(false);
    const { path, text } = option.dataset;
    if (path) return location.assign(path);
    input.value = text ?? '';
    input.form?.requestSubmit();
  };
  /**
   * @param {Record<string, string>} data
   * @param {string} words
   * @param {string} hint
   */
  const add = (data, words, hint) => {
    const option = document.createElement('li');
    option.id = `${list.id}-${list.children.length}`;
    option.setAttribute('role', 'option');
    Object.assign(option.dataset, data);
    const small = document.createElement('small');
    small.textContent = hint;
    // isolate the text, because a stranger wrote it, and it must not change the direction of the hint next to it
    const text = document.createElement('bdi');
    text.textContent = words;
    option.append(text, small);
    list.append(option);
  };
  const ask = async () => {
    asked?.abort();
    const text = input.value;
    if (text.trim() === '') return show(false);
    const order = orderPageOf(text);
    if (order !== null) {
      list.replaceChildren();
      add({ path: order }, 'Open this order', 'order');
      return show(true);
    }
    // request no suggestions for the beginning of an order's id. Otherwise the browser would send all digits of the id
    // except the last
    if (beginsOrderId(text)) return show(false);
    asked = new AbortController();
    try {
      const answer = await fetch(`/search/suggest?text=${encodeURIComponent(text)}`, {
        // send the referrer, because it tells the server that the request comes from one of the server's own pages. The
        // server needs to know this if searches need a key
        referrerPolicy: 'same-origin',
        signal: asked.signal,
      });
      const { status, words, names } = /** @type {Suggestions} */ (await answer.json());
      if (status !== 'ok' || input.value !== text || document.activeElement !== input) return;
      list.replaceChildren();
      for (const { name, kind, path } of names) add({ path }, name, kind);
      for (const { text: whole } of words) add({ text: whole }, whole, '');
      show(list.children.length > 0);
      choose(-1);
    } catch {
      // ignore the failure, because the search works without suggestions
    }
  };

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(ask, pauseMs);
  });
  input.addEventListener('keydown', (event) => {
    const count = list.children.length;
    if (list.hidden || count === 0) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      // -1 means the box itself
      choose(((chosen + 1 + step + count + 1) % (count + 1)) - 1);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      show(false);
    } else if (event.key === 'Enter' && chosen >= 0) {
      event.preventDefault();
      take(/** @type {HTMLElement} */ (list.children[chosen]));
    }
  });
  // `pointerdown` comes before the box loses the focus, which would hide the list
  list.addEventListener('pointerdown', (event) => {
    const option = event.target instanceof Element ? event.target.closest('li') : null;
    if (option !== null) {
      event.preventDefault();
      take(option);
    }
  });
  input.addEventListener('blur', () => show(false));
  input.form?.addEventListener('submit', () => {
    clearTimeout(timer);
    asked?.abort();
    show(false);
  });
}
