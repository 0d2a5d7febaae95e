import { type HtmlValue, html, type Markup } from '#web/html.ts';

/** ASCII that is shown: its characters move and join nothing beside them. */
const harmless = /^[\n\t\x20-\x7e]*$/u;
/** A mark that joins the character before it. */
const mark = /^\p{M}/u;
/** Characters without a shape of their own: controls, marks of direction, joiners, blanks, unassigned ones. */
const shapeless = /^[\p{C}\p{Z}\u115f\u1160\u3164\uffa0]$/u;
/** The dotted circle, which Unicode uses as the base of marks that are shown alone. */
const base = '\u25cc';

/**
 * A text of a stranger within a line: it turns the direction of nothing beside it (UAX 9), and begins with no mark that
 * would join our words. `shown`: the same text with markup of ours in it.
 */
export function isolated(text: string | null, shown: HtmlValue = text): HtmlValue {
  return text === null || harmless.test(text) ? shown : inBdi(text, shown);
}

/** A name, which is always isolated. A link of characters that no one sees could not be found: words stand for them. */
export const strangersName = (name: string): Markup =>
  isVisible(name) ? inBdi(name, name) : html`<span class="faint">(blank)</span>`;

/** Controls, marks of direction, joiners and fillers, blanks, and the pattern of Braille without dots. */
const visible = /[^\p{Cc}\p{Cf}\ud800-\udfff\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether anything of a text is seen. */
export const isVisible = (text: string): boolean => visible.test(text);

const inBdi = (text: string, shown: HtmlValue): Markup => html`<bdi>${mark.test(text) && base}${shown}</bdi>`;

/** The symbol of a rune: any code point. One without a shape is shown by its number. */
export function runeSymbol(symbol: string | null): HtmlValue {
  if (symbol === null || !shapeless.test(symbol)) return isolated(symbol);
  const digits = (symbol.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return html`<span class="faint">U+${digits}</span>`;
}
