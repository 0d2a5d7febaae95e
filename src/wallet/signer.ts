import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { schnorr } from '@noble/curves/secp256k1.js';
import { RawTx } from '@scure/btc-signer';
import { taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
import { plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { scriptType } from '#kernel/bitcoin/script-type.ts';
import type { OwnScript, PlannedInput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asTxid, displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { AccountKeys, accountOf } from './account-key.ts';
import { leafFault } from './leaf-script.ts';
import { feeOf, type OwnScripts, planFault } from './plan-fault.ts';
import { readSeedFile } from './seed-file.ts';
import { signatureMessages } from './signature-messages.ts';
import { type TaprootOutput, taprootOutput } from './taproot.ts';
import type { WalletIdentity } from './wallet-identity.ts';

/** A plan with its signatures. */
export interface SignedTransaction {
  /** As nodes take them, with the witness (BIP 144). */
  readonly bytes: Uint8Array;
  readonly txid: Txid;
  /** The id of all bytes, internal order: it differs each time a plan is signed, the txid does not. */
  readonly wtxid: Uint8Array;
  readonly weight: number;
  /** Sats. */
  readonly fee: bigint;
}

const noBytes = new Uint8Array(0);

/**
 * Opens the seed file of the wallet. Throws `wallet_seed_missing`, `wallet_seed_refused`, and `wallet_seed_mismatch`
 * where it is not the seed of the wallet that the database knows.
 */
export async function openSigner(seedFile: string, wallet: WalletIdentity): Promise<Signer> {
  const { key, fingerprint } = accountOf(await readSeedFile(seedFile), wallet.network);
  if (fingerprint !== wallet.masterFingerprint || key.publicExtendedKey !== wallet.accountXpub)
    throw mismatch(seedFile, fingerprint, wallet);
  return new Signer(new AccountKeys(key));
}

/** What the database will know of the wallet of a seed file. Throws like `readSeedFile`. */
export async function identityOfSeedFile(seedFile: string, network: NetworkName): Promise<WalletIdentity> {
  const { key, fingerprint } = accountOf(await readSeedFile(seedFile), network);
  return { network, accountXpub: key.publicExtendedKey, masterFingerprint: fingerprint };
}

/**
 * Opens the seed file for an address of the wallet with this fingerprint, without a database. Throws like `openSigner`.
 */
export async function openRecoverySigner(
  seedFile: string,
  wallet: Omit<WalletIdentity, 'accountXpub'>,
): Promise<Signer> {
  const { key, fingerprint } = accountOf(await readSeedFile(seedFile), wallet.network);
  if (fingerprint !== wallet.masterFingerprint) throw mismatch(seedFile, fingerprint, wallet);
  return new Signer(new AccountKeys(key));
}

const mismatch = (
  seedFile: string,
  found: string,
  { masterFingerprint, network }: Omit<WalletIdentity, 'accountXpub'>,
): AppError =>
  new AppError(
    'wallet_seed_mismatch',
    `The seed file ${seedFile}, with the fingerprint ${found}, is not of the wallet ${masterFingerprint} on ${network}.`,
  );

/** The only thing with private keys. It signs plans, and nothing else; what it refuses is in plan-fault.ts. */
export class Signer {
  readonly #keys: AccountKeys;

  constructor(keys: AccountKeys) {
    this.#keys = keys;
  }

  /** Signs a plan that breaks no rule, and checks the signatures. Throws `plan_refused` with the rule. */
  signPlan(plan: TransactionPlan): SignedTransaction {
    const scripts = new KnownScripts(this.#keys);
    const fault = planFault(plan, scripts);
    if (fault !== null)
      throw new AppError('plan_refused', `The plan of a transaction is refused: ${fault}.`, { fault });
    const messages = signatureMessages(plan);
    const witnesses = plan.inputs.map((input, place) =>
      // an anchor is spent with nothing
      scriptType(input.script) === 'p2a'
        ? []
        : this.#witness(input, messages[place] ?? noBytes, scripts.outputOf(input)),
    );
    return signedTransaction(plan, witnesses);
  }

  #witness(input: PlannedInput, message: Uint8Array, output: TaprootOutput): Uint8Array[] {
    const { privateKey } = this.#keys.child(input.key);
    assert(privateKey !== null, 'the account of a signer has its private key');
    if (input.path === 'key') {
      const signature = schnorr.sign(message, taprootTweakPrivKey(privateKey, output.merkleRoot ?? noBytes));
      assert(schnorr.verify(signature, message, output.outputKey), 'the signature is of the output key');
      return [signature];
    }
    const { leafScript } = input;
    const { controlBlock } = output;
    assert(leafScript !== null && controlBlock !== null, 'a plan without faults has the leaf that it spends');
    const signature = schnorr.sign(message, privateKey);
    // the key in the leaf, which plan-fault.ts has found there
    assert(schnorr.verify(signature, message, leafScript.subarray(1, 33)), 'the signature is of the leaf');
    return [signature, leafScript, controlBlock];
  }
}

/** Scripts of a plan, each made once: a leaf of 390,000 bytes is hashed in two milliseconds. */
class KnownScripts implements OwnScripts {
  readonly #keys: AccountKeys;
  readonly #made = new Map<OwnScript, TaprootOutput>();

  constructor(keys: AccountKeys) {
    this.#keys = keys;
  }

  outputOf(own: OwnScript): TaprootOutput {
    const known = this.#made.get(own);
    if (known !== undefined) return known;
    const output = taprootOutput(this.#keys.xOnlyKey(own.key), own.leafScript);
    this.#made.set(own, output);
    return output;
  }

  scriptOf(own: OwnScript): Uint8Array {
    return this.outputOf(own).script;
  }

  leafFault({ key, leafScript }: OwnScript): string | null {
    return leafScript === null ? null : leafFault(leafScript, this.#keys.xOnlyKey(key));
  }
}

/** The bytes of a plan that its txid covers, which signing it does not change. They end with the lock time. */
export function unsignedTransaction(plan: TransactionPlan): {
  readonly bytes: Uint8Array;
  readonly txid: Txid;
} {
  const bytes = RawTx.encode({ ...frameOf(plan), segwitFlag: false, witnesses: undefined });
  return { bytes, txid: asTxid(doubleSha256(bytes)) };
}

const frameOf = ({ version, lockTime, inputs, outputs }: TransactionPlan) => ({
  version,
  lockTime,
  inputs: inputs.map(({ txid, vout, sequence }) => ({
    txid: Buffer.from(displayHash(txid), 'hex'),
    index: vout,
    finalScriptSig: noBytes,
    sequence,
  })),
  outputs: outputs.map(({ script, value }) => ({ amount: value, script })),
});

function signedTransaction(plan: TransactionPlan, witnesses: Uint8Array[][]): SignedTransaction {
  const bytes = RawTx.encode({ ...frameOf(plan), segwitFlag: true, witnesses });
  const stripped = unsignedTransaction(plan);
  const weight = 3 * stripped.bytes.length + bytes.length;
  assert(weight === plannedWeight(plan), 'a plan weighs what was planned');
  return {
    bytes,
    txid: stripped.txid,
    wtxid: doubleSha256(bytes),
    weight,
    fee: feeOf(plan),
  };
}

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const doubleSha256 = (bytes: Uint8Array): Uint8Array => sha256(sha256(bytes));
