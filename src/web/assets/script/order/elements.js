// Makes elements of pages from texts only. No text is ever parsed as HTML.

const svgNamespace = 'http://www.w3.org/2000/svg';

/** @typedef {Node | string | null | false} Child */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Readonly<Record<string, string | boolean | ((event: Event) => void)>>} attributes functions listen to events
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== false));
  return made;
}

/**
 * @param {string} tag
 * @param {Readonly<Record<string, string>>} attributes
 * @param {...Node} children
 */
export function svgElement(tag, attributes, ...children) {
  const made = document.createElementNS(svgNamespace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** The copy icon of identifiers.ts. The icon is drawn, because fonts of phones have no character for it. */
const copyIcon = () =>
  svgElement(
    'svg',
    { viewBox: '0 0 16 16', width: '16', height: '16', 'aria-hidden': 'true' },
    svgElement('path', { d: 'M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z' }),
  );

/**
 * Makes a button that copies a text, like the copy buttons of other pages (copy.js).
 *
 * @param {string} text
 * @param {string} what
 */
export const copyButton = (text, what) =>
  'clipboard' in navigator
    ? element(
        'button',
        { class: 'copy', type: 'button', 'data-copy': text, 'aria-label': `Copy ${what}`, title: 'Copy' },
        copyIcon(),
      )
    : null;

/**
 * Makes an identifier that links to its page, with a button that copies the identifier.
 *
 * @param {string} path
 * @param {string} text
 * @param {string} what
 */
export const identifier = (path, text, what) =>
  element(
    'span',
    { class: 'copied' },
    element('a', { class: 'mono wrap', href: path, title: text }, text),
    copyButton(text, what),
  );

/**
 * Finds the element with an id. Throws if the page has no element of this kind with this id.
 *
 * @template {HTMLElement} Kind
 * @param {string} id
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
export function byId(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

/**
 * Replaces the content of a part of a page, unless the current content was made from the same values.
 *
 * @param {HTMLElement} part
 * @param {unknown} values values from which the content is made
 * @param {() => readonly Child[]} make
 */
export function fill(part, values, make) {
  const made = JSON.stringify(values);
  if (part.dataset['made'] !== made) {
    part.dataset['made'] = made;
    part.replaceChildren(...make().filter((child) => child !== null && child !== false));
  }
  // the part is shown again if other code has hidden it
  part.hidden = part.childNodes.length === 0;
}
