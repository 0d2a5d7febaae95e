import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import type { RequestText } from '#kernel/requests/request-values.ts';
import { type Base64Text, decodeBase64, readBase64 } from './base64.ts';
import { readPercentEncoded } from './percent-encoding.ts';

/** The content of a data URL, if the URL can be read in only one way. */
export interface DataContent {
  readonly kind: 'content';
  /** Length of the content. */
  readonly bytes: number;
  /** The type in the URL with its parameters, or the default type. */
  readonly mediaType: string;
  /** The base64 text, or the content itself. */
  readonly held: Base64Text | Uint8Array;
}

/** `reason` is for people. It continues a sentence that begins with the name of the field. */
export type ReadDataUrl = DataContent | { readonly kind: 'refused'; readonly reason: string };

/**
 * Reads `data:<media type>;base64,<data>`, or percent-encoded data without `;base64`, in the forms of RFC 2397,
 * browsers and libraries. Refuses a URL that can be read in two ways (ADR 62). Never throws. 50 MB take 230
 * milliseconds.
 */
export function* readDataUrl(url: RequestText): Steps<ReadDataUrl> {
  if (typeof url === 'string' && !url.isWellFormed()) return refused('is not valid Unicode');
  const bytes = typeof url === 'string' ? Buffer.from(url) : url;
  const head = readHead(bytes);
  if (typeof head === 'string') return refused(head);
  const { mediaType } = head;
  const data = bytes.subarray(head.length);
  if (head.isBase64) {
    const text = yield* readBase64(data);
    if (typeof text === 'string') return refused(text);
    return { kind: 'content', bytes: text.bytes, mediaType, held: text };
  }
  if (isLikeBase64(data, mediaType)) return refused(unmarked);
  const content = yield* readPercentEncoded(data);
  if (typeof content === 'string') return refused(content);
  return { kind: 'content', bytes: content.length, mediaType, held: content };
}

const refused = (reason: string): ReadDataUrl => ({ kind: 'refused', reason });

export function* contentOf({ held }: DataContent): Steps<Uint8Array> {
  return held instanceof Uint8Array ? held : yield* decodeBase64(held);
}

/** The part of a URL before its data. */
interface Head {
  readonly isBase64: boolean;
  /** The type and its parameters. */
  readonly mediaType: string;
  /** Length of the head in bytes, with the comma. */
  readonly length: number;
}

/** Maximum length of a head to read, in bytes. Real media types with their parameters are shorter. */
const headBytesMax = 512;

const shape =
  'must have the form data:<media type>;base64,<data> or data:<media type>,<percent-encoded data>';

/** Reads the part before the data. Returns the reason if the text is not a data URL. */
function readHead(bytes: Uint8Array): Head | string {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, headBytesMax));
  // decoded to one character per byte, so that lengths in characters and bytes agree
  const text = start.toString('latin1');
  const scheme = /^[\t\n\r ]*data:/iu.exec(text)?.[0].length;
  const end = scheme === undefined ? -1 : endOfHead(text, scheme);
  if (scheme === undefined || end === -1) return shape;
  const head = start.toString('utf8', scheme, end);
  if (/\p{Cc}/u.test(head)) return 'has a control character before its comma';
  // base64 in a quoted value does not match, because the quote is followed by a semicolon or the comma
  const mark = /(?:^|;) *base64 *$/iu.exec(head);
  const mediaType = (mark === null ? head : head.slice(0, mark.index)).trim();
  if (mark?.index === 0 && !head.startsWith(';')) return shape;
  if (/(?:^|;) *base64 *(?:;|$)/iu.test(mediaType)) return markElsewhere;
  return { isBase64: mark !== null, mediaType: withType(mediaType), length: end + 1 };
}

/** Adds the parts that a media type may omit (RFC 2397). */
function withType(mediaType: string): string {
  if (mediaType === '') return 'text/plain;charset=US-ASCII';
  return mediaType.startsWith(';') ? `text/plain${mediaType}` : mediaType;
}

const markElsewhere = 'must have ;base64 directly before its comma, as in data:<media type>;base64,<data>';

/**
 * Index of the comma that ends a head. -1 if there is no such comma. Quoted values of parameters may contain commas.
 */
function endOfHead(text: string, from: number): number {
  for (let place = from; place < text.length; place++) {
    if (text[place] === ',') return place;
    if (text[place] !== '"' || text[place - 1] !== '=') continue;
    place = endOfQuoted(text, place);
    if (place === -1 || !/^ *[,;]/u.test(text.slice(place + 1, place + 20))) return -1;
  }
  return -1;
}

/** Index of the quote that ends a quoted value (RFC 9110, 5.6.4). -1 if there is no such quote. */
function endOfQuoted(text: string, from: number): number {
  for (let place = from + 1; place < text.length; place++) {
    if (text[place] === '"') return place;
    if (text[place] === '\\') place++;
  }
  return -1;
}

/** Types whose contents never consist only of letters, digits and signs of base64. */
const binaryType =
  /^(?:image\/(?!svg)|audio\/|video\/|font\/|model\/|application\/(?:gzip|octet-stream|pdf)\b)/iu;
/** Minimum length of data that may look like base64. Shorter data may be anything. */
const likeBase64Min = 16;

/** Whether the data of a binary type without `;base64` looks like base64 with a forgotten mark. */
function isLikeBase64(data: Uint8Array, mediaType: string): boolean {
  if (data.length < likeBase64Min || !binaryType.test(mediaType)) return false;
  const start = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, headBytesMax));
  return /^[A-Za-z0-9+/=_-]*$/u.test(start.toString('latin1'));
}

const unmarked = 'looks like base64, but does not say so; write data:<media type>;base64,<data>';
