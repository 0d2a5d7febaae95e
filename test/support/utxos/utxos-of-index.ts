import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { SatTracer } from '#sat-ranges/sat-tracer.ts';
import { IndexSource } from '#utxos/index-source.ts';
import { UtxoReader } from '#utxos/utxo-reader.ts';

/** Unspent outputs on regtest, only from the index of addresses, with a node. */
export function utxosOfIndex(pool: pg.Pool, node: NodeRpc, tracer: SatTracer | null): UtxoReader {
  const index = new IndexSource(pool);
  return new UtxoReader({ pool, network: 'regtest', index, others: [], choice: 'index', node, tracer });
}
