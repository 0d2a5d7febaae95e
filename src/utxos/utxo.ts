import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHashHex, Txid, TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Sats } from '#kernel/primitives/sats.ts';

/** The owner of requested outputs: a script, and its address for servers that know only addresses. */
export interface Owner {
  readonly script: Uint8Array;
  readonly address: string;
}

/** A confirmed output that no block of the source's chain spends. */
export interface ListedOutput {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: Sats;
  readonly script: Uint8Array;
  readonly height: Height;
  readonly blockHash: BlockHashHex;
  /** Time of its block, in seconds. */
  readonly blockTime: number;
}

/** Outputs that a source lists, as of the end of its chain. */
export interface Listing {
  readonly tipHeight: Height;
  /** Sorted by height, then by outpoint. */
  readonly outputs: readonly ListedOutput[];
}

export interface PartListing extends Listing {
  /** There are no others. */
  readonly isAll: boolean;
}

export type UtxoSourceName = 'index' | 'esplora' | 'node';

/** A source of unspent outputs. One suite of tests checks all (test/integration/utxos). */
export interface UtxoSource {
  readonly name: UtxoSourceName;
  /**
   * All unspent outputs of some scripts, each of them once. Throws `address_too_large` for more than `outputsMax`, and
   * the source's own codes.
   */
  list(owners: readonly Owner[], asker: Asker): Promise<Listing>;
  /**
   * The largest of these outputs of one script, at most `limit`, sorted by value. Throws like `list`. Absent: the
   * source cannot find them before it has listed all.
   */
  largest?(owner: Owner, limit: number, asker: Asker): Promise<PartListing>;
}

/** Maximum outputs of one question: with more, a person must choose the outputs of a transaction. */
export const outputsMax = 10_000;

export const tooManyOutputs = (): AppError =>
  new AppError('address_too_large', `the address has more than ${outputsMax} unspent outputs`);

/** An unspent output. */
export interface Utxo extends ListedOutput {
  /** The transaction of the mempool that spends it, or `none`; `unknown`: there is no node to ask. */
  readonly spender: TxidHex | 'none' | 'unknown';
  /** A coinbase that the next block must not spend yet. Null: there is no node to ask. */
  readonly isImmature: boolean | null;
}

export interface UtxoSet {
  readonly source: UtxoSourceName;
  readonly tipHeight: Height;
  readonly utxos: readonly Utxo[];
}

/** The form in which outpoints are written. */
export const outpointText = (txid: TxidHex, vout: number): string => `${txid}:${vout}`;

/** Sorts by height, then by outpoint: the order of every source. */
export function inChainOrder(outputs: readonly ListedOutput[]): ListedOutput[] {
  return outputs.toSorted((a, b) => a.height - b.height || Buffer.compare(a.txid, b.txid) || a.vout - b.vout);
}
