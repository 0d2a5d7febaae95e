// The contents of a new order: files, texts and delegates. The customer can add and remove them.
import { sizeWords } from './amounts.js';
import { byId, element, fill } from './elements.js';
import { takeFiles } from './file-checks.js';
import { bytesOfItem, inscriptionIdsIn } from './order-body.js';

/** @import { FileLimits } from './file-checks.js' */
/** @import { Item } from './order-body.js' */

/**
 * Maximum number of items that are listed by name. If there were more, people with a phone would have to scroll far.
 */
const listedMax = 100;

export class ItemList {
  /** @type {Item[]} */
  #items = [];
  #texts = 0;
  #onChange;
  #limits;

  /**
   * @param {FileLimits} limits
   * @param {() => void} onChange
   */
  constructor(limits, onChange) {
    this.#limits = limits;
    this.#onChange = onChange;
  }

  /** @returns {readonly Item[]} */
  get items() {
    return this.#items;
  }

  get bytes() {
    return this.#items.reduce((sum, item) => sum + bytesOfItem(item), 0);
  }

  /** Listens to the fields that add contents, and to files that are dropped anywhere on the page. */
  listen() {
    const files = byId('files', HTMLInputElement);
    files.addEventListener('change', () => {
      this.addFiles([...(files.files ?? [])]);
      // the field is emptied, so that the same file can be chosen again
      files.value = '';
    });
    const zone = byId('dropzone', HTMLElement);
    const setOver = (/** @type {boolean} */ isOver) => zone.classList.toggle('over', isOver);
    addEventListener('dragover', (event) => {
      if (!(event.dataTransfer?.types.includes('Files') ?? false)) return;
      event.preventDefault();
      setOver(true);
    });
    addEventListener('dragleave', (event) => {
      if (event.relatedTarget === null) setOver(false);
    });
    addEventListener('drop', (event) => {
      if (!(event.dataTransfer?.types.includes('Files') ?? false)) return;
      event.preventDefault();
      setOver(false);
      void this.#dropped(event.dataTransfer);
    });
    byId('add-text', HTMLButtonElement).addEventListener('click', () => this.#addText());
    byId('add-delegates', HTMLButtonElement).addEventListener('click', () => this.#addDelegates());
  }

  /** @param {DataTransfer | null} data */
  async #dropped(data) {
    const entries = [...(data?.items ?? [])].map((item) => item.webkitGetAsEntry());
    const files = [...(data?.files ?? [])].filter((_, index) => entries[index]?.isDirectory !== true);
    const folders = entries.filter((entry) => entry?.isDirectory === true).length;
    this.addFiles(files);
    if (folders > 0)
      this.#tell(['Folders are not accepted: open the folder, select its files, and drop these.'], true);
  }

  /** @param {readonly File[]} files */
  addFiles(files) {
    const before = { count: this.#items.length, bytes: this.bytes };
    const { taken, problems } = takeFiles(files, before, this.#limits);
    const made = taken.map(
      (file) => /** @type {const} */ ({ kind: 'file', name: file.name, size: file.size, blob: file }),
    );
    this.#items = [...this.#items, ...made];
    this.#tell(problems);
    this.#changed();
  }

  #addText() {
    const field = byId('text', HTMLTextAreaElement);
    const blob = new Blob([field.value], { type: 'text/plain' });
    if (blob.size === 0) {
      this.#tell(['The text is empty. Write something first.']);
      field.focus();
      return;
    }
    const name = `text-${this.#texts + 1}.txt`;
    const before = { count: this.#items.length, bytes: this.bytes };
    const { taken, problems } = takeFiles([{ name, size: blob.size }], before, this.#limits);
    this.#tell(problems);
    if (taken.length === 0) return;
    this.#texts += 1;
    this.#items = [...this.#items, { kind: 'text', name, size: blob.size, blob }];
    field.value = '';
    this.#changed();
  }

  #addDelegates() {
    const field = byId('delegates', HTMLTextAreaElement);
    const { ids, others } = inscriptionIdsIn(field.value);
    const room = this.#limits.filesMax - this.#items.length;
    const made = ids.slice(0, room).map((id) => /** @type {const} */ ({ kind: 'delegate', id }));
    this.#items = [...this.#items, ...made];
    field.value = others.join('\n');
    const isEmpty = ids.length === 0 && others.length === 0;
    this.#tell([
      ...(isEmpty ? ['There is no id. Paste ids of inscriptions, one per line.'] : []),
      ...others.slice(0, 3).map((word) => `${word.slice(0, 80)} is not the id of an inscription.`),
      ...(ids.length > room ? [`Only ${room} more fit into this order.`] : []),
    ]);
    this.#changed();
  }

  /** @param {number} index */
  #remove(index) {
    this.#items = this.#items.filter((_, place) => place !== index);
    this.#tell([]);
    this.#changed();
    byId('files', HTMLInputElement).focus();
  }

  #changed() {
    this.#show();
    this.#onChange();
  }

  /**
   * Shows why something was not added. Replaces earlier messages unless `isBeside` is true.
   *
   * @param {readonly string[]} problems
   * @param {boolean} [isBeside] whether earlier messages stay
   */
  #tell(problems, isBeside = false) {
    const list = byId('problems', HTMLElement);
    const shown = problems.slice(0, 5).map((words) => element('li', {}, words));
    const more = problems.length > 5 ? [element('li', {}, `And ${problems.length - 5} more.`)] : [];
    if (!isBeside) list.replaceChildren();
    list.append(...shown, ...more);
    list.hidden = list.childNodes.length === 0;
  }

  #show() {
    const listed = this.#items.slice(0, listedMax);
    const rest = this.#items.length - listed.length;
    const words = listed.map((item) => (item.kind === 'delegate' ? item.id : item.name));
    fill(byId('items', HTMLElement), [words, rest], () => [
      ...listed.map((item, index) =>
        element(
          'li',
          {},
          element('span', { class: 'wrap' }, element('bdi', {}, words[index] ?? '')),
          element(
            'span',
            { class: 'faint nowrap' },
            item.kind === 'delegate' ? 'delegate' : sizeWords(item.size),
          ),
          element(
            'button',
            {
              type: 'button',
              class: 'button',
              'aria-label': `Remove ${words[index] ?? ''}`,
              click: () => this.#remove(index),
            },
            'Remove',
          ),
        ),
      ),
      rest > 0 && element('li', { class: 'faint' }, `and ${rest} more`),
    ]);
  }
}
