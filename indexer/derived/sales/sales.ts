import { strict as assert } from 'node:assert';
import type { LedgerEvents } from '#indexer/events/event-kind.ts';
import { saleEvents } from '#indexer/events/sale-events.ts';
import { classifyMoves } from '#indexer/ledger/sales/classify-moves.ts';
import { tradingTransactions } from '#indexer/ledger/sales/find-moves.ts';
import type { Move } from '#indexer/ledger/sales/moving-transaction.ts';
import { salesRules } from '#indexer/ledger/sales/sale-rules.ts';
import { type SaleLine, writeSold } from '#kernel/events/sale-lines.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import { confidences, moveClasses, saleForms } from '#kernel/sales/sale-names.ts';
import type { DerivedBlock, DerivedRows, DerivedTable } from '../derived-table.ts';
import { ownerScript } from '../runes/rune-encoding.ts';
import { InscriptionIds } from './inscription-ids.ts';

const table = 'chain.sales';
const hashLength = 32;
// another version of the rules makes other texts
assert(saleEvents.version === salesRules, 'the version of the events of sales is that of the rules');

/** Sales of inscriptions (docs/adr/0046-sales.md). */
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
    // lists the sales of an inscription
    sales_key: { table, columns: 'key, height, tx_index' },
    // finds the sales of a transaction
    sales_txid: { table, columns: 'chain.hash32(txid)' },
    // lists sales and purchases of a script. With the height, the cost of a page depends only on its length; that takes
    // 14 bytes more per row
    sales_maker: { table, columns: 'chain.hash32(maker), height' },
    sales_taker: { table, columns: 'chain.hash32(taker), height', where: 'taker IS NOT NULL' },
  },
  firstHeight: ({ firstInscriptionHeight }) => firstInscriptionHeight,
  isWanted: ({ indexSales }) => indexSales,
  eventKind: saleEvents,
  begin: ([out]) => {
    assert(out !== undefined, 'sales have an encoder');
    return new SaleRows(out);
  },
  rules: {
    version: salesRules,
    forget: async (tx, from, to) => {
      await tx.query(`DELETE FROM ${table} WHERE height BETWEEN $1 AND $2`, [from, to]);
    },
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
  /** Sales of the block that was added last. Null: not all of them are known. */
  #last: readonly SaleLine[] | null = null;

  constructor(out: CopyEncoder) {
    this.#out = out;
  }

  /** Adds the sales of a block. A block without spent outputs has no rows, because its payments are unknown. */
  add(added: DerivedBlock): void {
    const { block, ledger } = added;
    const lines = this.#addSales(added);
    const isSpentKnown = block.hasSpent || block.columns.txStart.length <= 2;
    this.#last = ledger.anchored && isSpentKnown ? lines : null;
  }

  #addSales({ block, ledger, held }: DerivedBlock): SaleLine[] {
    const { ref, bytes, columns, facts } = block;
    const { spentScripts: spent, signatures } = facts;
    assert(spent !== undefined && signatures !== undefined, 'the spent scripts of a block were not read');
    const lines: SaleLine[] = [];
    if (spent === null) return lines;
    const ids = new InscriptionIds({ columns, ledger, held });
    for (const tx of tradingTransactions({ bytes, columns, ledger, held, spent, signatures })) {
      for (const { move, class: of, sold } of classifyMoves(tx)) {
        if (sold === null) continue;
        const line: SaleLine = {
          ...sold,
          ...ids.of(move.key),
          txid: tx.txid,
          input: move.input,
          class: of,
          maker: ownerBytes(sold.maker),
          taker: sold.taker === null ? null : ownerBytes(sold.taker),
        };
        encodeSale(this.#out, ref.height, tx.tx, move, line);
        lines.push(line);
      }
    }
    return lines;
  }

  events(): LedgerEvents | null {
    const lines = this.#last;
    if (lines === null) return null;
    return {
      count: lines.length,
      isKnown: true,
      write: (out) => {
        for (const line of lines) writeSold(out, line);
      },
    };
  }
}

function encodeSale(
  out: CopyEncoder,
  height: number,
  tx: number,
  { place, key }: Pick<Move, 'place' | 'key'>,
  sale: SaleLine,
): void {
  out.row();
  out.int4(height);
  out.int4(tx);
  out.int4(sale.input);
  out.int4(place);
  out.int8(sale.grossPayout);
  out.int8(sale.price);
  out.int4(key);
  out.int4(sale.bundle);
  out.int4(sale.payoutOutput);
  if (sale.feeOutput === null) out.null();
  else out.int4(sale.feeOutput);
  out.int2(salesRules);
  out.int2(moveClasses[sale.class]);
  out.int2(saleForms[sale.form]);
  out.int2(confidences[sale.confidence]);
  out.int2(sale.sighash);
  out.boolean(sale.isWash);
  out.range(sale.txid, 0, hashLength);
  out.range(sale.maker, 0, sale.maker.length);
  if (sale.taker === null) out.null();
  else out.range(sale.taker, 0, sale.taker.length);
}

/** A script as it is stored: long scripts are cut. */
function ownerBytes(owner: string): Uint8Array {
  const script = Buffer.from(owner, 'latin1');
  return ownerScript(script, 0, script.length);
}
