import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import {
  afterBlock,
  type ModelTransaction,
  noRunes,
  type RuneMessage,
  type RuneState,
} from './rune-model.ts';

interface NodeBlock {
  readonly hash: string;
  readonly height: number;
  readonly previousblockhash?: string;
  readonly tx: readonly {
    readonly txid: string;
    readonly vin: readonly { readonly txid?: string; readonly vout?: number }[];
    readonly vout: readonly { readonly value: number; readonly scriptPubKey: { readonly hex: string } }[];
  }[];
}

interface ModelBlock {
  readonly height: number;
  readonly before: string;
  readonly transactions: readonly ModelTransaction[];
}

/** An output of a block. */
export interface MinedOutput {
  readonly outpoint: string;
  readonly script: string;
  readonly sats: bigint;
}

/** The model's runes after each block of a node, on all branches. */
export class RuneChain {
  /** Runestones of the run, by the txid of their transactions. */
  readonly messages = new Map<string, RuneMessage>();
  readonly #rpc: NodeRpc;
  /** No block up to this height has a runestone. */
  readonly #startHeight: number;
  readonly #blocks = new Map<string, ModelBlock>();
  readonly #states = new Map<string, RuneState>();

  constructor(rpc: NodeRpc, startHeight: number) {
    this.#rpc = rpc;
    this.#startHeight = startHeight;
  }

  /** The runes after a block, by its hash in display order. */
  async stateAt(hash: string): Promise<RuneState> {
    const missing: string[] = [];
    let state = noRunes;
    for (let at = hash; ; ) {
      const known = this.#states.get(at);
      const block = known === undefined ? await this.#block(at) : null;
      if (known !== undefined || block === null || block.height <= this.#startHeight) {
        state = known ?? noRunes;
        break;
      }
      missing.push(at);
      at = block.before;
    }
    for (const at of missing.toReversed()) {
      state = afterBlock(state, this.#blocks.get(at)?.transactions ?? [], this.messages);
      this.#states.set(at, state);
    }
    return state;
  }

  /** Outputs of the chain up to a block that pay one of these scripts. */
  async outputsTo(hash: string, scripts: ReadonlySet<string>): Promise<MinedOutput[]> {
    const found: MinedOutput[] = [];
    for (let at = hash; ; ) {
      const { height, before, transactions } = await this.#block(at);
      if (height <= this.#startHeight) return found;
      for (const { txid, outputs } of transactions) {
        for (const [vout, output] of outputs.entries())
          if (scripts.has(output.script)) found.push({ outpoint: `${txid}:${vout}`, ...output });
      }
      at = before;
    }
  }

  async #block(hash: string): Promise<ModelBlock> {
    const known = this.#blocks.get(hash);
    if (known !== undefined) return known;
    const { height, previousblockhash = '', tx } = await this.#rpc.call<NodeBlock>('getblock', [hash, 2]);
    const transactions = tx.map(({ txid, vin, vout }) => ({
      txid,
      inputs: vin.flatMap((input) => (input.txid === undefined ? [] : [`${input.txid}:${input.vout}`])),
      outputs: vout.map(({ value, scriptPubKey }) => ({
        script: scriptPubKey.hex,
        sats: BigInt(satsOfBitcoins(value)),
      })),
    }));
    const block = { height, before: previousblockhash, transactions };
    this.#blocks.set(hash, block);
    return block;
  }
}
