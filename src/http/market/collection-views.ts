import { Type } from 'typebox';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { SaleSums } from '#market/sales/sale-sums.ts';

/** Parts of the responses about collections (docs/marketplace-api.md, "Collections over HTTP"). */

export const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const kindOfCollection = Type.Union(
  [Type.Literal('import'), Type.Literal('parent'), Type.Literal('gallery')],
  { description: 'an inscription with children and a gallery is a parent' },
);

const count = Type.Integer({ minimum: 0 });

/** Sums of sales. Sales that are marked as `wash` are counted separately. */
export const sumsSchema = Type.Object({
  sales: Type.Integer({ minimum: 0, description: 'sales and accepted offers, without wash trades' }),
  volume: Type.Number({ minimum: 0, description: 'sats' }),
  wash: Type.Object(
    { sales: count, volume: Type.Number({ minimum: 0 }) },
    { description: 'trades of one maker and taker, which no other figure includes' },
  ),
});

export const sumsView = ({ sales, volume, washSales, washVolume }: SaleSums) => ({
  sales,
  volume,
  wash: { sales: washSales, volume: washVolume },
});

/** The height from which on sums of sales are complete. */
export const countedFrom = nullable(
  Type.Integer({
    minimum: 0,
    description:
      'the first block from which every sale is counted: earlier blocks or their spent outputs are missing; null: those of the last block are missing too, so sales are unknown',
  }),
);

/** Fields about the script that holds an output. */
export const holderParts = {
  address: nullable(Type.String({ description: 'null: the script has none' })),
  script: Type.String({ description: 'in hex; only the first 128 bytes of a longer one' }),
};

export const holderView = (script: Uint8Array, network: NetworkParameters) => ({
  address: scriptToAddress(script, network),
  script: Buffer.from(script).toString('hex'),
});

export const idText = ({ txid, index }: InscriptionId): string => formatInscriptionId(txid, index);

/** Converts a UTC day, counted since 1970, to a text such as `2025-05-23`. */
export const dayText = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);
