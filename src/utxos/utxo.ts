import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHashHex, Txid, TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Sats } from '#kernel/primitives/sats.ts';

/** The owner of requested outputs: a script, and the script's address for servers that find outputs only by address. */
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
  /** Time of the output's block, in Unix seconds. */
  readonly blockTime: number;
}

/** Outputs from a source, in their state at the tip of the source's chain. */
export interface Listing {
  readonly tipHeight: Height;
  /** Outputs sorted by height, then by outpoint. */
  readonly outputs: readonly ListedOutput[];
}

export interface PartListing extends Listing {
  /** Whether the list contains all outputs of the script. */
  readonly isAll: boolean;
}

export type UtxoSourceName = 'index' | 'esplora' | 'node';

/** A source of unspent outputs. The same tests check all sources (test/integration/utxos). */
export interface UtxoSource {
  readonly name: UtxoSourceName;
  /**
   * All unspent outputs of some scripts, each output once. Throws `address_too_large` for more than `outputsMax`
   * outputs, and the source's own codes.
   */
  list(owners: readonly Owner[], asker: Asker): Promise<Listing>;
  /**
   * Lists the largest unspent outputs of one script, at most `limit`, sorted by value. Throws the same errors as
   * `list`. The method is absent if the source would have to list all outputs to find the largest.
   */
  largest?(owner: Owner, limit: number, asker: Asker): Promise<PartListing>;
}

/** Maximum number of outputs per request. If there are more, a person must choose the outputs of a transaction. */
export const outputsMax = 10_000;

export const tooManyOutputs = (): AppError =>
  new AppError('address_too_large', `the address has more than ${outputsMax} unspent outputs`);

/** An unspent output. */
export interface Utxo extends ListedOutput {
  /**
   * The mempool transaction that spends the output. `none` if there is no such transaction, and `unknown` if there is
   * no node.
   */
  readonly spender: TxidHex | 'none' | 'unknown';
  /** Whether the output belongs to a coinbase that the next block must not spend yet. Null if there is no node. */
  readonly isImmature: boolean | null;
}

export interface UtxoSet {
  readonly source: UtxoSourceName;
  readonly tipHeight: Height;
  readonly utxos: readonly Utxo[];
}

/** An outpoint in text form. */
export const outpointText = (txid: TxidHex, vout: number): string => `${txid}:${vout}`;

/** Sorts outputs by height, then by outpoint. All sources list outputs in this order. */
export function inChainOrder(outputs: readonly ListedOutput[]): ListedOutput[] {
  return outputs.toSorted((a, b) => a.height - b.height || Buffer.compare(a.txid, b.txid) || a.vout - b.vout);
}
