import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { CoinKey } from '#purse/coins/coin-keys.queries.ts';
import type { PaymentHold } from '#purse/holding/payment-hold.store.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';
import { type FoundInput, type FoundOutput, type FoundTransaction, ownOutputs } from './found-transaction.ts';
import type { KnownMoney } from './known-money.ts';
import { WalletAddresses } from './wallet-addresses.ts';

export interface ChainSince {
  readonly known: KnownMoney;
  readonly node: NodeRpc;
  readonly wallet: PublicWallet;
  readonly hold: PaymentHold;
  /** `script:sats` of outputs that payments on hold would make. A transaction with such an output is found, too. */
  readonly wanted: ReadonlySet<string>;
  /** Indices in branch 1 that payouts on hold have had since before the backup. */
  readonly ownIndices: readonly number[];
  readonly signal: AbortSignal;
  readonly onBlock: (height: number, tip: number) => void;
}

/** A block of the node, with its hash in display order. */
export interface NodeBlock {
  readonly height: number;
  readonly hash: string;
}

/** Transactions that the database did not know when they were read. */
export interface Evidence {
  readonly found: readonly FoundTransaction[];
  /** The node's last block, before and after its mempool was read. All blocks up to this block were read. */
  readonly tip: NodeBlock;
}

/**
 * Number of blocks below the backup's last block that are read again, because a reorganisation may have replaced them.
 */
const readAgain = 100;
/** How long the node may take for one block with its spent outputs, in ms. */
const blockMs = 120_000;
/** Number of outputs per question about spends in the mempool. */
const askedAtOnce = 1000;
/** Maximum number of readings of the mempool, if blocks or replacements change it each time. One takes some seconds. */
const readingsMax = 20;

interface NodeTransaction {
  readonly txid: string;
  readonly hex: string;
  readonly vin: readonly {
    readonly txid?: string;
    readonly vout?: number;
    readonly prevout?: { readonly value: number; readonly scriptPubKey: NodeScript };
  }[];
  readonly vout: readonly { readonly value: number; readonly scriptPubKey: NodeScript }[];
}

interface NodeScript {
  readonly hex: string;
  readonly address?: string;
}

/** The key of an output in hex script and sats, as in `ChainSince.wanted`. */
export const paidKey = (script: string, sats: bigint): string => `${script}:${sats}`;

/**
 * Finds transactions since the backup that the database does not know, and that spend coins of the wallet or pay what
 * payments on hold would pay. Reads all blocks after the backup, and the spends of the wallet's coins in the mempool.
 * The blocks are in order, so change of one found transaction is recognised when another one spends it.
 */
export class ChainReader {
  readonly #chain: ChainSince;
  readonly #addresses: WalletAddresses;
  /** Height of the first block to read. */
  readonly #from: number;
  /** The blocks that were read, ascending. Each block is the parent of the next one. */
  readonly #blocks: NodeBlock[] = [];
  #found: FoundTransaction[] = [];
  /**
   * Outputs of the wallet that the read transactions made, by `<txid>:<vout>`. The database may lack them. The height
   * is null for a transaction in the mempool.
   */
  readonly #made = new Map<string, { readonly key: WalletKey; readonly height: number | null }>();

  private constructor(chain: ChainSince, addresses: WalletAddresses, from: number) {
    this.#chain = chain;
    this.#addresses = addresses;
    this.#from = from;
  }

  static async start(chain: ChainSince): Promise<ChainReader> {
    const { node, hold, wallet, ownIndices } = chain;
    const addresses = await WalletAddresses.after(node, wallet, hold.ends);
    addresses.addOwn(ownIndices);
    // without any scanned block, no address of the wallet was watched, so the backup knows no coin
    const from =
      hold.height === null
        ? await node.call<number>('getblockcount', [])
        : Math.max(0, hold.height - readAgain);
    return new ChainReader(chain, addresses, from);
  }

