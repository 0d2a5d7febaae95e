import type pg from 'pg';
import { satRangesInBlock } from '#chain/sats/sat-ranges.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { parseBlockHash, parseTxid } from '#kernel/primitives/hash.ts';
import { NodeTraceSource, type TraceRpc } from '#sat-ranges/node-trace-source.ts';
import { SatTracer } from '#sat-ranges/sat-tracer.ts';

/**
 * Finds the sats of unspent outputs. If the database has an index of sats, it is used; otherwise the sats are traced
 * back.
 */
export function openSatTracer(pool: pg.Pool, node: TraceRpc, blocks: BlockSource): SatTracer {
  return new SatTracer(
    new NodeTraceSource(node, blocks, {
      indexed: ({ txid, vout, value, height, blockHash }, signal) => {
        const id = parseTxid(txid);
        const hash = parseBlockHash(blockHash);
        // names from the node are well-formed, so any other name cannot be in an index
        if (id === null || hash === null) return Promise.resolve(null);
        const read = { outpoint: { txid: id, vout }, block: { height, hash } };
        return withSnapshot(
          pool,
          ({ client }) => satRangesInBlock(client, read.outpoint, value, read.block),
          signal,
        );
      },
    }),
  );
}
