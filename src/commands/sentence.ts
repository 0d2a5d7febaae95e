/** A text of one line, with a full stop at its end. Words of the system have none. */
export function sentence(text: string): string {
  const line = text.trim().replaceAll(/\s*\n\s*/gu, ' ');
  return line === '' || /[.:;!?)…]$/u.test(line) ? line : `${line}.`;
}
