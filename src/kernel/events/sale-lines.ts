import type { Txid } from '#kernel/primitives/hash.ts';
import type { SaleEvidence } from '#kernel/sales/sale-evidence.ts';
import {
  type Confidence,
  confidences,
  type MoveClass,
  moveClasses,
  type SaleForm,
  saleForms,
} from '#kernel/sales/sale-names.ts';
import type { EventTextWriter } from './event-text-writer.ts';

/*
 * The lines of a block's text of sales (docs/events.md). The code of the derived table writes them while a block is
 * applied. When a text is rebuilt, they are written from the stored rows.
 */

/** Data of a line about an inscription that was sold. */
export interface SaleLine extends SaleEvidence {
  /** The inscription, by the transaction that revealed it and its index in that transaction. */
  readonly revealTxid: Txid;
  readonly index: number;
  /** The transaction that sold the inscription, and its input with the inscription. */
  readonly txid: Txid;
  readonly input: number;
  readonly isWash: boolean;
  /** Scripts in their stored form. */
  readonly maker: Uint8Array;
  /** Script of the taker. `null` if the inscription went into the fee. */
  readonly taker: Uint8Array | null;
}

/** Replaces a script of zero bytes, because an empty value could not be read. */
export const emptyScript = 'empty';

const words = {
  sold: Buffer.from('sold '),
  wash: Buffer.from('wash'),
  empty: Buffer.from(emptyScript),
};

/** Words of a line for classes, forms and confidences, by name. */
const nameWords = Object.fromEntries(
  [moveClasses, saleForms, confidences].flatMap((names) =>
    Object.keys(names).map((name) => [name, Buffer.from(name, 'latin1')]),
  ),
) as Readonly<Record<MoveClass | SaleForm | Confidence, Buffer>>;

export function writeSold(out: EventTextWriter, sale: SaleLine): void {
  out.word(words.sold);
  out.id(sale.revealTxid, 0, sale.index);
  out.next();
  out.transaction(sale.txid, 0);
  writeAmount(out, sale.input);
  writeAmount(out, sale.price);
  writeAmount(out, sale.grossPayout);
  writeAmount(out, sale.bundle);
  writeAmount(out, sale.payoutOutput);
  out.next();
  if (sale.feeOutput === null) out.none();
  else out.amount(sale.feeOutput);
  out.next();
  out.amount(sale.sighash);
  out.next();
  out.word(nameWords[sale.class]);
  out.next();
  out.word(nameWords[sale.form]);
  out.next();
  out.word(nameWords[sale.confidence]);
  out.next();
  if (sale.isWash) out.word(words.wash);
  else out.none();
  out.next();
  writeScript(out, sale.maker);
  out.next();
  if (sale.taker === null) out.none();
  else writeScript(out, sale.taker);
  out.endLine();
}

function writeAmount(out: EventTextWriter, amount: number): void {
  out.next();
  out.amount(amount);
}

function writeScript(out: EventTextWriter, script: Uint8Array): void {
  if (script.length === 0) out.word(words.empty);
  else out.hex(script);
}
