/** The name and the value of a trait. */
export interface TraitPair {
  readonly name: string;
  readonly value: string;
}

/**
 * Reads `Name:Value` pairs separated by commas. A backslash makes a comma, a colon or a backslash part of a name or
 * value. Returns null if the text has another form.
 */
export function parseTraitPairs(text: string): TraitPair[] | null {
  const pairs: TraitPair[] = [];
  for (const part of splitUnescaped(text, ',')) {
    const [name = '', ...rest] = splitUnescaped(part, ':');
    if (rest.length === 0 || name === '') return null;
    pairs.push({ name: unescaped(name), value: unescaped(rest.join(':')) });
  }
  return pairs;
}

/** Formats pairs as a text that `parseTraitPairs` can read. */
export const formatTraitPairs = (pairs: readonly TraitPair[]): string =>
  pairs.map(({ name, value }) => `${escaped(name)}:${escaped(value)}`).join(',');

function splitUnescaped(text: string, separator: string): string[] {
  const parts = [''];
  for (const [piece] of text.matchAll(/\\[\\,:]|[^]/gu)) {
    if (piece === separator) parts.push('');
    else parts[parts.length - 1] += piece;
  }
  return parts;
}

const unescaped = (part: string): string => part.replaceAll(/\\([\\,:])/gu, '$1');
const escaped = (part: string): string => part.replaceAll(/[\\,:]/gu, String.raw`\$&`);
