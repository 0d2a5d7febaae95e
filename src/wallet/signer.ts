import { strict as assert } from 'node:assert';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
import { ecdsaSignatureBytes, plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { scriptType } from '#kernel/bitcoin/script-type.ts';
import { atOnce, type Steps } from '#kernel/concurrency/work-in-steps.ts';
import type { Holdings } from '#kernel/contracts/holdings.ts';
import type {
  OwnScript,
  PlannedInput,
  TransactionPlan,
  WalletKey,
} from '#kernel/contracts/transaction-plan.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { AccountKeys, accountOf } from './account-key.ts';
import { addressProofHash, shownWitness } from './address-proof.ts';
import { isPublicKeyHashBranch } from './branches.ts';
import { doubleSha256, unsignedTransaction, withWitnesses } from './encode-transaction.ts';
import { holdingsFault } from './holdings/holdings-fault.ts';
import { outputHoldings } from './holdings/output-holdings.ts';
import { leafFault } from './leaf-script.ts';
import { feeOf, type OwnScripts, planFault } from './plan-fault.ts';
import { publicKeyHashScript } from './public-key-hash.ts';
import { readSeedFile } from './seed-file.ts';
import { sighashAll, signatureMessages } from './signature-messages.ts';
import { type TaprootOutput, taprootOutput } from './taproot.ts';
import type { WalletIdentity } from './wallet-identity.ts';

/** A plan with its signatures. */
export interface SignedTransaction {
  /** The signed transaction with its witness (BIP 144), in the form that nodes accept. */
  readonly bytes: Uint8Array;
  readonly txid: Txid;
  /**
   * The hash of all bytes, in internal order. If the same plan is signed again, the wtxid changes, but the txid does
   * not.
   */
  readonly wtxid: Uint8Array;
  readonly weight: number;
  /** Fee in sats. */
  readonly fee: bigint;
  /** Contents of the outputs in addition to their sats. */
  readonly holdings: readonly Holdings[];
}

const noBytes = new Uint8Array(0);

/**
 * Opens the seed file of the wallet. Throws `wallet_seed_missing` and `wallet_seed_refused`. Throws
 * `wallet_seed_mismatch` if the seed does not belong to the wallet in the database.
 */
export async function openSigner(seedFile: string, wallet: WalletIdentity): Promise<Signer> {
  const { key, fingerprint } = accountOf(await readSeedFile(seedFile), wallet.network);
  if (fingerprint !== wallet.masterFingerprint || key.publicExtendedKey !== wallet.accountXpub)
    throw mismatch(seedFile, fingerprint, wallet);
  return new Signer(new AccountKeys(key));
}

/**
 * Computes the data about the wallet of a seed file that the database will store. Throws the errors of `readSeedFile`.
 */
export async function identityOfSeedFile(seedFile: string, network: NetworkName): Promise<WalletIdentity> {
  const { key, fingerprint } = accountOf(await readSeedFile(seedFile), network);
  return { network, accountXpub: key.publicExtendedKey, masterFingerprint: fingerprint };
}

/**
 * Opens the seed file for an address of the wallet with this fingerprint, without a database. Throws the errors of
 * `openSigner`.
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
    `The seed file ${seedFile}, with the fingerprint ${found}, does not belong to the wallet ${masterFingerprint} on ${network}.`,
  );

/**
 * The only class that holds private keys. It signs plans. It also signs proofs of addresses, which cannot move money.
 * The rules that refuse plans are in plan-fault.ts and in the folder holdings.
 */
export class Signer {
  readonly #keys: AccountKeys;

  constructor(keys: AccountKeys) {
    this.#keys = keys;
  }

  /**
   * Signs a plan that breaks no rule, and checks the signatures. Throws `plan_refused` with the broken rule.
   *
   * @param held contents of each input, which come from the index or from an earlier signed plan
   */
  signPlan(plan: TransactionPlan, held: readonly Holdings[]): SignedTransaction {
    return atOnce(this.signing(plan, held));
  }

  /** Signs a plan in steps, because an input takes some milliseconds and a plan may have a thousand inputs. */
  *signing(plan: TransactionPlan, held: readonly Holdings[]): Steps<SignedTransaction> {
    const known = new KnownKeys(this.#keys);
    const fault = planFault(plan, known) ?? holdingsFault(plan, held);
    if (fault !== null)
      throw new AppError('plan_refused', `The plan of a transaction is refused, because ${fault}.`, {
        fault,
      });
    const messageOf = signatureMessages(plan);
    const witnesses: Uint8Array[][] = [];
    for (const [place, input] of plan.inputs.entries()) {
      // an anchor needs no witness
      const isAnchor = scriptType(input.script) === 'p2a';
      witnesses.push(isAnchor ? [] : witnessOf(input, messageOf(place), known));
      yield inputBytes;
    }
    return signedTransaction(plan, witnesses, held);
  }

  /**
   * Proves that an address belongs to the wallet by signing a message: BIP 322, format "simple", in base64. The key
   * must have no leaf. The signature takes about ten milliseconds.
   */
  proveAddress(key: WalletKey, message: string): string {
    const own = { key, leafScript: null };
    const known = new KnownKeys(this.#keys);
    const hash = addressProofHash(known.scriptOf(own), message);
    if (!isPublicKeyHashBranch(key.branch)) return shownWitness([schnorr.sign(hash, known.outputKeyOf(own))]);
    const publicKey = known.publicKeyOf(own);
    return shownWitness([ecdsaSignature(hash, known.privateKeyOf(own), publicKey), publicKey]);
  }
}

/**
 * Size of the work for one signature, in bytes that are read in the same time. A signature takes longer than a turn of
 * the event loop should take.
 */
const inputBytes = 1024 * 1024;

/**
 * Makes the witness of an input. `schnorr.sign` checks each signature with the public key of the private key, and
 * `KnownKeys` has checked this key.
 */
function witnessOf(input: PlannedInput, message: Uint8Array, known: KnownKeys): Uint8Array[] {
  if (isPublicKeyHashBranch(input.key.branch)) {
    const publicKey = known.publicKeyOf(input);
    return [ecdsaSignature(message, known.privateKeyOf(input), publicKey), publicKey];
  }
  if (input.path === 'key') return [schnorr.sign(message, known.outputKeyOf(input))];
  const { leafScript } = input;
  const { controlBlock } = known.outputOf(input);
  assert(leafScript !== null && controlBlock !== null, 'a plan without faults has the leaf that it spends');
  const signature = schnorr.sign(message, known.privateKeyOf(input));
  // the key in the leaf; plan-fault.ts has checked it
  assert(schnorr.verify(signature, message, leafScript.subarray(1, 33)), 'the signature is of the leaf');
  return [signature, leafScript, controlBlock];
}

/** Length of a DER signature whose R and S have 32 bytes each. It includes all length bytes. */
const derBytes = ecdsaSignatureBytes - 1;

/**
 * Makes a signature of exactly 71 bytes, including its hash type. S is low, because nodes require this for relay. The
 * nonce is changed until R is low and both R and S have their full length. Half of all nonces are suitable.
 */
function ecdsaSignature(message: Uint8Array, privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const extraEntropy = Buffer.alloc(32);
  for (let tries = 0; ; tries++) {
    extraEntropy.writeUInt32LE(tries);
    const signature = secp256k1.sign(message, privateKey, {
      prehash: false,
      lowS: true,
      format: 'der',
      extraEntropy,
    });
    // the length of R is also checked, because R with 33 bytes and S with 31 bytes have the same total length
    if (signature.length !== derBytes || signature[3] !== 32) continue;
    const isValid = secp256k1.verify(signature, message, publicKey, { prehash: false, format: 'der' });
    assert(isValid, 'the signature is of the key that the input shows');
    return Uint8Array.of(...signature, sighashAll);
  }
}

/** The output of a key and a leaf, with the keys that sign for it. */
interface KnownOutput {
  readonly output: TaprootOutput;
  /** The private key of the output, or null if it is not derived yet. */
  outputKey: Uint8Array | null;
  readonly leafFault: string | null;
}

/**
 * Keys and scripts of a plan. Each is derived once and kept until the plan is signed, because most plans spend the same
 * script many times. A derivation takes as long as a signature. Hashing a leaf of 390,000 bytes takes two milliseconds.
 */
class KnownKeys implements OwnScripts {
  readonly #keys: AccountKeys;
  readonly #children = new Map<string, ReturnType<AccountKeys['child']>>();
  /** Outputs by key, then by leaf or leaf hash. All inputs of a plan use the same object for a leaf. */
  readonly #outputs = new Map<string, Map<Uint8Array | null, KnownOutput>>();

  constructor(keys: AccountKeys) {
    this.#keys = keys;
  }

  outputOf(own: OwnScript): TaprootOutput {
    return this.#known(own).output;
  }

  scriptOf(own: OwnScript): Uint8Array {
    return isPublicKeyHashBranch(own.key.branch)
      ? publicKeyHashScript(this.publicKeyOf(own))
      : this.outputOf(own).script;
  }

  leafFault(own: OwnScript): string | null {
    if (isPublicKeyHashBranch(own.key.branch)) return null;
    return this.#known(own).leafFault;
  }

  privateKeyOf({ key }: OwnScript): Uint8Array {
    const { privateKey } = this.#child(key);
    assert(privateKey !== null, 'the account of a signer has its private key');
    return privateKey;
  }

  publicKeyOf({ key }: OwnScript): Uint8Array {
    const { publicKey } = this.#child(key);
    assert(publicKey !== null, 'a key of an account has a public key');
    return publicKey;
  }

  /** The private key of a P2TR output that is spent by key. */
  outputKeyOf(own: OwnScript): Uint8Array {
    const known = this.#known(own);
    const { output } = known;
    if (known.outputKey === null) {
      const made = taprootTweakPrivKey(this.privateKeyOf(own), output.merkleRoot ?? noBytes);
      const isOfOutput = Buffer.compare(schnorr.getPublicKey(made), output.outputKey) === 0;
      assert(isOfOutput, 'what signs is the private key of the output key');
      known.outputKey = made;
    }
    return known.outputKey;
  }

  #child(key: WalletKey): ReturnType<AccountKeys['child']> {
    const path = pathOf(key);
    const child = this.#children.get(path) ?? this.#keys.child(key);
    this.#children.set(path, child);
    return child;
  }

  #known(own: OwnScript): KnownOutput {
    const { key, leafScript, leafHash = null } = own;
    const leaf = leafScript ?? leafHash;
    const path = pathOf(key);
    const ofKey = this.#outputs.get(path) ?? new Map<Uint8Array | null, KnownOutput>();
    this.#outputs.set(path, ofKey);
    const known = ofKey.get(leaf);
    if (known !== undefined) return known;
    const xOnlyKey = this.publicKeyOf(own).slice(1);
    const made = {
      output: taprootOutput(xOnlyKey, own),
      outputKey: null,
      leafFault: leafScript === null ? null : leafFault(leafScript, xOnlyKey),
    };
    ofKey.set(leaf, made);
    return made;
  }
}

const pathOf = ({ branch, index }: WalletKey): string => `${branch}/${index}`;

function signedTransaction(
  plan: TransactionPlan,
  witnesses: Uint8Array[][],
  held: readonly Holdings[],
): SignedTransaction {
  const bytes = withWitnesses(plan, witnesses);
  const stripped = unsignedTransaction(plan);
  const weight = 3 * stripped.bytes.length + bytes.length;
  assert(weight === plannedWeight(plan), 'a plan weighs what was planned');
  return {
    bytes,
    txid: stripped.txid,
    wtxid: doubleSha256(bytes),
    weight,
    fee: feeOf(plan),
    holdings: outputHoldings(plan, stripped.txid, held),
  };
}
