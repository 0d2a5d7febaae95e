import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { RuneOutputs } from '#indexer/ledger/runes/rune-outputs.ts';
import { int4Array } from '#kernel/pg/int4-array.ts';

/** Outputs of earlier batches that a batch of blocks spends, as columns of an UPDATE. */
export class RuneSpends {
  readonly #height: number[] = [];
  readonly #tx: number[] = [];
  readonly #vout: number[] = [];
  readonly #spentHeight: number[] = [];
  readonly #spentTx: number[] = [];
  /** Number of rows: one for each rune in a spent output. */
  readonly #rows: number;

  /** @param held outputs of earlier batches, including the spent ones */
  constructor(held: RuneOutputs) {
    let rows = 0;
    for (let row = 0; row < held.size; row++) {
      if (!held.isSpent(row)) continue;
      this.#height.push(held.heightOf(row));
      this.#tx.push(held.txOf(row));
      this.#vout.push(held.voutOf(row) | 0);
      this.#spentHeight.push(held.spentHeightOf(row));
      this.#spentTx.push(held.spentTxOf(row));
      rows += held.countOf(row);
    }
    this.#rows = rows;
  }

  /** The rows as texts. */
  shown(): string[] {
    return this.#height.map((height, at) => {
      const made = `height ${height}, tx_index ${this.#tx[at]}, vout ${this.#vout[at]}`;
      return `${made}, spent_tx_index ${this.#spentTx[at]}`;
    });
  }

  /** Marks the rows as spent, in one statement. The state was read from these rows. */
  async write(tx: pg.ClientBase): Promise<void> {
    if (this.#rows === 0) return;
    // sort by key, so that each page of the index is read once
    const order = Uint32Array.from(this.#height.keys()).sort(
      (a, b) =>
        this.#height[a]! - this.#height[b]! || this.#tx[a]! - this.#tx[b]! || this.#vout[a]! - this.#vout[b]!,
    );
    const { rowCount } = await tx.query(
      `UPDATE chain.rune_balances b SET spent_height = s.spent_height, spent_tx_index = s.spent_tx_index
       FROM unnest($1::integer[], $2::integer[], $3::integer[], $4::integer[], $5::integer[])
         AS s(height, tx_index, vout, spent_height, spent_tx_index)
       WHERE b.height = s.height AND b.tx_index = s.tx_index AND b.vout = s.vout AND b.spent_height IS NULL`,
      [this.#height, this.#tx, this.#vout, this.#spentHeight, this.#spentTx].map((column) =>
        int4Array(column, order),
      ),
    );
    assert(rowCount === this.#rows, 'an output with runes that is spent is not there');
  }
}
