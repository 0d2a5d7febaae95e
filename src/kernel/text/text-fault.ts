/**
 * Why a text cannot be stored and returned unchanged, in words that follow the text's name. Returns null if the text
 * can be stored. Half of a surrogate pair has no UTF-8 form, and Postgres does not store NUL. Searches accept both
 * kinds of text, because searches only compare texts.
 */
export function textFault(text: string): string | null {
  if (!text.isWellFormed()) return 'is not valid Unicode';
  return text.includes('\0') ? 'has a NUL character (U+0000)' : null;
}
