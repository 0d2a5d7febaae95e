import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { BatchRpc } from '#kernel/contracts/node.ts';
import { submitBlock } from '#test/support/node/regtest-feed.ts';
import { withFees } from './regtest-block.ts';
import { type EnvelopeContent, envelopeScript } from './regtest-envelope.ts';
import {
  type Coin,
  type NewOutput,
  type RegtestTransaction,
  scriptOf,
  transaction,
} from './regtest-transaction.ts';

export interface MinedBlock {
  readonly height: number;
  /** Display order. */
  readonly hash: string;
  /** The output of the block's coinbase, which is spendable 100 blocks later. */
  readonly coinbase: Coin;
}

export interface InscribeOptions {
  /** Sats of the inscription's output. Default: 10,000. */
  readonly postage?: number;
  /** Owner of the inscription's output. Default: 0. */
  readonly to?: number;
  /** Fee of the reveal. Default: 10,000, or one sat per byte of the script. */
  readonly fee?: number;
  /** Inputs of the reveal before the commitment. Each of them returns to its owner. */
  readonly parents?: readonly Coin[];
  /** Outputs of the reveal that replace the output with the postage. The outputs of the parents come before them. */
  readonly payments?: readonly NewOutput[];
  /** The coin to spend instead of a new coin. */
  readonly from?: Coin;
}

export interface Inscribed {
  readonly commit: RegtestTransaction;
  readonly reveal: RegtestTransaction;
  /** Commit and reveal, in mining order. */
  readonly transactions: readonly RegtestTransaction[];
}

const maturity = 100;

/** The chain of a real regtest node, with transactions that a test chooses. */
export class RegtestChain {
  readonly rpc: BatchRpc;
  readonly #coinbases: (MinedBlock & { isSpent: boolean })[] = [];
  /**
   * Owner of the miner's outputs, unique to this branch. With the same owner, a new block could be identical to an
   * invalid block, which stays invalid.
   */
  #minerOwner = 1000;

  private constructor(rpc: BatchRpc) {
    this.rpc = rpc;
  }

  /** Mines this many blocks on an empty node. Coinbases that are older than 100 blocks are the first coins. */
  static async start(rpc: BatchRpc, blocks = 120): Promise<RegtestChain> {
    const chain = new RegtestChain(rpc);
    await chain.mineEmpty(blocks);
    return chain;
  }

  /** A spendable coinbase that no other call got before. */
  async coin(): Promise<Coin> {
    const height = await this.height();
    const found = this.#coinbases.find((block) => !block.isSpent && block.height + maturity <= height + 1);
    if (found === undefined) throw new Error(`no coin is mature at height ${height}`);
    found.isSpent = true;
    return found.coinbase;
  }

  /** Coins of equal value from one coinbase, in a transaction that is not mined yet. */
  async split(count: number, value: number, to = 0): Promise<RegtestTransaction> {
    const coin = await this.coin();
    const change = coin.value - count * value - 100 * count - 10_000;
    const payments = Array.from({ length: count }, () => ({ value, to }));
    return transaction([coin], [...payments, { value: change }]);
  }

  /**
   * Makes the commit and the reveal of envelopes, given as contents or as a raw script. Output 1 of the commit is the
   * change. In the reveal, the inscription's output follows the outputs of the parents.
   */
  async inscribe(
    content: EnvelopeContent | readonly EnvelopeContent[] | Uint8Array,
    options: InscribeOptions = {},
  ): Promise<Inscribed> {
    const script = scriptOfContent(content);
    const { postage = 10_000, to = 0, fee = 10_000 + script.length, parents = [] } = options;
    const payments = options.payments ?? [{ value: postage, to }];
    const needed = payments.reduce((sum, { value }) => sum + value, fee);
    const from = options.from ?? (await this.coin());
    const commit = transaction(
      [from],
      [
        { value: needed, commit: script },
        { value: from.value - needed - 10_000, to: from.owner },
      ],
    );
    const returned = parents.map(({ value, owner }) => ({ value, to: owner }));
    const reveal = transaction([...parents, commit.coin(0)], [...returned, ...payments]);
    return { commit, reveal, transactions: [commit, reveal] };
  }

