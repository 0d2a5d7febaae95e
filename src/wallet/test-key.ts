import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { schnorr } from '@noble/curves/secp256k1.js';
import { RawTx } from '@scure/btc-signer';
import { taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { SignatureHashes, sighash } from '#kernel/bitcoin/signature-hashes.ts';
import { asTxid, displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { taprootOutput } from './taproot.ts';

/** A transaction that a test key signs: all inputs are outputs of its own address. */
export interface TestTransaction {
  readonly inputs: readonly { readonly txid: Txid; readonly vout: number; readonly value: bigint }[];
  readonly outputs: readonly { readonly script: Uint8Array; readonly value: bigint }[];
}

/** Replaceable, as wallets of customers sign (BIP 125). */
const sequence = 0xffff_fffd;
const noBytes = new Uint8Array();
const noLeaf = { leafScript: null };

/**
 * The one key of a wallet for tests, with one address. It is no part of the wallet of the service: no seed, no branch, and
 * no plan of orders has it. There is none on mainnet.
 */
export class TestKey {
  /** P2TR, by key alone. */
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
    const frame = { version: 2, lockTime: 0 };
    const hashes = new SignatureHashes({
      ...frame,
      outputs,
      inputs: inputs.map(({ txid, vout, value }) => ({
        txid,
        vout,
        sequence,
        spent: { value, script: this.script },
      })),
    });
    const witnesses = inputs.map((_, place) => {
      const message = hashes.taproot(place, sighash.default, null);
      assert(message !== null, 'all spent outputs are known');
      return [schnorr.sign(message, this.#outputKey)];
    });
    const coded = {
      ...frame,
      inputs: inputs.map(({ txid, vout }) => ({
        txid: Buffer.from(displayHash(txid), 'hex'),
        index: vout,
        finalScriptSig: noBytes,
        sequence,
      })),
      outputs: outputs.map(({ script, value }) => ({ amount: value, script })),
    };
    const stripped = RawTx.encode({ ...coded, segwitFlag: false, witnesses: undefined });
    const bytes = RawTx.encode({ ...coded, segwitFlag: true, witnesses });
    return { bytes, txid: asTxid(sha256(sha256(stripped))) };
  }
}

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
