import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { submitBlock } from '#test/support/node/regtest-feed.ts';
import { withFees } from './regtest-block.ts';
import { type EnvelopeContent, envelopeScript } from './regtest-envelope.ts';
import {
  type Coin,
  type Payment,
  type RegtestTransaction,
  scriptOf,
  transaction,
} from './regtest-transaction.ts';

export interface MinedBlock {
  readonly height: number;
  /** Display order. */
  readonly hash: string;
  /** What its coinbase pays; it can be spent 100 blocks later. */
  readonly coinbase: Coin;
}

export interface InscribeOptions {
  /** Of the output that the inscription is in. Default: 10,000. */
  readonly postage?: number;
  /** Owner of that output. Default: 0. */
  readonly to?: number;
  /** Fee of the reveal. Default: 10,000, or a sat for each byte of the script. */
  readonly fee?: number;
  /** Spent by the reveal before the commitment, each paid back to its owner. */
  readonly parents?: readonly Coin[];
  /** Outputs of the reveal in place of the one with the postage; those of the parents stand before them. */
  readonly payments?: readonly Payment[];
  /** Taken in place of a new coin. */
  readonly from?: Coin;
}

export interface Inscribed {
  readonly commit: RegtestTransaction;
  readonly reveal: RegtestTransaction;
  /** Both, in the order in which they are mined. */
  readonly transactions: readonly RegtestTransaction[];
}

const maturity = 100;

/** The chain of a real regtest node, made of transactions that a test chooses. */
export class RegtestChain {
  readonly rpc: NodeRpc;
  readonly #coinbases: (MinedBlock & { isSpent: boolean })[] = [];
  /** Of this branch: the same block made twice is one, and a block that was called invalid stays so. */
  #minerOwner = 1000;

  private constructor(rpc: NodeRpc) {
    this.rpc = rpc;
  }

  /** Mines so many blocks on an empty node; those that are older than 100 blocks give the first coins. */
  static async start(rpc: NodeRpc, blocks = 120): Promise<RegtestChain> {
    const chain = new RegtestChain(rpc);
    await chain.mineEmpty(blocks);
    return chain;
  }

  /** A coinbase that can be spent now, not handed out before. */
  async coin(): Promise<Coin> {
    const height = await this.height();
    const found = this.#coinbases.find((block) => !block.isSpent && block.height + maturity <= height + 1);
    if (found === undefined) throw new Error(`no coin is mature at height ${height}`);
    found.isSpent = true;
    return found.coinbase;
  }

  /** Coins of equal value out of one coinbase, in a transaction that is still to be mined. */
  async split(count: number, value: number, to = 0): Promise<RegtestTransaction> {
    const coin = await this.coin();
    const change = coin.value - count * value - 100 * count - 10_000;
    const payments = Array.from({ length: count }, () => ({ value, to }));
    return transaction([coin], [...payments, { value: change }]);
  }

  /**
   * Commit and reveal of envelopes: contents, or a script as it is. The commit's output 1 is change; the inscription's output
   * of the reveal stands behind those of the parents.
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

  /** A block of exactly these transactions. Its miner takes their fees, or with `losesFees` leaves them to nobody. */
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

  /** A block of what is in the mempool. */
  async mineMempool(): Promise<MinedBlock> {
    const [hash = ''] = await this.rpc.call<string[]>('generatetodescriptor', [1, this.#minerOutput()]);
    return this.#mined(hash);
  }

  /** Blocks of a coinbase alone. */
  async mineEmpty(count: number): Promise<MinedBlock[]> {
    const blocks: MinedBlock[] = [];
    while (blocks.length < count) blocks.push(await this.mine());
    return blocks;
  }

  /** Hands a transaction to the mempool, whatever its fee and what it burns. */
  async broadcast(made: RegtestTransaction): Promise<void> {
    await this.rpc.call('sendrawtransaction', [made.hex, 0, 21_000_000]);
  }

  async height(): Promise<number> {
    return this.rpc.call<number>('getblockcount');
  }

  /**
   * Takes back so many blocks: their transactions go to the mempool, and what is mined next is another branch. Returns the
   * hash of the lowest of them, for `reconsider`.
   */
  async takeBack(depth: number): Promise<string> {
    const height = await this.height();
    const hash = await this.rpc.call<string>('getblockhash', [height - depth + 1]);
    await this.rpc.call('invalidateblock', [hash]);
    this.#minerOwner++;
    while ((this.#coinbases.at(-1)?.height ?? 0) > height - depth) this.#coinbases.pop();
    return hash;
  }

  /** Lets the node choose again among all branches that were taken back with this hash. */
  async reconsider(hash: string): Promise<void> {
    await this.rpc.call('reconsiderblock', [hash]);
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
