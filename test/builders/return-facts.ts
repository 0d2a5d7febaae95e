import { asHeight } from '#kernel/primitives/height.ts';
import type { CoinCosts } from '#orders/order/coin-selection.ts';
import type { HeldPayment } from '#orders/parents/held-payments.ts';
import type { ReturnFacts } from '#orders/parents/returns.ts';

/** A payment that contains only sats. The index has its block. */
export const plainPayment: HeldPayment = {
  isIndexed: true,
  isHolding: false,
  isParent: false,
  inscriptions: [],
  runes: [],
};

/**
 * Costs of an order of 5,000 sats. Each additional input costs 100 sats. The service's own outputs can contribute 1,000
 * sats.
 */
export const returnCosts: CoinCosts = {
  amount: 5000n,
  extraCost: 0n,
  input: 100n,
  spare: 1000n,
  inputsMax: 10,
  wantsSats: false,
};

/** Facts of an order with one parent that has neither money nor deposits. The given differences replace these facts. */
export const returnFacts = (expiresAt: Date, more: Partial<ReturnFacts> = {}): ReturnFacts => ({
  state: 'waiting-parent',
  facts: { costs: returnCosts, expiresAt, now: expiresAt, tip: asHeight(9), confirmations: 1 },
  deposits: [],
  candidates: [undefined],
  spent: new Set(),
  payments: [],
  holding: [],
  refundDust: 330n,
  owed: [],
  ours: [],
  share: 0n,
  ourCost: 0n,
  strayCost: 0n,
  costMax: 5000n,
  isMoneyComing: false,
  ...more,
});
