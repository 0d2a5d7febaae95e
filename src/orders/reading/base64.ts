import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import { decodePercent, pieceBytes } from './percent-encoding.ts';

/** Base64 text that can be read in only one way. */
export interface Base64Text {
  readonly text: Uint8Array;
  /** Length of the decoded content. */
  readonly bytes: number;
  /** Whether the text has only digits and padding, so nothing must be skipped. */
  readonly isPlain: boolean;
}

const [digit, plainSign, urlSign, padding, blank, lineBreak] = [1, 2, 3, 4, 5, 6] as const;

/** The kind of each byte in base64. The kind is 0 if the byte is not part of base64. */
const kinds = new Uint8Array(256);
for (const [characters, kind] of [
  ['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', digit],
  ['+/', plainSign],
  ['-_', urlSign],
  ['=', padding],
  [' ', blank],
  ['\t\n\f\r', lineBreak],
] as const) {
  for (const byte of Buffer.from(characters)) kinds[byte] = kind;
}

/**
 * Reads base64 (RFC 4648) in the forms that libraries write into URLs: in either alphabet, with or without padding,
 * with line breaks, percent-encoded. Blanks are skipped, as in browsers. But the text is ambiguous if it would also be
 * base64 with a plus sign in place of the blank. The blank may then be a plus sign that was decoded by mistake. Returns
 * the reason if the text can be read in no way, or in several ways.
 */
export function* readBase64(data: Uint8Array): Steps<Base64Text | string> {
  let text = data;
  if (data.includes(0x25)) {
    const decoded = yield* decodePercent(data);
    if (typeof decoded === 'string') return `is not base64, because it ${decoded}`;
    text = decoded;
  }
  const counts = new Counts();
  for (let start = 0; start < text.length; start += pieceBytes) {
    const piece = text.subarray(start, start + pieceBytes);
    const odd = counts.add(piece);
    if (odd !== null) return `is not base64, because ${odd}`;
    yield piece.length;
  }
  const reason = counts.reason();
  if (reason !== null) return reason;
  return { text, bytes: Math.floor((counts.digits * 3) / 4), isPlain: counts.isPlain };
}

/** Counts of each kind of character in a text. */
class Counts {
  readonly #of = new Float64Array(7);
  #hasBlankAfterPadding = false;

  get digits(): number {
    return this.#count(digit) + this.#count(plainSign) + this.#count(urlSign);
  }

  get isPlain(): boolean {
    return this.#count(blank) + this.#count(lineBreak) === 0;
  }

  /** Counts the characters of the next piece. Returns the fault of the piece, or null. */
  add(piece: Uint8Array): string | null {
    const of = this.#of;
    for (const byte of piece) {
      const kind = kinds[byte] ?? 0;
      of[kind] = (of[kind] ?? 0) + 1;
      if (kind === 0) return `${shown(byte)} is not one of its characters`;
      if (kind <= urlSign && (of[padding] ?? 0) > 0) return 'it continues after its padding (=)';
      if (kind === blank && (of[padding] ?? 0) > 0) this.#hasBlankAfterPadding = true;
    }
    return null;
  }

  /**
   * The reason why the whole text can be read in no way, or in several ways. Null if the text can be read in exactly
   * one way.
   */
  reason(): string | null {
    const { digits } = this;
    const [signs, equals, blanks] = [this.#count(urlSign), this.#count(padding), this.#count(blank)];
    if (signs > 0 && this.#count(plainSign) > 0)
      return 'is not clearly base64, because it has characters of two alphabets, + or / and - or _';
    if (!areWhole(digits, equals))
      return `is not base64, because ${digits} characters${paddingWords(equals)} do not encode complete bytes`;
    const maybeSigns = blanks > 0 && signs === 0 && !this.#hasBlankAfterPadding;
    return maybeSigns && areWhole(digits + blanks, equals)
      ? 'is not clearly base64, because its spaces may have been plus signs; leave the spaces out, and write + as %2B'
      : null;
  }

  #count(kind: number): number {
    return this.#of[kind] ?? 0;
  }
}

/** Whether this number of characters encodes complete bytes. Padding may be absent, but not incomplete. */
const areWhole = (digits: number, equals: number): boolean =>
  equals === 0 ? digits % 4 !== 1 : equals <= 2 && (digits + equals) % 4 === 0;

const paddingWords = (equals: number): string =>
  equals === 0 ? '' : ` and ${equals} padding characters (=)`;

const shown = (byte: number): string =>
  byte >= 0x80 ? 'a character that is not ASCII' : JSON.stringify(String.fromCharCode(byte));

export function* decodeBase64({ text, bytes, isPlain }: Base64Text): Steps<Uint8Array> {
  const decoded = Buffer.allocUnsafe(bytes);
  const whole = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  let at = 0;
  for (const piece of isPlain ? pieces(whole) : cleanPieces(whole)) {
    at += decoded.write(piece, at, 'base64');
    yield piece.length;
  }
  return decoded;
}

/**
 * Maximum number of characters to decode at once, in whole groups of four. Longer texts would stay in memory until a
 * full garbage collection.
 */
const pieceChars = 65_536;

function* pieces(text: Buffer): Generator<string> {
  for (let start = 0; start < text.length; start += pieceChars)
    yield text.toString('latin1', start, start + pieceChars);
}

/** Pieces of the text without blanks and line breaks. */
function* cleanPieces(text: Buffer): Generator<string> {
  const piece = Buffer.allocUnsafe(pieceChars);
  let end = 0;
  for (const byte of text) {
    if ((kinds[byte] ?? 0) > padding) continue;
    piece[end++] = byte;
    if (end < pieceChars) continue;
    yield piece.toString('latin1');
    end = 0;
  }
  yield piece.toString('latin1', 0, end);
}
