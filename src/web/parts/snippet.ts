/** Characters of a text that fit on a card. */
export const snippetChars = 320;

/** The beginning of a text, up to the limit of a card. */
export function snippet(text: string): string {
  const end = wholeCharacter(text, snippetChars);
  return text.length <= end ? text : `${text.slice(0, end)}…`;
}

/** The index, or one less where it would divide a surrogate pair. */
export function wholeCharacter(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index;
}
