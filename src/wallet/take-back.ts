import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { replaceableSequence } from '#kernel/bitcoin/consensus.ts';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeightOf, plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { OwnScript, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { scanFailure } from './restoring/scan-failure.ts';

/** Maximum time of the scan, in ms. On mainnet the node reads 10 GB, which takes two minutes from a fast disk. */
const scanMaxMs = 1_800_000;
/**
 * Maximum number of inputs of one transaction, because the work for signatures grows with the square of this number.
 * The remaining outputs need another run.
 */
const inputsMax = 200;

/** An output at an address that is unspent according to the node. */
export interface OwnOutput {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: bigint;
}

/**
 * Finds the confirmed outputs with a script, except those that the mempool spends. The node reads all unspent outputs
 * for this. It needs no index and no wallet. Throws the codes of NodeRpc, and `node_scan_busy`.
 */
export async function outputsAt(
  node: NodeRpc,
  script: Uint8Array,
  signal: AbortSignal,
): Promise<OwnOutput[]> {
  const descriptor = `raw(${Buffer.from(script).toString('hex')})`;
  const { unspents } = await node
    .call<{
      unspents: readonly { readonly txid: string; readonly vout: number; readonly amount: number }[];
    }>('scantxoutset', ['start', [descriptor]], { timeoutMs: scanMaxMs, signal })
    .catch((error: unknown) => {
      throw scanFailure(error);
    });
  const found: OwnOutput[] = [];
  for (const { txid, vout, amount } of unspents) {
    const id = parseTxid(txid);
    if (id === null)
      throw new AppError('node_answer_invalid', 'The node returns outputs that are not valid.');
    const isUnspent = (await node.call('gettxout', [txid, vout, true], { signal })) !== null;
    if (isUnspent) found.push({ txid: id, vout, value: BigInt(satsOfBitcoins(amount)) });
  }
  return found;
}

export interface TakeBack {
  /** The key of the address. The outputs are spent by key, so that no content is revealed. */
  readonly own: OwnScript;
  readonly script: Uint8Array;
  readonly outputs: readonly OwnOutput[];
  readonly destination: Uint8Array;
  /** Fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
}

/**
 * Plans a transaction that pays the outputs of one address to one destination. Also returns the number of outputs that
 * are not spent. These are outputs whose inputs would cost more than their value, and outputs after the 200 largest.
 * The fee comes from the end of the largest output. Throws `recovery_refused`.
 */
export function takeBackPlan(order: TakeBack): { plan: TransactionPlan; left: number } {
  const { own, script, outputs, destination, feeRate } = order;
  if (outputs.length === 0)
    throw refused('its address has no confirmed output, or the mempool already spends all of them.');
  const cost = feeOf(keyInputWeightOf(script), feeRate);
  const taken = outputs
    .filter(({ value }) => value > cost)
    .toSorted((a, b) => Number(b.value - a.value))
    .slice(0, inputsMax)
    // the largest output comes last, because the fee comes from the end and inscriptions are usually in small outputs
    .toReversed();
  const inputs = taken.map((output) => ({
    ...output,
    ...own,
    script,
    sequence: replaceableSequence,
    path: 'key' as const,
  }));
  const sum = inputs.reduce((all, { value }) => all + value, 0n);
  const refund = { kind: 'refund' as const, script: destination, value: 0n };
  const fee = feeOf(plannedWeight({ inputs, outputs: [refund] }), feeRate);
  const value = sum - fee;
  if (value < BigInt(dustOf(destination))) {
    const there = outputs.reduce((all, output) => all + output.value, 0n);
    throw refused(`its address has ${there} sats, too few for a fee of ${fee} and the output.`);
  }
  const plan = { version: 2 as const, lockTime: 0, inputs, outputs: [{ ...refund, value }], feeMax: fee };
  return { plan, left: outputs.length - inputs.length };
}

const refused = (reason: string): AppError =>
  new AppError('recovery_refused', `Nothing can be taken back with the kit: ${reason}`);
