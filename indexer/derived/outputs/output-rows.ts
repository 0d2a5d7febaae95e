import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { OutputColumns } from '#indexer/facts/output-columns.ts';
import { copyBytes } from '#kernel/copy-bytes.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withRoom } from '#kernel/growable.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import type { Height } from '#kernel/primitives/height.ts';

const hashLength = 32;

/** Outputs of earlier blocks that a batch of blocks spends, as columns of an UPDATE. */
export class SpentOutputs {
  count = 0;
  /**
   * True if the source has not checked the blocks' spends. A missing output is then a fault of the blocks, otherwise an
   * internal fault.
   */
  isUnchecked = false;
  /** 32 bytes each. */
  #txid = new Uint8Array(0);
  readonly #vout: number[] = [];
  readonly #height: number[] = [];

  /** Records that a block spends the outpoint in the 36 bytes at `at`. */
  add(block: Uint8Array, at: number, height: Height): void {
    this.#txid = withRoom(this.#txid, (this.count + 1) * hashLength);
    copyBytes(block, at, hashLength, this.#txid, this.count * hashLength);
    this.#vout.push(
      block[at + hashLength]! +
        block[at + hashLength + 1]! * 2 ** 8 +
        block[at + hashLength + 2]! * 2 ** 16 +
        block[at + hashLength + 3]! * 2 ** 24,
    );
    this.#height.push(height);
    this.count++;
  }

  /**
   * Marks the outputs as spent, in one statement. Every input of a valid chain spends an output, and the table has all
   * outputs. Throws `block_corrupt` for unchecked blocks, with the height of the first block that spends a missing or
   * already spent output.
   */
  async write(tx: pg.ClientBase): Promise<void> {
    if (this.count === 0) return;
    const { rowCount } = await tx.query(
      `UPDATE chain.outputs o SET spent_height = ended.height
       FROM (
         SELECT substring($1::bytea FROM (place::integer - 1) * ${hashLength} + 1 FOR ${hashLength}) AS txid, vout, height
         FROM unnest($2::integer[], $3::integer[]) WITH ORDINALITY AS spent(vout, height, place)
       ) AS ended
       WHERE chain.hash64(o.txid, o.vout) = chain.hash64(ended.txid, ended.vout)
         AND o.txid = ended.txid AND o.vout = ended.vout AND o.spent_height IS NULL`,
      [Buffer.from(this.#txid.buffer, 0, this.count * hashLength), this.#vout, this.#height],
    );
    if (rowCount === this.count) return;
    assert(this.isUnchecked, 'a spent output exists');
    const height = await this.#firstWrong(tx);
    throw new AppError(
      'block_corrupt',
      `Block ${height} spends an output that does not exist or was already spent.`,
      { height },
    );
  }

  /**
   * The first height with a wrong spend. Call it after the statement that marked the existing outputs: each of them
   * then has the height of one spend.
   */
  async #firstWrong(tx: pg.ClientBase): Promise<number> {
    // no join here, because the writer's session would join by index, row by row
    const { rows } = await tx.query<{ height: Height | null }>(
      `WITH spent AS (
         SELECT txid, vout, height, row_number() OVER (PARTITION BY txid, vout ORDER BY height) AS nth
         FROM (
           SELECT substring($1::bytea FROM (place::integer - 1) * ${hashLength} + 1 FOR ${hashLength}) AS txid, vout, height
           FROM unnest($2::integer[], $3::integer[]) WITH ORDINALITY AS given(vout, height, place)
         ) AS cut
       )
       SELECT min(height) AS height FROM (
         SELECT txid, vout, height FROM spent WHERE nth > 1
         UNION ALL (
           SELECT txid, vout, height FROM spent WHERE nth = 1
           EXCEPT SELECT txid, vout, spent_height FROM chain.outputs WHERE spent_height = ANY($3)
         )
       ) AS wrong`,
      [Buffer.from(this.#txid.buffer, 0, this.count * hashLength), this.#vout, this.#height],
    );
    // no output is missing, so an output was spent twice
    return rows[0]?.height ?? this.#height[0]!;
  }
}

/** Encodes the outputs of a block, and adds the earlier outputs that it spends to `spent`. */
export function addOutputs(
  out: CopyEncoder,
  spent: SpentOutputs,
  block: Uint8Array,
  height: Height,
  columns: OutputColumns,
): void {
  const { value, tx, vout, scriptStart, scriptLength, spendAt, txid } = columns;
  for (let row = 0; row < value.length; row++) {
    out.row();
    out.int8(value[row]!);
    out.int4(height);
    if (columns.spent[row] === 1) out.int4(height);
    else out.null();
    out.int4(vout[row]!);
    out.range(txid, tx[row]! * hashLength, hashLength);
    out.range(block, scriptStart[row]!, scriptLength[row]!);
  }
  for (let spend = 0; spend < spendAt.length; spend++) spent.add(block, spendAt[spend]!, height);
}
