import type { FastifyReply } from 'fastify';
import type { ClientBase } from 'pg';
import { inscriptionName } from '#chain/inscriptions/inscription.queries.ts';
import type { Transfer } from '#chain/inscriptions/transfer.queries.ts';
import { shownSales } from '#http/pages/inscription-sales.ts';
import { timelineOf } from '#http/pages/inscription-timeline.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { type SiteDependencies, siteOf } from '#http/server/answers/site.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { transfersPage } from '#web/pages/transfers.page.ts';
import type { TimelineEvent } from '#web/parts/timeline.ts';

/** Maximum number of transfers on a page for people. A longer page would be hard to scroll on a phone. */
export const pageRows = 100;

interface FoundTransfers {
  readonly id: InscriptionId;
  readonly transfers: readonly Transfer[];
  readonly order: 'asc' | 'desc';
  /** Whether there are no newer transfers. */
  readonly isFirst: boolean;
  readonly nextCursor: string | null;
  readonly tip: Tip | null;
}

/** Sends the page of an inscription's history. It uses the snapshot in which the history was read. */
export async function sendTransfersPage(
  deps: SiteDependencies & { readonly network: NetworkParameters },
  reply: FastifyReply,
  client: ClientBase,
  { id, transfers, order, isFirst, nextCursor, tip }: FoundTransfers,
): Promise<FastifyReply> {
  const name = await inscriptionName(client, { kind: 'id', id });
  const newestFirst = order === 'desc' ? transfers : transfers.toReversed();
  const events =
    name === null ? [] : await eventsOf(client, { key: name.key, newestFirst, network: deps.network });
  const page = transfersPage({
    site: siteOf(deps, tip),
    id: formatInscriptionId(id.txid, id.index),
    number: name?.number ?? null,
    order,
    events: order === 'desc' ? events : events.toReversed(),
    isFirst,
    nextCursor,
  });
  return sendPage(reply, page);
}

interface EventsQuestion {
  readonly key: Parameters<typeof shownSales>[1];
  readonly newestFirst: readonly Transfer[];
  readonly network: NetworkParameters;
}

/** Events of transfers. If a transfer was a sale, its event has the price. */
async function eventsOf(
  client: ClientBase,
  { key, newestFirst, network }: EventsQuestion,
): Promise<TimelineEvent[]> {
  const [newest, oldest] = [newestFirst[0], newestFirst.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  const heights = { from: oldest.height, to: newest.height };
  const sales = await shownSales(client, key, network, { limit: pageRows, heights });
  const txids = new Set<string | null>(
    newestFirst.map(({ txid }) => (txid === null ? null : displayHash(txid))),
  );
  // select the sales of this page, because other sales in its first and last block belong to other pages
  const here = sales.filter(({ txid }) => txids.has(txid));
  return timelineOf(newestFirst, here, network);
}
