import type pg from 'pg';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import { type CoinKey, coinKeysOf } from '#purse/coins/coin-keys.queries.ts';
import { readStoredCoins } from '#purse/coins/shown-coins.queries.ts';
import type { PaymentHold } from '#purse/holding/payment-hold.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { ownTransactions } from '#purse/transactions/own-transactions.queries.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';
import { type FoundInput, type FoundOutput, type FoundTransaction, ownOutputs } from './found-transaction.ts';
import { WalletAddresses } from './wallet-addresses.ts';

export interface ChainSince {
  readonly pool: pg.Pool;
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

/** Number of blocks below the backup's last block that are read again, because a reorganisation may have replaced them. */
const readAgain = 100;
/** How long the node may take for one block with its spent outputs, in ms. */
const blockMs = 120_000;
/** Number of outputs per question about spends in the mempool. */
const askedAtOnce = 1000;

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
export async function findTransactions(chain: ChainSince): Promise<FoundTransaction[]> {
  const { node, hold, signal, onBlock } = chain;
  const addresses = await WalletAddresses.after(node, chain.wallet, hold.ends);
  addresses.addOwn(chain.ownIndices);
  const finder = new Finder(chain, addresses);
  const tip = await node.call<number>('getblockcount', []);
  // without any scanned block, no address of the wallet was watched, so the backup knows no coin
  const from = hold.height === null ? tip + 1 : Math.max(0, hold.height - readAgain);
  for (let height = from; height <= tip; height++) {
    signal.throwIfAborted();
    onBlock(height, tip);
    await finder.readBlock(height);
  }
  await finder.readMempool();
  return finder.found;
}

class Finder {
  readonly found: FoundTransaction[] = [];
  /** Keys of outputs of the wallet that the read transactions made, by `<txid>:<vout>`. The database may lack them. */
  readonly #made = new Map<string, WalletKey>();
  readonly #chain: ChainSince;
  readonly #addresses: WalletAddresses;

  constructor(chain: ChainSince, addresses: WalletAddresses) {
    this.#chain = chain;
    this.#addresses = addresses;
  }

  async readBlock(height: number): Promise<void> {
    const { node, pool, signal } = this.#chain;
    const hash = await node.call<string>('getblockhash', [height]);
    // 3: with the outputs that the inputs spend
    const { tx } = await node.call<{ tx: readonly NodeTransaction[] }>('getblock', [hash, 3], {
      timeoutMs: blockMs,
      signal,
    });
    const spending = tx.filter(({ vin }) => vin[0]?.txid !== undefined);
    const coins = await coinKeysOf(pool, spending.flatMap(outpointsOf));
    const candidates: FoundTransaction[] = [];
    for (const each of spending) {
      const made = await this.#read(each, height, coins);
      if (made !== null) candidates.push(made);
    }
    await this.#keepUnknown(candidates);
  }

  /** Follows spends of coins in the mempool, also of coins that blocks since the backup made, and of their change. */
  async readMempool(): Promise<void> {
    const { node, pool } = this.#chain;
    let asked = [...(await readStoredCoins(pool, false)).map(outpointOf), ...this.#made.keys()];
    const seen = new Set<string>();
    while (asked.length > 0) {
      const spenders = new Set<string>();
      for (let from = 0; from < asked.length; from += askedAtOnce) {
        const outputs = asked.slice(from, from + askedAtOnce).map((outpoint) => {
          const [txid, vout] = outpoint.split(':');
          return { txid, vout: Number(vout) };
        });
        const answers = await node.call<readonly { spendingtxid?: string }[]>('gettxspendingprevout', [
          outputs,
        ]);
        for (const { spendingtxid: txid } of answers)
          if (txid !== undefined && !seen.has(txid)) spenders.add(txid);
      }
      asked = [];
      for (const txid of spenders) {
        seen.add(txid);
        asked.push(...(await this.#readUnconfirmed(txid)));
      }
    }
  }

  /** Returns the outputs of the wallet that the transaction makes. */
  async #readUnconfirmed(txid: string): Promise<readonly string[]> {
    const { node, pool } = this.#chain;
    const transaction = await node
      .call<NodeTransaction>('getrawtransaction', [txid, 1])
      .catch((error: unknown) => {
        // a block or a replacement took the transaction out of the mempool meanwhile
        if (error instanceof AppError && error.code === 'node_call_failed') return null;
        throw error;
      });
    if (transaction === null) return [];
    const made = await this.#read(transaction, null, await coinKeysOf(pool, outpointsOf(transaction)));
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
      if (key !== null) this.#made.set(`${txid}:${place}`, key);
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
      this.#made.get(outpoint) ??
      null;
    if (prevout === undefined) return { outpoint, value: null, script: null, key, coin };
    const value = BigInt(satsOfBitcoins(prevout.value));
    return { outpoint, value, script: prevout.scriptPubKey.hex, key, coin };
  }

  /** Keeps the transactions that the database does not know. Returns whether any was kept. */
  async #keepUnknown(candidates: readonly FoundTransaction[]): Promise<boolean> {
    const txids = candidates.flatMap(({ txid }) => parseTxid(txid) ?? []);
    const known = new Set<string>((await ownTransactions(this.#chain.pool, txids)).map(displayHash));
    const unknown = candidates.filter(({ txid }) => !known.has(txid));
    this.found.push(...unknown);
    return unknown.length > 0;
  }
}

const outpointsOf = ({ vin }: NodeTransaction): string[] =>
  vin.flatMap(({ txid, vout }) => (txid === undefined || vout === undefined ? [] : [`${txid}:${vout}`]));
