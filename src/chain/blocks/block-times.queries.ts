import type { ClientBase } from 'pg';
import type { Height } from '#kernel/primitives/height.ts';

/** Unix seconds of the blocks at some heights, from their headers. Heights without a block are omitted. */
export async function blockTimes(
  client: ClientBase,
  heights: readonly Height[],
): Promise<ReadonlyMap<Height, number>> {
  const { rows } = await client.query<{ height: Height; time: number }>(
    'SELECT height, time::float8 AS time FROM chain.blocks WHERE height = ANY ($1::integer[])',
    [heights],
  );
  return new Map(rows.map(({ height, time }) => [height, time]));
}