  /**
   * Reads blocks up to the tip, and then the mempool. Another call reads only later blocks, the blocks that a
   * reorganisation replaced, and the mempool. If a block arrives or a transaction leaves the mempool meanwhile, both
   * are read again. Otherwise a transaction that a block takes out of the mempool would be in neither of the two.
   */
  async read(): Promise<Evidence> {
    for (let readings = 0; readings < readingsMax; readings++) {
      const tip = await this.#readBlocks();
      const isWhole = await this.#readMempool();
      const best = await this.#chain.node.call<string>('getbestblockhash', []);
      if (isWhole && best === tip.hash) return { found: [...this.#found], tip };
    }
    throw new AppError(
      'release_refused',
      `The blocks or the mempool of the node changed during each of ${readingsMax} readings. Nothing was changed. Run this command again.`,
    );
  }

  /** Reads blocks until the last one is the node's last block. Returns this block. */
  async #readBlocks(): Promise<NodeBlock> {
    const { node, signal, onBlock } = this.#chain;
    for (;;) {
      signal.throwIfAborted();
      await this.#stepBack();
      const tip = await node.call<number>('getblockcount', []);
      const last = this.#blocks.at(-1);
      if (last !== undefined && last.height >= tip) return last;
      const height = last === undefined ? Math.min(this.#from, tip) : last.height + 1;
      onBlock(height, tip);
      await this.#readBlock(height, last?.hash ?? null);
    }
  }

  /** Forgets blocks that are not in the node's best chain any more, and what they made. */
  async #stepBack(): Promise<void> {
    for (let last = this.#blocks.at(-1); last !== undefined; last = this.#blocks.at(-1)) {
      const { height, hash } = last;
      const header = await this.#chain.node.call<{ confirmations: number }>('getblockheader', [hash]);
      // -1: the block is in another chain
      if (header.confirmations >= 0) return;
      this.#blocks.pop();
      this.#keepOnly((each) => each !== null && each < height);
    }
  }

  /** Forgets found transactions and made outputs, except those at heights that are kept. */
  #keepOnly(isKept: (height: number | null) => boolean): void {
    this.#found = this.#found.filter(({ height }) => isKept(height));
    for (const [outpoint, { height }] of this.#made) if (!isKept(height)) this.#made.delete(outpoint);
  }

  /** Reads a block, unless a reorganisation has just removed its height or its parent. */
  async #readBlock(height: number, parent: string | null): Promise<void> {
    const { node, known, signal } = this.#chain;
    const hash = await node.call<string>('getblockhash', [height]).catch(nullIf(outOfRange));
    if (hash === null) return;
    // 3: with the outputs that the inputs spend
    const block = await node.call<{ previousblockhash?: string; tx: readonly NodeTransaction[] }>(
      'getblock',
      [hash, 3],
      { timeoutMs: blockMs, signal },
    );
    if (parent !== null && block.previousblockhash !== parent) return;
    const spending = block.tx.filter(({ vin }) => vin[0]?.txid !== undefined);
    const coins = await known.coinKeysOf(spending.flatMap(outpointsOf));
    const candidates: FoundTransaction[] = [];
    for (const each of spending) {
      const made = await this.#read(each, height, coins);
      if (made !== null) candidates.push(made);
    }
    await this.#keepUnknown(candidates);
    this.#blocks.push({ height, hash });
  }

  /**
   * Follows spends of coins in the mempool, also of coins that blocks since the backup made, and of their change.
   * Returns false if a transaction left the mempool before it was read.
   */
  async #readMempool(): Promise<boolean> {
    this.#keepOnly((height) => height !== null);
    const seen = new Set<string>();
    let asked = [...(await this.#chain.known.outputsToAsk()), ...this.#made.keys()];
    while (asked.length > 0) {
      const spenders = (await this.#spendersOf(asked)).filter((txid) => !seen.has(txid));
      asked = [];
      for (const txid of spenders) {
        this.#chain.signal.throwIfAborted();
        seen.add(txid);
        const made = await this.#readUnconfirmed(txid);
        if (made === null) return false;
        asked.push(...made);
      }
    }
    return true;
  }

  /** Transactions in the mempool that spend these outputs, each once. */
  async #spendersOf(outpoints: readonly string[]): Promise<readonly string[]> {
    const spenders = new Set<string>();
    for (let from = 0; from < outpoints.length; from += askedAtOnce) {
      const outputs = outpoints.slice(from, from + askedAtOnce).map((outpoint) => {
        const [txid, vout] = outpoint.split(':');
        return { txid, vout: Number(vout) };
      });
      const answers = await this.#chain.node.call<readonly { spendingtxid?: string }[]>(
        'gettxspendingprevout',
        [outputs],
      );
      for (const { spendingtxid: txid } of answers) if (txid !== undefined) spenders.add(txid);
    }
    return [...spenders];
  }

