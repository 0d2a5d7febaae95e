import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import type { EventKind } from './event-kind.ts';

/** The events of sales: item, price and evidence. The derived table provides the events of a block. */
export const saleEvents: EventKind = { ...storedSaleKind, indexes: [] };
