import { strict as assert } from 'node:assert';
import { Transaction } from '@scure/btc-signer';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { leafVersion } from './taproot.ts';

/** SIGHASH_DEFAULT: a signature commits to all inputs, their values and scripts, and to all outputs (BIP 341). */
const sighashDefault = 0;

/** What each input of a plan signs. */
export function signatureMessages(plan: Omit<TransactionPlan, 'feeMax'>): Uint8Array[] {
  const { version, lockTime, inputs, outputs } = plan;
  // the rules are ours (plan-fault.ts)
  const checksNothing = { allowUnknownInputs: true, allowUnknownOutputs: true, disableScriptCheck: true };
  const unsigned = new Transaction({ version, lockTime, ...checksNothing });
  for (const { txid, vout, sequence } of inputs)
    unsigned.addInput({ txid: displayHash(txid), index: vout, sequence });
  for (const { script, value } of outputs) unsigned.addOutput({ script, amount: value });
  const scripts = inputs.map(({ script }) => script);
  const values = inputs.map(({ value }) => value);
  return inputs.map(({ path, leafScript }, place) => {
    if (path === 'key') return unsigned.preimageWitnessV1(place, scripts, sighashDefault, values);
    assert(leafScript !== null, 'a leaf that is spent is there');
    const leaf = [leafScript, leafVersion] as const;
    return unsigned.preimageWitnessV1(place, scripts, sighashDefault, values, undefined, ...leaf);
  });
}
