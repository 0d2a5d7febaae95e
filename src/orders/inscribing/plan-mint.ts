import assert from 'node:assert/strict';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { minterScript, mintParts, mintRunestone } from './mint-parts.ts';
import type { OrderTerms } from './order-terms.ts';
import { ownOutputFrom } from './plan-amounts.ts';
import { withHoldings } from './plan-holdings.ts';
import { type Arrived, type OwnDestination, planOf, runestoneOutput, spent } from './plan-transactions.ts';
import { postageOf } from './settled-terms.ts';

/**
 * Plans one mint of an order. Input: the commit's output for this mint, which is spent completely. Outputs: the minted
 * runes with one postage, our output, and the runestone. Pure.
 *
 * @param committed output of the commit; its script is our own key
 */
export function planMint(terms: OrderTerms, committed: Arrived, service: OwnDestination): TransactionPlan {
  const { mint, feeRate } = terms;
  assert(mint !== null, 'an order of mints names its rune');
  const runestone = mintRunestone(mint);
  const postage = postageOf(terms);
  const own = ownOutputFrom(mintParts(terms, mint), feeRate, committed.value - postage);
  // our output shows in which block the mint is, so an anchor is not enough
  assert(own?.kind === 'service', 'a commit pays for our output of each mint');
  const plan = planOf(
    [spent(committed, 'key')],
    [
      { script: minterScript(terms), value: postage, kind: 'postage' },
      { ...service, value: own.value, kind: 'service' },
      runestoneOutput(runestone),
    ],
    feeRate,
  );
  const sent = [{ input: 0, holds: committed.holds, output: 0, runesTo: 0 }];
  return withHoldings(plan, { sent, runestone, rest: 0 });
}
