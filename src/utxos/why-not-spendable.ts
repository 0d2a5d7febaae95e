import type { Holdings } from './held-by-outputs.ts';
import type { Utxo } from './utxo.ts';

/**
 * The reason why an output must not be spent for its sats, in words that follow "the output". Returns null if it may be
 * spent.
 */
export function whyNotSpendable(
  { spender, isImmature }: Utxo,
  holdings: Holdings | undefined,
): string | null {
  if (spender === 'unknown') return 'may already be spent in the mempool, because there is no node to ask';
  if (spender !== 'none') return `is spent by ${spender} in the mempool`;
  if (isImmature !== false) return 'is a coinbase output that is too young to be spent';
  if (holdings === undefined) return 'is not known';
  const { inscriptions, runes, unproven } = holdings;
  if ((inscriptions?.length ?? 0) > 0) return 'holds an inscription';
  if ((runes?.length ?? 0) > 0) return 'holds runes';
  return unproven.length === 0 ? null : `is not proven to hold nothing else, because ${unproven.join(', ')}`;
}
