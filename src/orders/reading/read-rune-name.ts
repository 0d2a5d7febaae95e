import type { RequestValues } from '#kernel/requests/request-values.ts';
import {
  parseSpacedRune,
  runeNameForm,
  type SpacedRune,
  whyNoSpacedRune,
} from '#kernel/runes/spaced-rune.ts';

/** Reads the name in a field `rune`. Returns null if the name is absent or invalid; the fault is then in `values`. */
export function readRuneName(values: RequestValues, given: unknown): SpacedRune | null {
  const text = values.text(given, 'rune');
  if (text === null) return null;
  const name = parseSpacedRune(text);
  return name ?? values.sentence('rune', `rune is not a name (${whyNoSpacedRune(text)}). ${runeNameForm}.`);
}
