/** Maximum number of characters of a name, because pages show a name on one line. */
const nameCharsMax = 200;
const descriptionCharsMax = 5_000;
const linkCharsMax = 500;

/**
 * Control characters, and marks that change the direction of the text beside them (Unicode, UAX 9). They are refused,
 * so that a name cannot hide a part of itself.
 */
const hidden = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const hiddenInLines = /(?![\n\r\t])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
/** Line ends and tabs. */
const lineBreaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/gu;

const hides = 'it has a control character or a character that changes the direction of the text';

/**
 * A text of a file. `text` is null if the text is absent, or cannot be imported. `why` is the reason why it cannot be
 * imported.
 */
export type ReadText =
  | { readonly text: string | null; readonly why: null }
  | { readonly text: null; readonly why: string };

const found = (text: string | null): ReadText => ({ text, why: null });
const faulty = (why: string): ReadText => ({ text: null, why });

/** A name on one line, without blanks around it. `<` and `>` are allowed, because pages escape them. */
export function nameOf(value: unknown, charsMax = nameCharsMax): ReadText {
  if (value === undefined || value === null) return found(null);
  if (typeof value !== 'string') return faulty('it is not a text');
  if (!value.isWellFormed()) return faulty('it is not valid Unicode');
  const name = onOneLine(value).trim();
  if (name === '') return found(null);
  if (name.length > charsMax) return faulty(`it has more than ${charsMax} characters`);
  return hidden.test(name) ? faulty(hides) : found(name);
}

function onOneLine(text: string): string {
  const joined = text.replace(lineBreaks, ' ');
  return joined === text ? text : joined.replace(/ {2,}/gu, ' ');
}

/**
 * A name from the chain, if lists can show it like the name of an import. Returns null otherwise. Anyone can write such
 * a name, and no operator has chosen it, so possible markup is not shown.
 */
export function shownName(value: unknown): string | null {
  const { text } = nameOf(value);
  return text !== null && /[<>]/u.test(text) ? null : text;
}

/** A text of several lines. */
export function descriptionOf(value: unknown): ReadText {
  const { text, why } = textOf(value, descriptionCharsMax);
  if (why !== null) return faulty(why);
  return text !== null && hiddenInLines.test(text) ? faulty(hides) : found(text);
}

/** An http(s) URL. */
export function linkOf(value: unknown): ReadText {
  const { text, why } = textOf(value, linkCharsMax);
  if (why !== null) return faulty(why);
  if (text === null) return found(null);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return faulty('it is not an http or https URL');
  return found(url.href);
}

function textOf(value: unknown, charsMax: number): ReadText {
  if (value === undefined || value === null) return found(null);
  if (typeof value !== 'string') return faulty('it is not a text');
  if (value.length > charsMax) return faulty(`it has more than ${charsMax} characters`);
  if (!value.isWellFormed()) return faulty('it is not valid Unicode');
  const text = value.trim();
  return found(text === '' ? null : text);
}
