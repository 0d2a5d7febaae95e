import type pg from 'pg';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import { textSources } from '#search/segments/segments.ts';

/** A range of ids of texts that are in no segment. */
export interface UnsealedRange {
  /** While it is the same, no blocks were taken back. */
  readonly epoch: number;
  readonly firstId: number;
  readonly nextId: number;
}

/** Bytes of the unsealed texts. The number is needed every second during a load, so each text is only counted once. */
export class UnsealedBytes {
  readonly #counted = new Map<Corpus, UnsealedRange & { readonly bytes: number }>();

  async count(client: pg.ClientBase | pg.Pool, corpus: Corpus, range: UnsealedRange): Promise<number> {
    const { epoch, firstId, nextId } = range;
    const before = this.#counted.get(corpus);
    const isLonger =
      before !== undefined && before.epoch === epoch && before.firstId === firstId && before.nextId <= nextId;
    const counted = isLonger ? before : { nextId: firstId, bytes: 0 };
    if (counted.nextId === nextId) return counted.bytes;
    const bytes = counted.bytes + (await bytesOf(client, corpus, counted.nextId, nextId));
    this.#counted.set(corpus, { ...range, bytes });
    return bytes;
  }
}

/** Sums the bytes of texts from the lengths in their rows, without reading the texts. */
async function bytesOf(
  client: pg.ClientBase | pg.Pool,
  corpus: Corpus,
  firstId: number,
  nextId: number,
): Promise<number> {
  const { table, id, folded } = textSources[corpus];
  const { rows } = await client.query<{ bytes: number | null }>(
    `SELECT sum(octet_length(${folded})) AS bytes FROM ${table} WHERE ${id} >= $1 AND ${id} < $2`,
    [firstId, nextId],
  );
  return rows[0]?.bytes ?? 0;
}
