/** A text of a body: those of large bodies stay UTF-8 bytes. */
export type RequestText = string | Uint8Array;

/** The content of a data URL, still in base64. */
export interface Base64Content {
  readonly base64: RequestText;
  /** Of the decoded content. */
  readonly bytes: number;
  /** As the URL names it. */
  readonly mediaType: string;
}

/** What comes before the data of a URL is shorter: a media type with its parameters. */
const headCharsMax = 512;

/**
 * The content of `data:<media type>;base64,<data>`, with its length by that of the data: it is not decoded, so a wrong
 * character is found by `decodeBase64`. Null: it is no such URL.
 */
export function readDataUrl(url: RequestText): Base64Content | null {
  const head = textOf(part(url, 0, headCharsMax));
  const match = /^data:([^,]*);base64,/iu.exec(head);
  if (match === null) return null;
  const base64 = part(url, match[0].length);
  const tail = textOf(part(base64, Math.max(0, base64.length - 2)));
  const padding = tail.endsWith('==') ? 2 : tail.endsWith('=') ? 1 : 0;
  const digits = base64.length - padding;
  // padding may be left out; one digit alone holds no byte
  if (digits % 4 === 1 || (padding > 0 && base64.length % 4 !== 0)) return null;
  return { base64, bytes: Math.floor((digits * 3) / 4), mediaType: match[1] ?? '' };
}

/** The bytes of a content; null where it is not base64 (RFC 4648, section 4). */
export function decodeBase64({ base64, bytes }: Base64Content): Uint8Array | null {
  const decoded = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (let start = 0; start < base64.length; start += pieceChars) {
    const text = textOf(part(base64, start, start + pieceChars));
    if (/[^A-Za-z0-9+/=]/u.test(text)) return null;
    // padding before the end writes less than its four characters could
    at += decoded.write(text, at, 'base64');
  }
  return at === bytes ? decoded : null;
}

/** Of whole groups of four. Texts as long as files would live until the next collection of all garbage. */
const pieceChars = 65_536;

/** ASCII, as base64 is; any other byte becomes a character that base64 lacks. */
const textOf = (text: RequestText): string =>
  typeof text === 'string'
    ? text
    : Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('latin1');

const part = (text: RequestText, start: number, end?: number): RequestText =>
  typeof text === 'string' ? text.slice(start, end) : text.subarray(start, end);
