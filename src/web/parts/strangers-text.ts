import { type HtmlValue, html, type Markup } from '#web/html.ts';

/** Visible ASCII: its characters neither move nor join characters next to them. */
const harmless = /^[\n\t\x20-\x7e]*$/u;
/** A mark that combines with the character before it. */
const mark = /^\p{M}/u;
/** Characters without a shape of their own: controls, marks of direction, joiners, blanks, unassigned ones. */
const shapeless = /^[\p{C}\p{Z}\u115f\u1160\u3164\uffa0]$/u;
/** The dotted circle, which Unicode uses as the base of marks that are shown alone. */
const base = '\u25cc';

/**
 * A stranger's text within a line. It cannot turn the direction of text next to it (UAX 9), and cannot begin with a
 * mark that would combine with our words. `shown`: the same text with our markup in it.
 */
export function isolated(text: string | null, shown: HtmlValue = text): HtmlValue {
  return text === null || harmless.test(text) ? shown : inBdi(text, shown);
}

/** A name, always isolated. A link of invisible characters could not be found, so words replace them. */
export const strangersName = (name: string): Markup =>
  isVisible(name) ? inBdi(name, name) : html`<span class="faint">(blank)</span>`;

/** Controls, marks of direction, joiners and fillers, blanks, and the pattern of Braille without dots. */
const visible = /[^\p{Cc}\p{Cf}\ud800-\udfff\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether any character of a text is visible. */
export const isVisible = (text: string): boolean => visible.test(text);

const inBdi = (text: string, shown: HtmlValue): Markup => html`<bdi>${mark.test(text) && base}${shown}</bdi>`;

/** The symbol of a rune: any code point. A code point without a shape is shown by its number. */
export function runeSymbol(symbol: string | null): HtmlValue {
  if (symbol === null || !shapeless.test(symbol)) return isolated(symbol);
  const digits = (symbol.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return html`<span class="faint">U+${digits}</span>`;
}
