import { Type } from 'typebox';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { SaleSums } from '#market/sales/sale-sums.ts';

/** Parts of the answers about collections (docs/marketplace-api.md, "Collections over HTTP"). */

export const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const kindOfCollection = Type.Union(
  [Type.Literal('import'), Type.Literal('parent'), Type.Literal('gallery')],
  { description: 'an inscription with children and a gallery is a parent' },
);

const count = Type.Integer({ minimum: 0 });

/** What was sold, with what is flagged `wash` apart. */
export const sumsSchema = Type.Object({
  sales: Type.Integer({ minimum: 0, description: 'sales and accepted offers, without those of wash' }),
  volume: Type.Number({ minimum: 0, description: 'sats' }),
  wash: Type.Object(
    { sales: count, volume: Type.Number({ minimum: 0 }) },
    { description: 'maker and taker are one: part of no other figure' },
  ),
});

export const sumsView = ({ sales, volume, washSales, washVolume }: SaleSums) => ({
  sales,
  volume,
  wash: { sales: washSales, volume: washVolume },
});

/** Of sums of sales. */
export const countedFrom = nullable(
  Type.Integer({
    minimum: 0,
    description:
      'the block from which on every sale is counted: earlier ones are missing, or came without their spent outputs; null: so did the last one, and sales are unknown',
  }),
);

/** Who holds an output. */
export const holderParts = {
  address: nullable(Type.String({ description: 'null: the script has none' })),
  script: Type.String({ description: 'in hex; of one that is longer than 128 bytes, the first 128' }),
};

export const holderView = (script: Uint8Array, network: NetworkParameters) => ({
  address: scriptToAddress(script, network),
  script: Buffer.from(script).toString('hex'),
});

export const idText = ({ txid, index }: InscriptionId): string => formatInscriptionId(txid, index);

/** A UTC day since 1970 as `2025-05-23`. */
export const dayText = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);
