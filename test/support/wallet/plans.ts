import { createHash } from 'node:crypto';
import { type Holdings, nothingHeld } from '#kernel/contracts/holdings.ts';
import type { OwnScript, PlannedInput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { envelopeScript } from '#test/builders/regtest/regtest-envelope.ts';
import { AccountKeys, accountOf } from '#wallet/account-key.ts';
import { PublicWallet } from '#wallet/public-wallet.ts';
import { type SignedTransaction, Signer } from '#wallet/signer.ts';

/** The seed words in the test vectors of BIP 39 and BIP 86. Everyone knows them. */
export const knownWords =
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
/** The seed of these words (BIP 39). */
export const knownSeed: Uint8Array = Buffer.from(
  '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4',
  'hex',
);

export interface TestWallet {
  readonly wallet: PublicWallet;
  readonly signer: Signer;
}

/** The wallet of a seed, with its public side and its signer. It has no file and no database. */
export function testWallet(network: NetworkName = 'regtest', seed: Uint8Array = knownSeed): TestWallet {
  const { key, fingerprint } = accountOf(seed, network);
  const identity = { network, accountXpub: key.publicExtendedKey, masterFingerprint: fingerprint };
  return { wallet: new PublicWallet(identity), signer: new Signer(new AccountKeys(key)) };
}

/** The leaf script of an order with this body. */
export function orderLeaf(
  wallet: PublicWallet,
  index: number,
  body: string | Uint8Array = 'text',
): Uint8Array {
  const envelope = envelopeScript({ contentType: 'text/plain', body });
  return Buffer.concat([Uint8Array.of(0x20, ...wallet.orderKey(index), 0xac), envelope]);
}

export interface SpentOutput extends OwnScript {
  readonly value: bigint;
  readonly path: 'key' | 'leaf';
}

/** An input that spends an unknown output of the wallet. */
export function inputOf(wallet: PublicWallet, place: number, spent: SpentOutput): PlannedInput {
  const { script } = wallet.addressOf(spent);
  const txid = asTxid(createHash('sha256').update(`input ${place}`).digest());
  return { txid, vout: place, sequence: 0xffff_fffd, script, ...spent };
}

/**
 * The plan of a direct order. It spends a payment through the leaf and a top-up by key, and pays one postage and the
 * service's revenue.
 */
export function directPlan({ wallet }: TestWallet): TransactionPlan {
  const leafScript = orderLeaf(wallet, 5);
  const order = { key: { branch: 0, index: 5 } as const, leafScript };
  const own = { key: { branch: 1, index: 7 } as const, leafScript: null };
  return {
    version: 2,
    lockTime: 0,
    inputs: [
      inputOf(wallet, 0, { ...order, value: 20_000n, path: 'leaf' }),
      inputOf(wallet, 1, { ...order, value: 4_000n, path: 'key' }),
    ],
    outputs: [
      { kind: 'postage', script: Uint8Array.of(0, 20, ...Buffer.alloc(20, 7)), value: 546n },
      { kind: 'service', script: wallet.addressOf(own).script, value: 22_000n, own },
    ],
    feeMax: 2_000n,
  };
}

/** Holdings for inputs that contain only sats. */
export const plainInputs = ({ inputs }: Pick<TransactionPlan, 'inputs'>): Holdings[] =>
  inputs.map(() => nothingHeld);

interface SpentOutpoint {
  readonly txid: Uint8Array;
  readonly vout: number;
  readonly holds?: Holdings;
}

/** Signs transactions that spend each other's outputs. It remembers the contents that these outputs have. */
export class ChainSigner {
  readonly #signer: Signer;
  readonly #held = new Map<string, Holdings>();

  constructor(signer: Signer) {
    this.#signer = signer;
  }

  /** Adds the contents of outputs that others made. */
  know(outputs: readonly SpentOutpoint[]): void {
    for (const { txid, vout, holds = nothingHeld } of outputs) this.#held.set(nameOf(txid, vout), holds);
  }

  sign(plan: TransactionPlan): SignedTransaction {
    const held = plan.inputs.map(({ txid, vout }) => this.#held.get(nameOf(txid, vout)) ?? nothingHeld);
    const signed = this.#signer.signPlan(plan, held);
    for (const [vout, each] of signed.holdings.entries()) this.#held.set(nameOf(signed.txid, vout), each);
    return signed;
  }
}

const nameOf = (txid: Uint8Array, vout: number): string => `${displayHash(txid)}:${vout}`;
