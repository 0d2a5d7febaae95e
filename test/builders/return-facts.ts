import { asHeight } from '#kernel/primitives/height.ts';
import type { CoinCosts } from '#orders/order/coin-selection.ts';
import type { HeldPayment } from '#orders/parents/held-payments.ts';
import type { ReturnFacts } from '#orders/parents/returns.ts';

/** A payment whose block the index has, and which holds only sats. */
export const plainPayment: HeldPayment = {
  isIndexed: true,
  isHolding: false,
  isParent: false,
  inscriptions: [],
  runes: [],
};

/** An order of 5,000 sats; each additional input costs 100, of which the service gives 1,000. */
export const returnCosts: CoinCosts = {
  amount: 5000n,
  extraCost: 0n,
  input: 100n,
  spare: 1000n,
  inputsMax: 10,
  wantsSats: false,
};

/** An order with one parent that has neither money nor deposits, with the given differences. */
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
