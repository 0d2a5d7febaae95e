import { type HtmlValue, html, type Markup } from '#web/html.ts';

/** Visible ASCII. These characters neither move nor join the characters next to them. */
const harmless = /^[\n\t\x20-\x7e]*$/u;
/** A mark that combines with the character before it. */
const mark = /^\p{M}/u;
/**
 * Characters without a shape of their own: control characters, direction marks, joiners, blanks, and unassigned
 * characters.
 */
const shapeless = /^[\p{C}\p{Z}\u115f\u1160\u3164\uffa0]$/u;
/** The dotted circle. Unicode uses it as the base of marks that are shown alone. */
const base = '\u25cc';

/**
 * A stranger's text within a line. The text cannot change the direction of the text next to it (UAX 9), and a mark at
 * its beginning cannot combine with the text before it.
 *
 * @param shown the same text with this service's markup in it
 */
export function isolated(text: string | null, shown: HtmlValue = text): HtmlValue {
  return text === null || harmless.test(text) ? shown : inBdi(text, shown);
}

/**
 * A stranger's name, always isolated. If a name has only invisible characters, the page shows words instead, because
 * people could not find a link with an invisible text.
 */
export const strangersName = (name: string): Markup =>
  isVisible(name) ? inBdi(name, name) : html`<span class="faint">(blank)</span>`;

/**
 * Any character except control characters, direction marks, joiners and fillers, blanks, and the Braille pattern
 * without dots.
 */
const visible = /[^\p{Cc}\p{Cf}\ud800-\udfff\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether any character of a text is visible. */
export const isVisible = (text: string): boolean => visible.test(text);

const inBdi = (text: string, shown: HtmlValue): Markup => html`<bdi>${mark.test(text) && base}${shown}</bdi>`;

/** The symbol of a rune, which can be any code point. A code point without a shape is shown by its number. */
export function runeSymbol(symbol: string | null): HtmlValue {
  if (symbol === null || !shapeless.test(symbol)) return isolated(symbol);
  const digits = (symbol.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return html`<span class="faint">U+${digits}</span>`;
}
