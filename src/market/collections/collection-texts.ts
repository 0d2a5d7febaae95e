import { AppError } from '#kernel/errors/app-error.ts';

/** Pages show a name on one line. */
const nameCharsMax = 200;
const descriptionCharsMax = 5_000;
const linkCharsMax = 500;

/** Controls, and marks that turn the direction of what stands beside a text (Unicode, UAX 9): a name hides nothing. */
const hidden = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const hiddenInLines = /(?![\n\r\t])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const markup = /[<>]/u;

/** What of a collection's files cannot be imported. `where` names the file, or the item in it. */
export function invalid(where: string, why: string): AppError {
  return new AppError('collection_invalid', `${where}: ${why}.`, { where });
}

/** A name without blanks around it; null where there is none. Throws `collection_invalid`. */
export function nameOf(value: unknown, where: string): string | null {
  const name = textOf(value, where, nameCharsMax);
  if (name === null) return null;
  if (hidden.test(name)) throw invalid(where, 'it holds a control character or a mark of direction');
  if (markup.test(name)) throw invalid(where, 'it holds markup (< or >)');
  return name;
}

/** A name from the chain, where lists of others can show it as that of an import. Null: they cannot. */
export function shownName(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > nameCharsMax || !value.isWellFormed()) return null;
  const name = value.trim();
  return name === '' || hidden.test(name) || markup.test(name) ? null : name;
}

/** A text of several lines; null where there is none. Throws `collection_invalid`. */
export function descriptionOf(value: unknown, where: string): string | null {
  const text = textOf(value, where, descriptionCharsMax);
  if (text !== null && hiddenInLines.test(text))
    throw invalid(where, 'it holds a control character or a mark of direction');
  return text;
}

/** An http(s) URL; null where there is none. Throws `collection_invalid`. */
export function linkOf(value: unknown, where: string): string | null {
  const link = textOf(value, where, linkCharsMax);
  if (link === null) return null;
  const url = URL.canParse(link) ? new URL(link) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw invalid(where, 'it is not an http or https URL');
  return url.href;
}

function textOf(value: unknown, where: string, charsMax: number): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw invalid(where, 'it is not a text');
  if (value.length > charsMax) throw invalid(where, `it has more than ${charsMax} characters`);
  if (!value.isWellFormed()) throw invalid(where, 'it is not valid Unicode');
  const text = value.trim();
  return text === '' ? null : text;
}
