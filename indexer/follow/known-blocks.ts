import type pg from 'pg';
import type { BlockRef, BlockSource } from '#kernel/contracts/block-source.ts';
import { type Plan, plan } from './plan.ts';

/** Blocks that are compared first, from the tip down: two weeks of them, deeper than any reorganisation but a rebuilt chain's. */
const firstWindowBlocks = 2016;

interface RefRow {
  height: number;
  hash: Buffer;
}

/**
 * Plans the way from the indexed chain to the source's. Where both are one run of consecutive blocks from the same
 * height, a shared block vouches for all below it, and only a window at the tip is compared, doubled until it has one;
 * chains with gaps are compared whole.
 */
export async function planFor(client: pg.ClientBase, source: BlockSource): Promise<Plan> {
  const ends = await knownEnds(client);
  if (ends === null) return plan([], await source.refs());
  const islands = await source.islands();
  const isOneRun =
    islands.length === 1 && islands[0]?.firstHeight === ends.lowest && ends.tipIslandHeight === ends.lowest;
  if (isOneRun) {
    for (let window = firstWindowBlocks; ends.tip - window > ends.lowest; window *= 2) {
      const from = Math.min(ends.tip, islands[0]?.lastHeight ?? 0) - window;
      if (from <= ends.lowest) break;
      const ours = await knownRefs(client, from);
      const part = plan(ours, await source.refs(from));
      // with nothing shared the window says only that it begins too high
      if (part.undoTo !== -1) return part;
    }
  }
  return plan(await knownRefs(client, 0), await source.refs());
}

async function knownEnds(
  client: pg.ClientBase,
): Promise<{ lowest: number; tip: number; tipIslandHeight: number } | null> {
  const { rows } = await client.query<{ lowest: number; tip: number; island_height: number }>(
    `SELECT (SELECT min(height) FROM chain.blocks) AS lowest, height AS tip, island_height
     FROM chain.blocks ORDER BY height DESC LIMIT 1`,
  );
  const row = rows[0];
  return row === undefined ? null : { lowest: row.lowest, tip: row.tip, tipIslandHeight: row.island_height };
}

async function knownRefs(client: pg.ClientBase, from: number): Promise<BlockRef[]> {
  const { rows } = await client.query<RefRow>(
    'SELECT height, hash FROM chain.blocks WHERE height >= $1 ORDER BY height',
    [from],
  );
  return rows.map(({ height, hash }) => ({ height, hash }));
}
