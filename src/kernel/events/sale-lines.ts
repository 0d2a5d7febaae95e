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
 * The lines of a block's text of sales (docs/events.md). The derived table writes them while a block is applied, and
 * the stored rows while a text is rebuilt.
 */

/** An inscription that a spend sold. */
export interface SaleLine extends SaleEvidence {
  /** The inscription: the transaction that revealed it, and its index there. */
  readonly revealTxid: Txid;
  readonly index: number;
  /** The transaction that sold it, and its input. */
  readonly txid: Txid;
  readonly input: number;
  readonly isWash: boolean;
  /** Scripts as they are stored. */
  readonly maker: Uint8Array;
  /** Null: the inscription went into the fee. */
  readonly taker: Uint8Array | null;
}

/** Stands for a script of zero bytes, because an empty value would end before it began. */
export const emptyScript = 'empty';

const words = {
  sold: Buffer.from('sold '),
  wash: Buffer.from('wash'),
  empty: Buffer.from(emptyScript),
};

/** The words of a line that name a class, a form or a confidence. */
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