  /**
   * A block with exactly these transactions. The miner takes their fees. With `losesFees`, the fees remain unclaimed.
   */
  async mine(
    transactions: readonly RegtestTransaction[] = [],
    { losesFees = false }: { readonly losesFees?: boolean } = {},
  ): Promise<MinedBlock> {
    const parameters = [this.#minerOutput(), transactions.map(({ hex }) => hex)];
    const isAsMade = losesFees || transactions.length === 0;
    const made = await this.rpc.call<{ hash: string; hex?: string }>('generateblock', [
      ...parameters,
      isAsMade,
    ]);
    if (made.hex === undefined) return this.#mined(made.hash);
    const block = withFees(made.hex, transactions);
    await submitBlock(this.rpc, block);
    return this.#mined(await this.rpc.call<string>('getbestblockhash'));
  }

  /** A block with the transactions of the mempool. */
  async mineMempool(): Promise<MinedBlock> {
    const [hash = ''] = await this.rpc.call<string[]>('generatetodescriptor', [1, this.#minerOutput()]);
    return this.#mined(hash);
  }

  /** Mines blocks that have only a coinbase. */
  async mineEmpty(count: number): Promise<MinedBlock[]> {
    const blocks: MinedBlock[] = [];
    while (blocks.length < count) blocks.push(await this.mine());
    return blocks;
  }

  /** Adds a transaction to the mempool, regardless of its fee and of burned value. */
  async broadcast(made: RegtestTransaction): Promise<void> {
    await this.rpc.call('sendrawtransaction', [made.hex, 0, 21_000_000]);
  }

  /** An unconfirmed payment to a script. It spends a new coin. */
  async pay(outputScript: Uint8Array, value: number): Promise<{ coin: Coin; payment: RegtestTransaction }> {
    const made = await this.#payment(outputScript, value);
    await this.broadcast(made.payment);
    return made;
  }

  /** An unconfirmed payment to an address. */
  async payAddress(address: string, value: number): Promise<RegtestTransaction> {
    const payment = await this.paymentTo(address, value);
    await this.broadcast(payment);
    return payment;
  }

  /** A payment to an address that is not broadcast yet. It spends a new coin. */
  async paymentTo(address: string, value: number): Promise<RegtestTransaction> {
    const { scriptPubKey } = await this.rpc.call<{ scriptPubKey: string }>('validateaddress', [address]);
    return (await this.#payment(Buffer.from(scriptPubKey, 'hex'), value)).payment;
  }

  /** Sum of an owner's unspent outputs in blocks, in sats. */
  async unspentOf(owner: number): Promise<number> {
    const script = Buffer.from(scriptOf(owner)).toString('hex');
    const { total_amount: bitcoins } = await this.rpc.call<{ total_amount: number }>('scantxoutset', [
      'start',
      [`raw(${script})`],
    ]);
    return satsOfBitcoins(bitcoins);
  }

  async height(): Promise<number> {
    return this.rpc.call<number>('getblockcount');
  }

  /**
   * Takes back this many blocks. Their transactions return to the mempool, and the next mined blocks are another
   * branch. Returns the hash of the lowest block, for `reconsider`.
   */
  async takeBack(depth: number): Promise<string> {
    const height = await this.height();
    const hash = await this.rpc.call<string>('getblockhash', [height - depth + 1]);
    await this.rpc.call('invalidateblock', [hash]);
    this.#minerOwner++;
    while ((this.#coinbases.at(-1)?.height ?? 0) > height - depth) this.#coinbases.pop();
    return hash;
  }

  /** Lets the node choose again among all branches, including those that were invalidated with this hash. */
  async reconsider(hash: string): Promise<void> {
    await this.rpc.call('reconsiderblock', [hash]);
  }

  async #payment(
    outputScript: Uint8Array,
    value: number,
  ): Promise<{ coin: Coin; payment: RegtestTransaction }> {
    const coin = await this.coin();
    const change = { value: coin.value - value - 1000, to: coin.owner };
    return { coin, payment: transaction([coin], [{ value, outputScript }, change]) };
  }

  #minerOutput(): string {
    return `raw(${Buffer.from(scriptOf(this.#minerOwner)).toString('hex')})`;
  }

  async #mined(hash: string): Promise<MinedBlock> {
    const { height, tx } = await this.rpc.call<{ height: number; tx: string[] }>('getblock', [hash, 1]);
    const txid = tx[0]!;
    const output = await this.rpc.call<{ value: number }>('gettxout', [txid, 0]);
    const coinbase = { txid, vout: 0, value: satsOfBitcoins(Number(output.value)), owner: this.#minerOwner };
    const block = { height, hash, coinbase };
    this.#coinbases.push({ ...block, isSpent: false });
    return block;
  }
}

function scriptOfContent(content: EnvelopeContent | readonly EnvelopeContent[] | Uint8Array): Uint8Array {
  if (content instanceof Uint8Array) return content;
  const all = Array.isArray(content) ? (content as readonly EnvelopeContent[]) : [content as EnvelopeContent];
  return Buffer.concat(all.map(envelopeScript));
}
