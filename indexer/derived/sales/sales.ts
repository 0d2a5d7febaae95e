import { strict as assert } from 'node:assert';
import { type ClassifiedMove, classifyMoves, type Sold } from '#indexer/ledger/sales/classify-moves.ts';
import { movingTransactions, type PlacedTransaction } from '#indexer/ledger/sales/find-moves.ts';
import { salesRules } from '#indexer/ledger/sales/sale-rules.ts';
import { transactionId } from '#indexer/transaction/transaction-id.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import { confidences, moveClasses, saleForms } from '#kernel/sales/sale-names.ts';
import type { DerivedBlock, DerivedRows, DerivedTable } from '../derived-table.ts';
import { ownerScript } from '../runes/rune-encoding.ts';

const table = 'chain.sales';
const hashLength = 32;

/** What inscriptions were sold for (docs/adr/0046-sales.md). */
export const sales: DerivedTable = {
  name: 'sales',
  facts: ['spent-scripts', 'signatures'],
  targets: [
    {
      table,
      columns:
        'height, tx_index, input, place, gross_payout, price, key, bundle, payout_output, fee_output, rules, class, form, confidence, sighash, wash, txid, maker, taker',
      keyColumns: 4,
    },
  ],
  indexes: {
    // the sales of an inscription
    sales_key: { table, columns: 'key, height, tx_index' },
    // what a transaction sold
    sales_txid: { table, columns: 'chain.hash32(txid)' },
  },
  firstHeight: ({ firstInscriptionHeight }) => firstInscriptionHeight,
  isWanted: ({ indexSales }) => indexSales,
  begin: ([out]) => {
    assert(out !== undefined, 'sales have an encoder');
    return new SaleRows(out);
  },
  async undo(tx, { ref: { height } }) {
    await tx.query(`DELETE FROM ${table} WHERE height = $1`, [height]);
  },
  strays: `
    SELECT '${table}' AS table, 'tx_index ' || tx_index || ', input ' || input || ', place ' || place AS row, height
    FROM ${table} s
    WHERE height <= $1 AND NOT EXISTS (SELECT FROM chain.blocks b WHERE b.height = s.height AND b.has_spent)`,
};

class SaleRows implements DerivedRows {
  readonly #out: CopyEncoder;

  constructor(out: CopyEncoder) {
    this.#out = out;
  }

  /** A block without its spent outputs has no rows: who was paid for what is not known. */
  add({ block, ledger, held }: DerivedBlock): void {
    const { ref, bytes, columns, facts } = block;
    const { spentScripts: spent, signatures } = facts;
    assert(spent !== undefined && signatures !== undefined, 'the spent scripts of a block were not read');
    if (spent === null) return;
    for (const tx of movingTransactions({ bytes, columns, ledger, held, spent, signatures })) {
      const sold = classifyMoves(tx).flatMap((move) =>
        move.sold === null ? [] : [{ ...move, sold: move.sold }],
      );
      if (sold.length === 0) continue;
      const txid = transactionId(
        bytes,
        columns.txStart[tx.tx]!,
        columns.txOutputs[tx.tx]!,
        columns.txStart[tx.tx + 1]!,
      );
      for (const row of sold) encodeSale(this.#out, ref.height, tx, txid, row);
    }
  }
}

function encodeSale(
  out: CopyEncoder,
  height: number,
  { tx }: PlacedTransaction,
  txid: Uint8Array,
  { move, class: of, sold }: ClassifiedMove & { readonly sold: Sold },
): void {
  out.row();
  out.int4(height);
  out.int4(tx);
  out.int4(move.input);
  out.int4(move.place);
  out.int8(sold.grossPayout);
  out.int8(sold.price);
  out.int4(move.key);
  out.int4(sold.bundle);
  out.int4(sold.payoutOutput);
  if (sold.feeOutput === null) out.null();
  else out.int4(sold.feeOutput);
  out.int2(salesRules);
  out.int2(moveClasses[of]);
  out.int2(saleForms[sold.form]);
  out.int2(confidences[sold.confidence]);
  out.int2(sold.sighash);
  out.boolean(sold.isWash);
  out.range(txid, 0, hashLength);
  encodeOwner(out, sold.maker);
  if (sold.taker === null) out.null();
  else encodeOwner(out, sold.taker);
}

function encodeOwner(out: CopyEncoder, owner: string): void {
  const script = Buffer.from(owner, 'latin1');
  const cut = ownerScript(script, 0, script.length);
  out.range(cut, 0, cut.length);
}
