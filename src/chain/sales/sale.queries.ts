import type { ClientBase } from 'pg';
import { isComplete, requireNotBehind } from '#chain/derived/derived-tables.queries.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import {
  type Confidence,
  confidences,
  type MoveClass,
  moveClasses,
  type SaleForm,
  saleForms,
} from '#kernel/sales/sale-names.ts';

/** An inscription that a spend sold (docs/marketplace.md). */
export interface StoredSale {
  readonly txid: Txid;
  readonly height: Height;
  /** Of the block, in Unix seconds. */
  readonly time: number;
  readonly input: number;
  /** Txid of the reveal, and the index of the inscription there. */
  readonly revealTxid: Txid;
  readonly index: number;
  readonly class: MoveClass;
  readonly form: SaleForm;
  readonly confidence: Confidence;
  /** Sats. */
  readonly grossPayout: number;
  readonly price: number;
  readonly bundle: number;
  readonly payoutOutput: number;
  readonly feeOutput: number | null;
  readonly sighash: number;
  /** Scripts. */
  readonly maker: Uint8Array;
  readonly taker: Uint8Array | null;
  readonly isWash: boolean;
  /** Version of the rules. */
  readonly rules: number;
}

interface Numbers {
  readonly class: number;
  readonly form: number;
  readonly confidence: number;
}

/** The indexes that find the sales of an inscription, and those of a transaction. */
export const salesOfItemIndex = 'sales_key';
export const salesOfTransactionIndex = 'sales_txid';

/** For answers about sales alone. Throws `derived_table_behind`, and `not_found` where sales are not indexed. */
export async function requireSales(client: ClientBase): Promise<void> {
  await requireNotBehind(client, 'sales');
  if (!(await isComplete(client, 'sales')))
    throw new AppError('not_found', 'this server has no index of sales');
}

type StoredRow = Omit<StoredSale, keyof Numbers> & Numbers;

const columns = `s.txid, s.height, b.time::float8 AS time, s.input, i.txid AS "revealTxid", i.index, s.class, s.form,
  s.confidence, s.gross_payout::float8 AS "grossPayout", s.price::float8 AS price, s.bundle,
  s.payout_output AS "payoutOutput", s.fee_output AS "feeOutput", s.sighash, s.maker, s.taker,
  s.wash AS "isWash", s.rules`;

/**
 * What a transaction sold, by input and place there.
 *
 * @param limit null: all, one for each inscription, of which an output may have thousands
 */
export async function salesOfTransaction(
  client: ClientBase,
  txid: Txid,
  limit: number | null,
): Promise<StoredSale[]> {
  const { rows } = await client.query<StoredRow>(
    `SELECT ${columns} FROM chain.sales s JOIN chain.inscriptions i USING (key) JOIN chain.blocks b ON b.height = s.height
     WHERE chain.hash32(s.txid) = chain.hash32($1) AND s.txid = $1
     ORDER BY s.height, s.tx_index, s.input, s.place LIMIT $2`,
    [txid, limit],
  );
  return rows.map(named);
}

/** The newest sales of an inscription, newest first. */
export async function salesOfInscription(
  client: ClientBase,
  key: InscriptionKey,
  limit: number,
): Promise<StoredSale[]> {
  const { rows } = await client.query<StoredRow>(
    `SELECT ${columns} FROM chain.sales s JOIN chain.inscriptions i USING (key) JOIN chain.blocks b ON b.height = s.height
     WHERE s.key = $1 ORDER BY s.height DESC, s.tx_index DESC, s.input DESC, s.place DESC LIMIT $2`,
    [key, limit],
  );
  return rows.map(named);
}

const named = (row: StoredRow): StoredSale => ({
  ...row,
  ...saleNames(row),
});

/** The names of the stored numbers of a sale. */
export const saleNames = ({ class: of, form, confidence }: Numbers): Pick<StoredSale, keyof Numbers> => ({
  class: nameOfNumber(moveClasses, of),
  form: nameOfNumber(saleForms, form),
  confidence: nameOfNumber(confidences, confidence),
});

/** The name of a stored number. Throws for one that this program does not know. */
function nameOfNumber<Name extends string>(names: Readonly<Record<Name, number>>, stored: number): Name {
  for (const name of Object.keys(names) as Name[]) if (names[name] === stored) return name;
  throw new Error(`chain.sales has the unknown number ${stored}`);
}
