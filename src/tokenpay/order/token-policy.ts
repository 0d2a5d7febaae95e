import type { Rune } from '#kernel/runes/rune.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';

/** The confirmations with which payments are credited. */
export interface TokenPolicy {
  readonly confirmations: number;
  /** Confirmations of outputs with these runes. */
  readonly byRune: ReadonlyMap<Rune, number>;
}

/** The rules of crediting: confirmations, and sats that are more than money. */
export interface CreditingPolicy extends TokenPolicy {
  /** Satributes in force: an output with a sat that has one of them is set aside. */
  readonly special: () => readonly Satribute[];
}

/** Reads `2` or `2,DOG•GO•TO•THE•MOON:6`; null: it has another form, or a rune twice. */
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

/** From 1: unconfirmed money is never credited. To 100: a coinbase takes no longer. */
const isCount = (text: string): boolean => /^[1-9]\d?$|^100$/u.test(text);

/** Confirmations of an output that holds these runes: the maximum over the runes. */
export function confirmationsOf({ confirmations, byRune }: TokenPolicy, runes: readonly Rune[]): number {
  const asked = runes.flatMap((rune) => byRune.get(rune) ?? []);
  return asked.length === 0 ? confirmations : Math.max(...asked);
}
