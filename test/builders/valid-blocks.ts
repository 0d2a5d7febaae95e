import { BlockBuilder, regtestGenesis } from './block.ts';
import { SpentWriter } from './block-folder.ts';
import type { Input, Output } from './transaction.ts';

/** An output that can be spent. */
export interface Coin extends Output {
  readonly txid: Uint8Array;
  readonly vout: number;
}

export interface SpentCoin {
  readonly coin: Coin;
  readonly witness: readonly Uint8Array[];
  /** Empty if absent, like for all outputs that a witness spends. */
  readonly scriptSig?: Uint8Array;
}

/** A block that a regtest node accepts, and its coinbase. */
export interface ValidBlock {
  readonly height: number;
  /** 32 bytes in internal order. */
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The outputs that the block spends, in the form of a node. */
  readonly spent: Uint8Array;
  /**
   * The coinbase's output, which is spendable `coinbaseMaturity` blocks later. Its value is 0 if nothing was claimed.
   */
  readonly coinbase: Coin;
}

export interface MineOptions {
  readonly coinbaseScript: Uint8Array;
  /** Sats of the reward that are left unclaimed. Ord counts them as lost. */
  readonly unclaimed?: number;
  /** Header time in seconds. If absent, it is ten minutes per height after the network's first block. */
  readonly time?: number;
}

export const coinbaseMaturity = 100;
/** Maximum weight of the transactions in a block: the bound of consensus, minus room for header and coinbase. */
export const blockWeightMax = 4_000_000 - 4000;

const firstSubsidy = 5_000_000_000;
const halvingInterval = 150; // in blocks, on regtest
const genesisTime = 1_296_688_602;
const blockIntervalSeconds = 600;
const noBytes = new Uint8Array(0);

/** Maximum sats of a coinbase at a height, without fees. */
function subsidyAt(height: number): number {
  return Math.floor(firstSubsidy / 2 ** Math.floor(height / halvingInterval));
}

/**
 * A witness program of version 2. Consensus has no rule for it yet, so any witness spends it (BIP 141), without a
 * signature and with any number of items. Ord reads an envelope from the second-last item of any witness. With a
 * program of 20 or 32 bytes, outputs are as long as mainnet's.
 */
export function openScript(program: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([0x52, program.length]), program]);
}

/** Puts transactions into consecutive blocks, and counts fees. The caller keeps track of the coins. */
export class ValidBlocks {
  #tip: { readonly height: number; readonly hash: Uint8Array } = {
    height: 0,
    hash: regtestGenesis.hash,
  };
  readonly #builder = new BlockBuilder();
  readonly #spent = new SpentWriter();
  #fees = 0;

  get height(): number {
    return this.#tip.height;
  }

  /** The index of the next added transaction in its block. */
  get nextPlace(): number {
    return this.#builder.transactions + 1;
  }

  get weight(): number {
    return this.#builder.weight;
  }

  /** The fees of the block under construction. */
  get collectedFees(): number {
    return this.#fees;
  }

  /** Starts another branch: the next block follows this block. */
  continueFrom(tip: { readonly height: number; readonly hash: Uint8Array }): void {
    this.#tip = tip;
  }

  /** Adds a transaction and returns its outputs. */
  spend(inputs: readonly SpentCoin[], outputs: readonly Output[]): Coin[] {
    const spent: Input[] = inputs.map(({ coin, witness, scriptSig = noBytes }) => ({
      txid: coin.txid,
      vout: coin.vout,
      scriptSig,
      witness,
    }));
    for (const { coin } of inputs) this.#fees += coin.value;
    for (const { value } of outputs) this.#fees -= value;
    const txid = this.#builder.add({ inputs: spent, outputs });
    this.#spent.add(inputs.map(({ coin }) => coin));
    return outputs.map((output, vout) => ({ ...output, txid, vout }));
  }

  mine({ coinbaseScript, unclaimed = 0, time }: MineOptions): ValidBlock {
    const height = this.#tip.height + 1;
    const output = { value: subsidyAt(height) + this.#fees - unclaimed, script: coinbaseScript };
    const seconds = time ?? genesisTime + height * blockIntervalSeconds;
    const { hash, bytes, coinbase } = this.#builder.finish(height, this.#tip.hash, seconds, [output]);
    this.#fees = 0;
    this.#tip = { height, hash };
    return {
      height,
      hash,
      bytes: new Uint8Array(bytes),
      spent: this.#spent.finish(),
      coinbase: { ...output, txid: coinbase, vout: 0 },
    };
  }
}
