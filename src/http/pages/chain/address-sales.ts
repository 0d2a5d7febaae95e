import type { ClientBase } from 'pg';
import { whyBehind } from '#chain/derived/derived-tables.queries.ts';
import { areSalesLeftOut } from '#chain/sales/sale.queries.ts';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import { marketSaleLines } from '#http/market/pages/market-page-parts.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import {
  type SaleSide,
  salesOfAddress,
  salesOfAddressIndexes,
  sumsOfAddress,
} from '#market/sales/address-sales.store.ts';
import { formatSalePlace, parseSalePlace } from '#market/sales/sale-id.ts';
import type { AddressSalesView } from '#web/parts/address-sales.ts';
import { rowsMax } from './chain-sources.ts';

/**
 * Maximum number of sales that a page sums. The rows of these sales are scattered over the table, so more rows would
 * take seconds on a slow disk.
 */
const summedMax = 2_000;

interface SalesQuestion {
  readonly network: NetworkParameters;
  readonly script: Uint8Array;
  readonly side: SaleSide;
  readonly after: string | undefined;
}

interface AddressSales {
  readonly sales: AddressSalesView;
  /** The cursor of the next page. `null` if there are no older sales. */
  readonly next: string | null;
}

/**
 * A page of the sales and purchases of an address. Throws `request_invalid` if `after` is not a position in this list.
 */
export async function addressSales(
  client: ClientBase,
  { network, script, side, after }: SalesQuestion,
): Promise<AddressSales> {
  const before = after === undefined ? null : parseSalePlace(after);
  if (after !== undefined && before === null)
    throw new AppError(
      'request_invalid',
      'after is not a position in this list; follow the links of the page',
      {
        parameter: 'after',
      },
    );
  const why = await whyUnknown(client);
  if (why !== null) return { sales: { kind: 'unknown', why }, next: null };
  const { sales, next } = await salesOfAddress(client, { script, side, before, limit: rowsMax });
  return {
    sales: {
      kind: 'known',
      side,
      sums: before === null ? await sumsOfAddress(client, script, side, summedMax) : null,
      sales: await marketSaleLines(client, sales, network),
    },
    next: next === null ? null : formatSalePlace(next),
  };
}

/** The reason why the sales of an address are unknown. `null` if the sales are known. */
async function whyUnknown(client: ClientBase): Promise<string | null> {
  if (await areSalesLeftOut(client)) return 'sales are not indexed here';
  if ((await whyBehind(client, 'sales')) !== null) return 'sales of earlier blocks are still being read';
  const built = await builtIndexes(client, salesOfAddressIndexes);
  return built.size < salesOfAddressIndexes.length
    ? 'the index of sales by address is still being built'
    : null;
}
