import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import type { EventKind } from './event-kind.ts';

/** The events of sales: what was sold, for how much, by what evidence. The derived table gives those of a block. */
export const saleEvents: EventKind = { ...storedSaleKind, indexes: [] };
