import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf, virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type {
  OwnScript,
  PlannedInput,
  PlannedOutput,
  TransactionPlan,
} from '#kernel/contracts/transaction-plan.ts';

/** Replaceable (BIP 125), so that its fee can be raised. */
const replaceable = 0xffff_fffd;

/** An output of the wallet that holds customers' money: all of it, or what was paid too much. */
export interface OwedOutput
  extends Pick<PlannedInput, 'txid' | 'vout' | 'value' | 'script' | 'key' | 'leafScript'> {
  /** Sats of it that are the customer's. What is not is at least P2TR's dust, or nothing. */
  readonly owed: bigint;
}

/** Where what is ours of these outputs stays. */
export interface KeptDestination {
  readonly script: Uint8Array;
  readonly own: OwnScript;
}

/**
 * The transaction that pays what is owed of these outputs back, less its fee; what is ours of them stays ours. Outputs
 * that cost more to spend than is owed of them stay where they are. Null: what is left would be dust. Pure.
 *
 * @param feeRate sats for 1,000 virtual bytes
 */
export function planRefund(
  outputs: readonly OwedOutput[],
  script: Uint8Array,
  kept: KeptDestination,
  feeRate: bigint,
): TransactionPlan | null {
  const spent = outputs.filter(({ owed }) => owed > (inputVirtualBytes * feeRate) / 1000n);
  if (spent.length === 0) return null;
  const inputs = spent.map(
    ({ txid, vout, value, script: held, key, leafScript }): PlannedInput => ({
      txid,
      vout,
      value,
      script: held,
      key,
      leafScript,
      sequence: replaceable,
      path: 'key',
    }),
  );
  const owed = spent.reduce((sum, output) => sum + output.owed, 0n);
  const ours = inputs.reduce((sum, { value }) => sum + value, 0n) - owed;
  const change: readonly PlannedOutput[] = ours === 0n ? [] : [{ kind: 'change', value: ours, ...kept }];
  const weight = plannedWeight({ inputs, outputs: [{ script }, ...change] });
  const fee = (BigInt(virtualSize(weight)) * feeRate + 999n) / 1000n;
  const value = owed - fee;
  if (value < BigInt(dustOf(script))) return null;
  return {
    version: 2,
    lockTime: 0,
    inputs,
    outputs: [{ kind: 'refund', script, value }, ...change],
    feeMax: fee,
  };
}

/** Of an input that is spent by key: 57.5, rounded up. */
const inputVirtualBytes = 58n;
