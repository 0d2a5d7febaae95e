import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { type RuneFlow, runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import { formatRuneId, type RuneId } from '#kernel/runes/rune-id.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import type { TokenAmount } from '#tokenpay/token-amount.ts';

/** The verdict whether a transaction burns an amount. Amounts are in base units. */
export interface BurnVerdict {
  /** Whether the transaction burns exactly the amount. */
  readonly valid: boolean;
  /** A sentence with the reason why the burn is not valid, or null if it is valid. */
  readonly reason: string | null;
  readonly burned: bigint;
  /** Sentences about other effects of the transaction. */
  readonly warnings: readonly string[];
}

/** The burn of one rune that can be read from a transaction. */
export interface ReadBurn {
  readonly kind: 'read';
  /** Number of burned units. 0 if the transaction burns none of the rune. */
  readonly burned: bigint;
  readonly warnings: readonly string[];
}

/** The name of a rune with its spacers. */
export const nameOf = ({ rune }: Pick<TokenAmount, 'rune'>): string => formatSpacedRune(rune);

/** Compares the actual burn with the requested amount. Pure. */
export function burnVerdict(
  wanted: Pick<TokenAmount, 'rune' | 'amount'>,
  { burned, warnings }: Omit<ReadBurn, 'kind'>,
): BurnVerdict {
  return { valid: burned === wanted.amount, reason: whyOther(wanted, burned), burned, warnings };
}

function whyOther(wanted: Pick<TokenAmount, 'rune' | 'amount'>, burned: bigint): string | null {
  if (burned === wanted.amount) return null;
  const shown = (amount: bigint): string => shownAmount(trustedU128(amount), wanted.rune.divisibility);
  const name = nameOf(wanted);
  if (burned === 0n) return `it burns no ${name}, but ${shown(wanted.amount)} should be burned.`;
  const than = burned < wanted.amount ? 'less than' : 'more than';
  return `it burns ${shown(burned)} ${name}, ${than} the ${shown(wanted.amount)} that should be burned.`;
}

/**
 * Computes the units of a rune that a transaction with these outputs burns, according to the protocol rules. `unknown`:
 * the transaction also mints the rune, and only the chain determines the minted amount. Pure.
 *
 * @param runes all runes of the transaction's inputs
 */
export function readRuneBurn(
  outputs: readonly { readonly script: Uint8Array }[],
  runes: readonly RuneAmount[],
  id: RuneId,
): ReadBurn | { readonly kind: 'unknown'; readonly reason: string } {
  const { artifact, burned } = runeFlow(outputs, runes);
  const name = formatRuneId(id);
  if (artifact !== null && artifact.mint !== null && formatRuneId(artifact.mint) === name)
    return {
      kind: 'unknown',
      reason: 'it also mints the rune, so the burned amount is known only once it is in a block.',
    };
  const own = burned.find((each) => formatRuneId(each.id) === name);
  return {
    kind: 'read',
    burned: BigInt(own?.amount ?? 0),
    warnings: [...cenotaphWarnings(artifact), ...otherWarnings(burned, name)],
  };
}

const cenotaphWarnings = (artifact: RuneFlow['artifact']): string[] =>
  artifact?.kind === 'cenotaph'
    ? [`Its runestone is a cenotaph (${artifact.flaw}), which burns all runes that the transaction spends.`]
    : [];

function otherWarnings(burned: readonly RuneAmount[], name: string): string[] {
  const others = burned.map(({ id }) => formatRuneId(id)).filter((id) => id !== name);
  return others.length === 0 ? [] : [`It also burns other runes: ${others.join(', ')}.`];
}
