import type { ClientBase, Pool } from 'pg';
import { isLeftOut, requireNotBehind } from '#chain/derived/derived-tables.queries.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { type Height, maxHeight } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { AsStored, SaleEvidence, StoredNames } from '#kernel/sales/sale-evidence.ts';
import { confidences, moveClasses, saleForms } from '#kernel/sales/sale-names.ts';

/** A sale of an inscription by a spend (docs/marketplace.md). */
export interface StoredSale extends SaleEvidence {
  readonly txid: Txid;
  readonly height: Height;
  /** Unix seconds of the block. */
  readonly time: number;
  readonly input: number;
  /** Txid of the reveal, and the index of the inscription in the reveal. */
  readonly revealTxid: Txid;
  readonly index: number;
  /** Script of the seller. `taker` is the script of the buyer. */
  readonly maker: Uint8Array;
  readonly taker: Uint8Array | null;
  readonly isWash: boolean;
  /** Version of the rules. */
  readonly rules: number;
}

/** The index that finds the sales of an inscription, and the index that finds the sales of a transaction. */
export const salesOfItemIndex = 'sales_key';
export const salesOfTransactionIndex = 'sales_txid';

/** Whether the settings omit sales. */
export const areSalesLeftOut = (client: ClientBase | Pool): Promise<boolean> => isLeftOut(client, 'sales');

/** The error of requests that are only about sales, while `areSalesLeftOut` is true. */
export const salesNotIndexed = (): AppError =>
  new AppError(
    'sales_not_indexed',
    'sales are not indexed, because INDEX_SALES is false here. No sale is known or counted until the operator of this server sets INDEX_SALES=true',
  );

/**
 * Guards responses about sales. Throws `sales_not_indexed`, and `derived_table_behind` while sales are being filled.
 */
export async function requireSales(client: ClientBase): Promise<void> {
  if (await areSalesLeftOut(client)) throw salesNotIndexed();
  await requireNotBehind(client, 'sales');
}

/** SQL: evidence and parties of a row `s` of chain.sales or chain.pending_sales. */
export const evidenceColumns = `s.class, s.form, s.confidence, s.price::float8 AS price,
  s.gross_payout::float8 AS "grossPayout", s.bundle, s.payout_output AS "payoutOutput", s.fee_output AS "feeOutput",
  s.sighash, s.wash AS "isWash", s.maker, s.taker`;

const columns = `s.txid, s.height, b.time::float8 AS time, s.input, i.txid AS "revealTxid", i.index, s.rules,
  ${evidenceColumns}`;

/**
 * The sales of a transaction, by input, then by position in the input.
 *
 * @param limit maximum number of sales; if it is `null`, all sales are read, one per inscription, and an output may
 *   have thousands of inscriptions
 */
export async function salesOfTransaction(
  client: ClientBase,
  txid: Txid,
  limit: number | null,
): Promise<StoredSale[]> {
  const { rows } = await client.query<AsStored<StoredSale>>(
    `SELECT ${columns} FROM chain.sales s JOIN chain.inscriptions i USING (key) JOIN chain.blocks b ON b.height = s.height
     WHERE chain.hash32(s.txid) = chain.hash32($1) AND s.txid = $1
     ORDER BY s.height, s.tx_index, s.input, s.place LIMIT $2`,
    [txid, limit],
  );
  return rows.map(named);
}

/** A range of heights. Both ends are included. */
export interface HeightRange {
  readonly from: number;
  readonly to: number;
}

const allHeights: HeightRange = { from: 0, to: maxHeight };

/** The newest sales of an inscription in a range of heights, newest first. */
export async function salesOfInscription(
  client: ClientBase,
  key: InscriptionKey,
  limit: number,
  { from, to }: HeightRange = allHeights,
): Promise<StoredSale[]> {
  const { rows } = await client.query<AsStored<StoredSale>>(
    `SELECT ${columns} FROM chain.sales s JOIN chain.inscriptions i USING (key) JOIN chain.blocks b ON b.height = s.height
     WHERE s.key = $1 AND s.height BETWEEN $3 AND $4
     ORDER BY s.height DESC, s.tx_index DESC, s.input DESC, s.place DESC LIMIT $2`,
    [key, limit, from, to],
  );
  return rows.map(named);
}

const named = (row: AsStored<StoredSale>): StoredSale => ({
  ...row,
  ...saleNames(row),
});

/** Translates the stored numbers of a sale to names. */
export const saleNames = ({
  class: of,
  form,
  confidence,
}: StoredNames): Pick<SaleEvidence, keyof StoredNames> => ({
  class: nameOfNumber(moveClasses, of),
  form: nameOfNumber(saleForms, form),
  confidence: nameOfNumber(confidences, confidence),
});

/** Returns the name of a stored number. Throws if this program does not know the number. */
function nameOfNumber<Name extends string>(names: Readonly<Record<Name, number>>, stored: number): Name {
  for (const name of Object.keys(names) as Name[]) if (names[name] === stored) return name;
  throw new Error(`chain.sales has the unknown number ${stored}`);
}
