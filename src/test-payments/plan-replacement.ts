import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import { mempoolEntry } from '#psbts/accelerating/mempool-package.ts';
import { nodeFeesOf } from '#psbts/coins/node-fees.ts';
import { psbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import { inputOf, ownOutputs, type PlannedTest, type TestCoin } from './plan-test-payment.ts';
import type { Unpayable } from './test-cases.ts';
import { lastTestPayment } from './test-payments.store.ts';

/**
 * Plans a transaction that replaces the last test payment of an order, and returns everything to the wallet. Refuses if
 * no such payment is in the mempool, or if another payment spends its change. Throws the codes of NodeRpc.
 */
export async function planReplacement(
  tx: pg.ClientBase,
  node: NodeRpc,
  wallet: Signer,
  orderId: string,
): Promise<PlannedTest | Unpayable> {
  const last = await lastTestPayment(tx, orderId);
  const entry = last === null ? null : await mempoolEntry(node, displayHash(last.txid));
  if (last === null || entry === null)
    return { reason: 'No test payment of the order waits for a block. Make one first, for example exact.' };
  if (entry.descendantcount > 1)
    return {
      reason: 'A later payment spends the change of the last payment. Wait for a block, and pay again.',
    };
  const { incrementalFeeRate } = await nodeFeesOf(node).standing();
  // the replacement is not larger than the replaced transaction, so this fee also pays for the replacement's own size
  // (BIP 125, rule 4)
  const fee = last.fee + (incrementalFeeRate * BigInt(entry.vsize) + 999n) / 1000n;
  return replacementOf(wallet, last.spent, fee);
}

/** Plans outputs that return runes with their sats in the first output, and all other sats in the last output. Pure. */
function replacementOf(wallet: Signer, spent: readonly TestCoin[], fee: bigint): PlannedTest {
  const runes = spent.flatMap((coin) => coin.runes);
  const beneath = valueOf(spent.filter((coin) => coin.runes.length > 0));
  const rest = valueOf(spent) - beneath - fee;
  const { script } = wallet;
  const values = beneath === 0n ? [rest] : [beneath, rest];
  const outputs = values.map((value) => ({ script, value, purpose: 'change' }) as const);
  const plan = psbtPlan({ inputs: spent.map(inputOf(wallet)), outputs });
  const returned = ownOutputs(wallet, outputs, runeFlow(outputs, runes));
  return { kind: 'planned', plan, spent, returned };
}
