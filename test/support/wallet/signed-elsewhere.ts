import { schnorr } from '@noble/curves/secp256k1.js';
import { RawTx } from '@scure/btc-signer';
import { taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { AccountKeys, accountOf } from '#wallet/account-key.ts';
import { readSeedFile } from '#wallet/seed-file.ts';
import { signatureMessages } from '#wallet/signature-messages.ts';

/** Signs a plan like another wallet with the same seed words: by key, and without any checks. Returns hex. */
export async function signedElsewhere(seedFile: string, plan: TransactionPlan): Promise<string> {
  const keys = new AccountKeys(accountOf(await readSeedFile(seedFile), 'regtest').key);
  const messageOf = signatureMessages(plan);
  const witnesses = plan.inputs.map(({ key }, place) => {
    const tweaked = taprootTweakPrivKey(keys.child(key).privateKey!, new Uint8Array());
    return [schnorr.sign(messageOf(place), tweaked)];
  });
  const bytes = RawTx.encode({
    version: plan.version,
    lockTime: plan.lockTime,
    segwitFlag: true,
    inputs: plan.inputs.map(({ txid, vout, sequence }) => ({
      txid: Buffer.from(displayHash(txid), 'hex'),
      index: vout,
      finalScriptSig: new Uint8Array(),
      sequence,
    })),
    outputs: plan.outputs.map(({ script, value }) => ({ amount: value, script })),
    witnesses,
  });
  return Buffer.from(bytes).toString('hex');
}
