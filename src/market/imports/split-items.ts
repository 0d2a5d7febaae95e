import { type ImportFaults, invalid } from './import-faults.ts';

export const itemsFile = 'inscriptions.json';

/** Maximum number of bytes of an item. An item with a hundred traits has a tenth of this size. */
export const itemBytesMax = 64 * 1024;
/**
 * Maximum depth of nested objects and lists in an item. An item with traits, `{"meta": {"attributes": [{…}]}}`, has
 * depth 4.
 */
export const itemDepthMax = 16;

/** Kinds of bytes outside of JSON strings. The kinds are in a table, because every byte of a file is looked up. */
const kinds = { other: 0, blank: 1, opens: 2, closes: 3, comma: 4, quote: 5, backslash: 6 } as const;
const kindOf = new Uint8Array(256);
for (const blank of ' \t\n\r') kindOf[blank.charCodeAt(0)] = kinds.blank;
for (const open of '[{') kindOf[open.charCodeAt(0)] = kinds.opens;
for (const close of ']}') kindOf[close.charCodeAt(0)] = kinds.closes;
kindOf[','.charCodeAt(0)] = kinds.comma;
kindOf['"'.charCodeAt(0)] = kinds.quote;
kindOf['\\'.charCodeAt(0)] = kinds.backslash;
const listOpens = '['.charCodeAt(0);
const listCloses = ']'.charCodeAt(0);
const byteOrderMark = [0xef, 0xbb, 0xbf];

/** An item of a list. */
export interface SplitItem {
  readonly text: string;
  /** The item's position in the file, for messages. */
  readonly where: string;
}

/**
 * Splits a JSON list into the texts of its items while the list arrives, so a list of any size needs the memory of only
 * one item. The splitter only finds where items begin and end. The code that parses the texts finds other faults. Items
 * that are not UTF-8 are skipped, with a refusal. Throws `collection_invalid` if the start of the next item cannot be
 * found.
 */
export class ItemSplitter {
  readonly #faults: ImportFaults;
  readonly #item = new Uint8Array(itemBytesMax);
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #length = 0;
  #items = 0;
  #depth = 0;
  #marked = 0;
  #state: 'before' | 'list' | 'after' = 'before';
  #isInText = false;
  #isEscaped = false;

  constructor(faults: ImportFaults) {
    this.#faults = faults;
  }

  /** The number of items so far. */
  get items(): number {
    return this.#items;
  }

  /** Accepts the next bytes of the list, and yields the items that end in these bytes. */
  *push(bytes: Uint8Array): Generator<SplitItem> {
    for (const byte of bytes) {
      if (this.#state !== 'list') this.#outside(byte);
      else if (this.#endsItem(byte)) {
        const isEmpty = byte === listCloses && this.#items === 0 && this.#length === 0;
        const item = isEmpty ? null : this.#taken();
        if (item !== null) yield item;
        if (byte === listCloses) this.#state = 'after';
      } else this.#keep(byte);
    }
  }

  /** Throws if the list has no end. */
  end(): void {
    if (this.#state !== 'after') throw invalid(itemsFile, 'it ends before the end of its list');
  }

  #outside(byte: number): void {
    if (kindOf[byte] === kinds.blank) return;
    if (this.#state === 'before' && byte === byteOrderMark[this.#marked]) {
      this.#marked++;
      return;
    }
    if (this.#state === 'after') throw invalid(itemsFile, 'it has text after the end of its list');
    if (byte !== listOpens) throw invalid(itemsFile, 'it is not a JSON list');
    this.#state = 'list';
  }

  #endsItem(byte: number): boolean {
    return !this.#isInText && this.#depth === 0 && (kindOf[byte] === kinds.comma || byte === listCloses);
  }

  #keep(byte: number): void {
    const kind = kindOf[byte];
    if (this.#isInText) this.#withinText(kind);
    else if (kind === kinds.quote) this.#isInText = true;
    else if (kind === kinds.opens) this.#deeper();
    else if (kind === kinds.closes) this.#depth--;
    else if (kind === kinds.blank && this.#length === 0) return;
    if (this.#depth < 0) throw invalid(this.#place(), 'it has a closing bracket without an opening one');
    if (this.#length === itemBytesMax) throw invalid(this.#place(), `it has more than ${itemBytesMax} bytes`);
    this.#item[this.#length++] = byte;
  }

  #withinText(kind: number | undefined): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (kind === kinds.backslash) this.#isEscaped = true;
    else if (kind === kinds.quote) this.#isInText = false;
  }

  #deeper(): void {
    this.#depth++;
    if (this.#depth > itemDepthMax)
      throw invalid(this.#place(), `it is nested more than ${itemDepthMax} levels deep`);
  }

  #taken(): SplitItem | null {
    const where = this.#place();
    const bytes = this.#item.subarray(0, this.#length);
    this.#length = 0;
    this.#items++;
    try {
      return { text: this.#decoder.decode(bytes), where };
    } catch {
      this.#faults.refuse(where, 'it is not UTF-8');
      return null;
    }
  }

  #place(): string {
    return `${itemsFile}, item ${this.#items + 1}`;
  }
}
