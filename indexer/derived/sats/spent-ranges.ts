import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { SpentSats } from '#indexer/ledger/sats/apply-sats.ts';
import { int4Array } from '#kernel/pg/int4-array.ts';
import { outpointColumns } from './sat-question.ts';

const hashLength = 32;

/** Outputs of earlier batches that a batch of blocks spends: their rows are deleted. */
export class SpentRanges {
  readonly #names: string[] = [];
  readonly #heights: number[] = [];

  add(spent: readonly SpentSats[]): void {
    for (const { name, held } of spent) {
      this.#names.push(name);
      this.#heights.push(held.height);
    }
  }

  /** Deletes them in one statement: a twin of a coinbase has its outpoint, and another height. */
  async write(tx: pg.ClientBase): Promise<void> {
    if (this.#names.length === 0) return;
    const { txids, vouts } = outpointColumns(this.#names);
    const heights = int4Array(this.#heights, Uint32Array.from(this.#heights.keys()));
    const { rowCount } = await tx.query(
      `DELETE FROM chain.sat_ranges r
       USING (
         SELECT substring($1::bytea FROM (place::integer - 1) * ${hashLength} + 1 FOR ${hashLength}) AS txid, vout, height
         FROM unnest($2::integer[], $3::integer[]) WITH ORDINALITY AS given(vout, height, place)
       ) AS gone
       WHERE chain.hash64(r.txid, r.vout) = chain.hash64(gone.txid, gone.vout)
         AND r.txid = gone.txid AND r.vout = gone.vout AND r.height = gone.height`,
      [txids, vouts, heights],
    );
    assert(rowCount === this.#names.length, 'an output that is spent has its ranges');
  }
}
