import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { type ModelRunestone, modelOf } from '#test/support/chain/runes/runestone-model.ts';
import {
  afterBlock,
  type ModelTransaction,
  noRunes,
  plainMessage,
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

/** The model's state of runes after each block of a node, on all branches. */
export class RuneChain {
  /** Runestones of the run, by the txid of their transactions. */
  readonly messages = new Map<string, RuneMessage>();
  /** Txids of etchings, by the id of their rune, because the service's runestones use ids. */
  readonly etchings = new Map<string, string>();
  readonly #rpc: NodeRpc;
  /** Blocks up to this height have no runestone. */
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
      const transactions = this.#blocks.get(at)?.transactions ?? [];
      for (const made of transactions) this.#readStone(made);
      state = afterBlock(state, transactions, this.messages);
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

  /**
   * Finds the service's transactions in the chain up to a block, and the service's scripts. If a transaction spends
   * from one of these scripts, its change goes to another of these scripts.
   *
   * @param charges scripts of the service that customers pay
   * @param receivers scripts of withdrawals
   */
  async serviceOf(
    hash: string,
    charges: ReadonlySet<string>,
    receivers: ReadonlySet<string>,
  ): Promise<{ readonly txids: ReadonlySet<string>; readonly own: ReadonlySet<string> }> {
    const own = new Set(charges);
    const txids = new Set<string>();
    const ownOutputs = new Set<string>();
    for (const { txid, inputs, outputs } of await this.#transactionsTo(hash)) {
      txids.add(txid);
      const isOurs = inputs.some((outpoint) => ownOutputs.has(outpoint));
      for (const [vout, { script }] of outputs.entries()) {
        if (isOurs && !receivers.has(script) && !script.startsWith('6a')) own.add(script);
        if (own.has(script)) ownOutputs.add(`${txid}:${vout}`);
      }
    }
    return { txids, own };
  }

  /** Transactions of the chain up to a block, the oldest first. */
  async #transactionsTo(hash: string): Promise<ModelTransaction[]> {
    const blocks: (readonly ModelTransaction[])[] = [];
    for (let at = hash; ; ) {
      const { height, before, transactions } = await this.#block(at);
      if (height <= this.#startHeight) return blocks.toReversed().flat();
      blocks.push(transactions);
      at = before;
    }
  }

  /** Reads the runestone of a transaction that the run did not write. Uses the second reader. */
  #readStone({ txid, outputs }: ModelTransaction): void {
    if (this.messages.has(txid)) return;
    const stone = outputs.find(({ script }) => script.startsWith('6a5d'));
    if (stone === undefined) return;
    this.messages.set(txid, this.#messageOf(modelOf(Buffer.from(stone.script, 'hex'), outputs.length)));
  }

  #messageOf({ flaw, edicts, etching, mint, pointer }: ModelRunestone): RuneMessage {
    if (etching !== null || mint !== null) throw new Error('only the run etches and mints');
    if (flaw !== null) return { ...plainMessage, isCenotaph: true };
    return {
      ...plainMessage,
      // an unknown rune is not in any input
      edicts: edicts.map(({ id, amount, output }) => ({
        rune: this.etchings.get(id) ?? id,
        amount,
        output: Number(output),
      })),
      pointer: pointer === null ? null : Number(pointer),
    };
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
