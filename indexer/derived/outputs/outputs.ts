import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { DerivedBlock, DerivedRows, DerivedTable, RowSets } from '../derived-table.ts';
import { everyBlock } from '../every-block.ts';
import { addOutputs, SpentOutputs } from './output-rows.ts';

const outpointLength = 36;
const hashLength = 32;

/** The address index: every spendable output with its owner (docs/adr/0013-address-index.md). */
export const outputs: DerivedTable = {
  name: 'outputs',
  facts: ['outputs'],
  targets: [
    { table: 'chain.outputs', columns: 'value, height, spent_height, vout, txid, script', keyColumns: 0 },
  ],
  indexes: {
    // outputs of an address, oldest first
    outputs_script: {
      table: 'chain.outputs',
      columns: 'chain.hash64(script, 0), height',
      where: 'spent_height IS NULL',
    },
    // outputs that a block made and spent
    outputs_height: { table: 'chain.outputs', columns: 'height', isForUndo: true },
    outputs_spent: {
      table: 'chain.outputs',
      columns: 'spent_height',
      where: 'spent_height IS NOT NULL',
      isForUndo: true,
    },
  },
  firstHeight: () => 0,
  isWanted: ({ indexAddresses }) => indexAddresses,
  ...everyBlock({ name: 'index of addresses', fixed: 'address_index_fixed', gap: 'address_index_gap' }),
  begin: ([out]) => {
    assert(out !== undefined, 'outputs have an encoder');
    return new OutputRows(out);
  },
  async undo(tx, { ref: { height } }) {
    await tx.query('DELETE FROM chain.outputs WHERE height = $1', [height]);
    await tx.query('UPDATE chain.outputs SET spent_height = NULL WHERE spent_height = $1', [height]);
  },
};

class OutputRows implements DerivedRows {
  readonly #out: CopyEncoder;
  readonly #spent = new SpentOutputs();

  constructor(out: CopyEncoder) {
    this.#out = out;
  }

  add({ block, isUnchecked }: DerivedBlock): void {
    const { outputs: columns } = block.facts;
    assert(columns !== undefined, 'the outputs of a block were not read');
    this.#spent.isUnchecked = isUnchecked;
    addOutputs(this.#out, this.#spent, block.bytes, block.ref.height, columns);
  }

  write(tx: pg.ClientBase): Promise<void> {
    return this.#spent.write(tx);
  }

  /** Compares the outputs of earlier blocks that the block spends. */
  async compare(tx: pg.ClientBase, { block: { ref, bytes, facts } }: DerivedBlock): Promise<RowSets[]> {
    const { rows } = await tx.query<{ txid: Txid; vout: number }>(
      'SELECT txid, vout FROM chain.outputs WHERE spent_height = $1 AND height < $1',
      [ref.height],
    );
    const expected = Array.from(facts.outputs?.spendAt ?? [], (at) => {
      const outpoint = Buffer.from(bytes.subarray(at, at + outpointLength));
      return `${outpoint.toString('hex', 0, hashLength)}:${outpoint.readInt32LE(hashLength)}`;
    });
    const found = rows.map(({ txid, vout }) => `${Buffer.from(txid).toString('hex')}:${vout}`);
    return [{ table: 'chain.outputs', column: 'spent_height', expected, found }];
  }
}
