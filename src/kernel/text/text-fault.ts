/**
 * Why a text cannot be stored and shown again unchanged, in words after its name; null: it can. Half of a surrogate
 * pair has no UTF-8, and Postgres stores no NUL. Searches may have both: they compare texts, and store none.
 */
export function textFault(text: string): string | null {
  if (!text.isWellFormed()) return 'is not valid Unicode';
  return text.includes('\0') ? 'has a NUL character (U+0000)' : null;
}
