import { randomUUID } from 'node:crypto';
import { endOfString } from './body-structure.ts';
import { longTextBytes } from './long-texts.ts';

/** A JSON text whose long plain texts were replaced by short marks. */
export interface ShortenedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The bytes of the replaced texts, by mark. They are views of the given bytes. */
  readonly texts: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const firstPrintable = 0x20;
const lastPrintable = 0x7e;

/**
 * Replaces the long plain texts of a JSON text by marks, so that parsing does not copy the texts. A text is plain if it
 * has only printable ASCII characters and no escape, as data URLs in base64 do. The bytes of a plain text are its
 * value, and the text cannot make the JSON invalid or faulty. Names of fields are never replaced. Invalid JSON stays
 * invalid.
 */
export function shortenPlainTexts(given: Uint8Array<ArrayBuffer>): ShortenedBody {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const texts = new Map<string, Uint8Array<ArrayBuffer>>();
  // no client can know the mark, so no other text of the body is equal to a mark
  const mark = randomUUID();
  const pieces: Uint8Array[] = [];
  let copied = 0;
  for (let start = bytes.indexOf(quote); start !== -1; ) {
    const end = endOfString(bytes, start);
    const text = given.subarray(start + 1, end);
    if (text.byteLength >= longTextBytes && end < bytes.length && !isName(bytes, end) && isPlain(text)) {
      const name = `${mark} ${texts.size}`;
      texts.set(name, text);
      pieces.push(bytes.subarray(copied, start + 1), Buffer.from(name));
      copied = end;
    }
    start = bytes.indexOf(quote, end + 1);
  }
  if (texts.size === 0) return { bytes: given, texts };
  return { bytes: new Uint8Array(Buffer.concat([...pieces, bytes.subarray(copied)])), texts };
}

/** Whether the string that ends at a quote is the name of a field. */
function isName(bytes: Buffer, end: number): boolean {
  let next = end + 1;
  while (isSpace(bytes[next])) next++;
  return bytes[next] === colon;
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

function isPlain(text: Uint8Array): boolean {
  for (let place = 0; place < text.length; place++) {
    const byte = text[place] ?? 0;
    if (byte < firstPrintable || byte > lastPrintable || byte === backslash) return false;
  }
  return true;
}
