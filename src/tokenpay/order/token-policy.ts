import type { Rune } from '#kernel/runes/rune.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';

/** The number of confirmations that payments need before they are credited. */
export interface TokenPolicy {
  readonly confirmations: number;
  /** Number of confirmations for outputs that hold these runes. */
  readonly byRune: ReadonlyMap<Rune, number>;
}

/** The rules of crediting: the number of confirmations, and the sats that are more than money. */
export interface CreditingPolicy extends TokenPolicy {
  /** The active satributes. An output is set aside if one of its sats has one of these satributes. */
  readonly special: () => readonly Satribute[];
}

/** Parses `2` or `2,DOG•GO•TO•THE•MOON:6`. Returns null if the text has another form, or names a rune twice. */
export function parseTokenPolicy(text: string): TokenPolicy | null {
  const [first = '', ...others] = text.split(',');
  if (!isCount(first)) return null;
  const byRune = new Map<Rune, number>();
  for (const part of others) {
    const [name = '', count = '', ...rest] = part.split(':');
    const rune = parseSpacedRune(name.trim())?.rune ?? null;
    if (rune === null || !isCount(count) || rest.length > 0 || byRune.has(rune)) return null;
    byRune.set(rune, Number(count));
  }
  return { confirmations: Number(first), byRune };
}

/**
 * Accepts numbers from 1 to 100. Unconfirmed money is never credited, and no coinbase needs more than 100
 * confirmations.
 */
const isCount = (text: string): boolean => /^[1-9]\d?$|^100$/u.test(text);

/** Number of confirmations for an output that holds these runes. It is the maximum of the values of the runes. */
export function confirmationsOf({ confirmations, byRune }: TokenPolicy, runes: readonly Rune[]): number {
  const asked = runes.flatMap((rune) => byRune.get(rune) ?? []);
  return asked.length === 0 ? confirmations : Math.max(...asked);
}
