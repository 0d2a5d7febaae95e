import { strict as assert } from 'node:assert';
import { schnorr } from '@noble/curves/secp256k1.js';
import { taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { replaceableSequence } from '#kernel/bitcoin/consensus.ts';
import { SignatureHashes, sighash } from '#kernel/bitcoin/signature-hashes.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { unsignedTransaction, withWitnesses } from './encode-transaction.ts';
import { taprootOutput } from './taproot.ts';

/** A transaction that a test key signs. All its inputs are outputs of the key's own address. */
export interface TestTransaction {
  readonly inputs: readonly { readonly txid: Txid; readonly vout: number; readonly value: bigint }[];
  readonly outputs: readonly { readonly script: Uint8Array; readonly value: bigint }[];
}

const noBytes = new Uint8Array();
const noLeaf = { leafScript: null };

/**
 * The only key of a test wallet, with one address. It is separate from the service's wallet: no seed, branch or plan of
 * orders contains it. It does not exist on mainnet.
 */
export class TestKey {
  /** A P2TR script that can be spent only by key. */
  readonly script: Uint8Array;
  readonly address: string;
  /** Untweaked, x-only. */
  readonly internalKey: Uint8Array;
  readonly #outputKey: Uint8Array;

  /** @param secret 32 random bytes */
  constructor(secret: Uint8Array, network: NetworkParameters) {
    assert(network.name !== 'mainnet', 'keys for tests are of test networks');
    this.internalKey = schnorr.getPublicKey(secret);
    this.script = taprootOutput(this.internalKey, noLeaf).script;
    this.#outputKey = taprootTweakPrivKey(secret, noBytes);
    const address = scriptToAddress(this.script, network);
    assert(address !== null, 'a P2TR script has an address');
    this.address = address;
  }

  sign({ inputs, outputs }: TestTransaction): { readonly bytes: Uint8Array; readonly txid: Txid } {
    const transaction = {
      version: 2,
      lockTime: 0,
      inputs: inputs.map((input) => ({ ...input, sequence: replaceableSequence })),
      outputs,
    };
    const hashes = new SignatureHashes({
      ...transaction,
      inputs: transaction.inputs.map(({ value, ...input }) => ({
        ...input,
        spent: { value, script: this.script },
      })),
    });
    const witnesses = inputs.map((_, place) => {
      const message = hashes.taproot(place, sighash.default, null);
      assert(message !== null, 'all spent outputs are known');
      return [schnorr.sign(message, this.#outputKey)];
    });
    return { bytes: withWitnesses(transaction, witnesses), txid: unsignedTransaction(transaction).txid };
  }
}
