/** Maximum number of characters of a text that fit on a card. */
export const snippetChars = 320;

/** The beginning of a text that fits on a card. */
export function snippet(text: string): string {
  const end = wholeCharacter(text, snippetChars);
  return text.length <= end ? text : `${text.slice(0, end)}…`;
}

/** The index, or the index minus 1 if the index would divide a surrogate pair. */
export function wholeCharacter(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index;
}
