import type pg from 'pg';
import type { OwnAmong } from '#kernel/bitcoin/destination.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { UtxoReader } from '#utxos/utxo-reader.ts';

/** Parts that read coins, and prove that they are free. */
export interface CoinParts {
  /** Reads only. */
  readonly pool: pg.Pool;
  readonly utxos: UtxoReader;
  /** Reports which outputs the mempool spends, and what transactions cost. */
  readonly node: NodeRpc;
  readonly network: NetworkParameters;
  /** The definitions that are in force. */
  readonly satributes: SatributeBook;
  /** The scripts among these that belong to the service. Null: it has no wallet. */
  readonly ownAmong: OwnAmong | null;
}
