import { Type } from 'typebox';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { csvLine } from '#kernel/text/csv.ts';
import type { CollectionSale } from '#market/sales/collection-sales.store.ts';
import { formatSaleId, markOfBlock } from '#market/sales/sale-id.ts';
import { nullable } from './collection-views.ts';

/** A row of an export. It has the fields of `/marketplace/data/sales`, and all other evidence. */
export const exportedSale = Type.Object({
  id: Type.String({ description: 'id of the row, for `after`' }),
  inscriptionId: Type.String(),
  inscriptionNumber: nullable(Type.Integer()),
  inscriptionName: Type.String(),
  slug: Type.String(),
  txid: Type.String(),
  input: Type.Integer(),
  height: Type.Integer(),
  time: Type.String({ description: 'time of the block: 2025-05-23T12:04:39Z' }),
  class: Type.String(),
  price: Type.Integer({ description: 'sats' }),
  grossPayout: Type.Integer({ description: 'sats' }),
  makerAddress: nullable(Type.String()),
  takerAddress: nullable(Type.String()),
  form: Type.String(),
  confidence: Type.String(),
  payoutOutput: Type.Integer(),
  feeOutput: nullable(Type.Integer()),
  sighash: Type.Integer(),
  bundle: Type.Integer(),
  wash: Type.Boolean(),
});

export type ExportedSale = Type.Static<typeof exportedSale>;

export function showExportedSale(
  sale: CollectionSale,
  slug: string,
  addressOf: (script: Uint8Array) => string | null,
): ExportedSale {
  const { item, taker } = sale;
  return {
    id: formatSaleId(sale, markOfBlock(sale.blockHash)),
    inscriptionId: formatInscriptionId(item.id.txid, item.id.index),
    inscriptionNumber: item.number,
    inscriptionName: item.name,
    slug,
    txid: displayHash(sale.txid),
    input: sale.input,
    height: sale.height,
    time: `${new Date(sale.time * 1000).toISOString().slice(0, -'.000Z'.length)}Z`,
    class: sale.class,
    price: sale.price,
    grossPayout: sale.grossPayout,
    makerAddress: addressOf(sale.maker),
    takerAddress: taker === null ? null : addressOf(taker),
    form: sale.form,
    confidence: sale.confidence,
    payoutOutput: sale.payoutOutput,
    feeOutput: sale.feeOutput,
    sighash: sale.sighash,
    bundle: sale.bundle,
    wash: sale.isWash,
  };
}

/** The format of an export. */
export interface ExportForm {
  readonly contentType: string;
  /** Extension of the file name that a browser suggests. */
  readonly extension: string;
  readonly head: string;
  readonly line: (sale: ExportedSale) => string;
}

const columns = Object.keys(exportedSale.properties) as (keyof ExportedSale)[];

export const exportForms = {
  ndjson: {
    contentType: 'application/x-ndjson',
    extension: 'ndjson',
    head: '',
    line: (sale) => `${JSON.stringify(sale)}\n`,
  },
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    head: csvLine(columns),
    line: (sale) => csvLine(columns.map((column) => sale[column])),
  },
} as const satisfies Readonly<Record<string, ExportForm>>;

export type ExportFormName = keyof typeof exportForms;
