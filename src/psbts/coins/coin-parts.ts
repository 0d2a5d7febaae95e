import type pg from 'pg';
import type { OwnAmong } from '#kernel/bitcoin/destination.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { UtxoReader } from '#utxos/utxo-reader.ts';

/** Services that read coins and prove that the coins are free. */
export interface CoinParts {
  /** Reads only. */
  readonly pool: pg.Pool;
  readonly utxos: UtxoReader;
  /** Reports which outputs the mempool spends, and the current fee rates. */
  readonly node: NodeRpc;
  readonly network: NetworkParameters;
  /** The satribute definitions that are active now. */
  readonly satributes: SatributeBook;
  /** Selects the given scripts that belong to the service. Null if the service has no wallet. */
  readonly ownAmong: OwnAmong | null;
}