  /**
   * Returns the outputs of the wallet that an unknown transaction makes. Null if a block or a replacement took the
   * transaction out of the mempool.
   */
  async #readUnconfirmed(txid: string): Promise<readonly string[] | null> {
    const { node, known } = this.#chain;
    const transaction = await node
      .call<NodeTransaction>('getrawtransaction', [txid, 1])
      .catch(nullIf(notFound));
    if (transaction === null) return null;
    const made = await this.#read(transaction, null, await known.coinKeysOf(outpointsOf(transaction)));
    if (made === null || !(await this.#keepUnknown([made]))) return [];
    return ownOutputs(made);
  }

  /** Reads a transaction. Returns null if it has nothing to do with the wallet or with payments on hold. */
  async #read(
    { txid, hex, vin, vout }: NodeTransaction,
    height: number | null,
    coins: ReadonlyMap<string, CoinKey>,
  ): Promise<FoundTransaction | null> {
    const { wanted } = this.#chain;
    const inputs: FoundInput[] = [];
    for (const input of vin) inputs.push(await this.#inputOf(input, coins));
    const outputs: FoundOutput[] = [];
    for (const [place, { value, scriptPubKey }] of vout.entries()) {
      const address = scriptPubKey.address ?? null;
      const key = await this.#addresses.keyOf(address);
      if (key !== null) this.#made.set(`${txid}:${place}`, { key, height });
      outputs.push({ value: BigInt(satsOfBitcoins(value)), script: scriptPubKey.hex, address, key });
    }
    const isNamed =
      inputs.some(({ key }) => key !== null) ||
      outputs.some(({ script, value }) => wanted.has(paidKey(script, value)));
    return isNamed ? { txid, height, hex, inputs, outputs } : null;
  }

  async #inputOf(
    { txid, vout, prevout }: NodeTransaction['vin'][number],
    coins: ReadonlyMap<string, CoinKey>,
  ): Promise<FoundInput> {
    const outpoint = `${txid}:${vout}`;
    const coin = coins.get(outpoint) ?? null;
    const key =
      coin?.key ??
      (await this.#addresses.keyOf(prevout?.scriptPubKey.address ?? null)) ??
      this.#made.get(outpoint)?.key ??
      null;
    if (prevout === undefined) return { outpoint, value: null, script: null, key, coin };
    const value = BigInt(satsOfBitcoins(prevout.value));
    return { outpoint, value, script: prevout.scriptPubKey.hex, key, coin };
  }

  /** Keeps the transactions that the database does not know. Returns whether any was kept. */
  async #keepUnknown(candidates: readonly FoundTransaction[]): Promise<boolean> {
    const own = await this.#chain.known.ownAmong(candidates.map(({ txid }) => txid));
    const unknown = candidates.filter(({ txid }) => !own.has(txid));
    this.#found.push(...unknown);
    return unknown.length > 0;
  }
}

const outpointsOf = ({ vin }: NodeTransaction): string[] =>
  vin.flatMap(({ txid, vout }) => (txid === undefined || vout === undefined ? [] : [`${txid}:${vout}`]));

/**
 * Codes of the node's errors, from Bitcoin Core's `RPCErrorCode`: a height above the tip, and an unknown transaction.
 */
const outOfRange = -8;
const notFound = -5;

/** Makes a handler that returns null for one error of the node, and rethrows other errors. */
const nullIf =
  (code: number) =>
  (error: unknown): null => {
    if (error instanceof AppError && error.details['rpcCode'] === code) return null;
    throw error;
  };
