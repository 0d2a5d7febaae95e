import type { ChosenCoins } from '#psbts/planning/choose-coins.ts';
import type { CoinOutcome } from '#psbts/planning/coin-supply.ts';
import { notEnough, type PsbtRefusal } from '#psbts/planning/refusal.ts';
import { unprovenCoins } from './free-coins.ts';

/**
 * Converts the result of a coin selection: the coins that pay for a transaction, or a refusal if the customer's coins
 * are not enough. Throws `coins_unproven`.
 */
export function payingCoins<Coin>(outcome: CoinOutcome<Coin>): ChosenCoins<Coin> | PsbtRefusal {
  if (outcome.kind === 'unproven') throw unprovenCoins(outcome.reason);
  return outcome.kind === 'chosen' ? outcome : notEnough(outcome);
}
