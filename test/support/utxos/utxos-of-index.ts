import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { SatTracer } from '#sat-ranges/sat-tracer.ts';
import { IndexSource } from '#utxos/index-source.ts';
import { UtxoReader } from '#utxos/utxo-reader.ts';

/** Reads unspent outputs on regtest from the index of addresses and a node, without other sources. */
export function utxosOfIndex(pool: pg.Pool, node: NodeRpc, tracer: SatTracer | null): UtxoReader {
  const index = new IndexSource(pool);
  return new UtxoReader({ pool, network: 'regtest', index, others: [], choice: 'index', node, tracer });
}
