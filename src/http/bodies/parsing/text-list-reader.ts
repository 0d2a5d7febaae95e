import type { BodyReader } from './body-reader.ts';
import type { ParsedBody } from './parse-body.ts';
import { lengthBytes, TextList } from './text-list.ts';

/** Maximum number of bytes of a text. Ids have 75 characters. If all are escaped, they have six times as many bytes. */
const textBytesMax = 512;
/** Maximum number of bytes of a decoded text. A byte that is not UTF-8 becomes a character of three bytes. */
const decodedBytesMax = 3 * textBytesMax;
const blockBytesMin = 16 * 1024;
/**
 * Maximum size of a block in bytes. It is large enough that 32 MiB need only a few blocks, and small enough that the
 * unused end of the last block is short.
 */
const blockBytesMax = 256 * 1024;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const opening = 0x5b;
const closing = 0x5d;
const byteOrderMark = [0xef, 0xbb, 0xbf];
/** The bytes with which a JSON value can begin. */
const beginnings = new Set(Buffer.from('{["-0123456789tfn'));

/** The kinds of bytes that are allowed next. */
type Expected = 'list' | 'text or end' | 'text' | 'rest of text' | 'comma or end' | 'nothing';

/**
 * Reads a JSON list of texts while it arrives. One pass over the bytes is enough, and no string is created for each
 * text. After the first wrong byte nothing more is parsed, so any other body costs only its transfer.
 */
export class TextListReader implements BodyReader {
  readonly #max: number;
  readonly #takeRoom: (bytes: number) => void;
  #expected: Expected = 'list';
  /** Number of bytes that came before the list. */
  #before = 0;
  #count = 0;
  #fault: string | null = null;

  /** Full blocks. The unused end of each block is cut off. */
  readonly #full: Uint8Array[] = [];
  #block = Buffer.alloc(0);
  /** Start of the current text in the block. `#end` is the end of the part of this text that has arrived. */
  #start = 0;
  #end = 0;
  #hasEscapes = false;

  /**
   * Creates an empty list.
   *
   * @param max maximum number of texts that are kept; further texts are only counted
   * @param takeRoom called with the size of each block before it is created; may throw
   */
  constructor(max: number, takeRoom: (bytes: number) => void) {
    this.#max = max;
    this.#takeRoom = takeRoom;
  }

  append(chunk: Uint8Array): void {
    for (let place = 0; place < chunk.length && this.#fault === null; ) {
      if (this.#expected === 'rest of text') place = this.#readText(chunk, place);
      else this.#readMark(chunk[place++] ?? 0);
    }
  }

  async end(): Promise<ParsedBody> {
    if (this.#fault !== null) return { ok: false, message: this.#fault };
    if (this.#expected !== 'nothing') return { ok: false, message: notJson };
    // this is ord's message; ord has such a limit too if it is configured
    if (this.#count > this.#max) {
      const message = `request for ${this.#count} items exceeds batch limit of ${this.#max}`;
      return { ok: false, message };
    }
    this.#closeBlock();
    return { ok: true, value: new TextList(this.#full, this.#count) };
  }

  /** Reads a byte outside texts. */
  #readMark(byte: number): void {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return;
    if (this.#expected === 'list') this.#readBeginning(byte);
    else if (this.#expected === 'comma or end') this.#readSeparator(byte);
    else if (this.#expected === 'nothing') this.#fault = notJson;
    else if (byte === quote) this.#begin();
    else if (byte === closing && this.#expected === 'text or end') this.#expected = 'nothing';
    else this.#fault = beginnings.has(byte) ? 'an item of the body is not a string' : notJson;
  }

  #readBeginning(byte: number): void {
    if (byte === opening) this.#expected = 'text or end';
    // ignore a byte order mark, as other JSON readers do
    else if (byte === byteOrderMark[this.#before]) this.#before++;
    else this.#fault = beginnings.has(byte) ? 'the body is not an array' : notJson;
  }

  #readSeparator(byte: number): void {
    if (byte === comma) this.#expected = 'text';
    else if (byte === closing) this.#expected = 'nothing';
    else this.#fault = notJson;
  }

  #begin(): void {
    this.#expected = 'rest of text';
    this.#count++;
    this.#hasEscapes = false;
    if (this.#block.length - this.#start < lengthBytes + decodedBytesMax) this.#addBlock();
    this.#end = this.#start + lengthBytes;
  }

  /**
   * Copies the text up to its end, or up to the end of the chunk. Returns the position after the text, or the length of
   * the chunk.
   */
  #readText(chunk: Uint8Array, from: number): number {
    const block = this.#block;
    const last = this.#start + lengthBytes + textBytesMax;
    let end = this.#end;
    for (let place = from; place < chunk.length; place++) {
      const byte = chunk[place] ?? 0;
      if (byte === quote && !isEscaped(block, this.#start + lengthBytes, end)) {
        this.#end = end;
        this.#close();
        return place + 1;
      }
      if (byte < 0x20 || end === last) {
        this.#fault = byte < 0x20 ? notJson : `an item of the body is longer than ${textBytesMax} bytes`;
        return chunk.length;
      }
      if (byte === backslash) this.#hasEscapes = true;
      block[end++] = byte;
    }
    this.#end = end;
    return chunk.length;
  }

  /** Completes a text. */
  #close(): void {
    this.#expected = 'comma or end';
    const start = this.#start + lengthBytes;
    if (this.#hasEscapes && !this.#unescape(start)) {
      this.#fault = notJson;
      return;
    }
    // above the maximum, a text is only counted, and the next text overwrites it
    if (this.#count > this.#max) return;
    this.#block.writeUInt16BE(this.#end - start, this.#start);
    this.#start = this.#end;
  }

  /** Writes the text without its escapes. The result is never longer. Returns false if the escapes are not JSON. */
  #unescape(start: number): boolean {
    try {
      const text = JSON.parse(`"${this.#block.toString('utf8', start, this.#end)}"`) as string;
      this.#end = start + this.#block.write(text, start);
      return true;
    } catch {
      return false;
    }
  }

  #addBlock(): void {
    const bytes = Math.min(blockBytesMax, Math.max(blockBytesMin, 2 * this.#block.length));
    this.#takeRoom(bytes);
    this.#closeBlock();
    // unsafe memory is fine, because every byte is written before it is read
    this.#block = Buffer.allocUnsafeSlow(bytes);
    this.#start = 0;
  }

  #closeBlock(): void {
    if (this.#start > 0) this.#full.push(this.#block.subarray(0, this.#start));
  }
}

const notJson = 'the body is not JSON';

/** Whether the current part of a text ends with an odd number of backslashes. */
function isEscaped(block: Uint8Array, start: number, end: number): boolean {
  let first = end;
  while (first > start && block[first - 1] === backslash) first--;
  return (end - first) % 2 === 1;
}
