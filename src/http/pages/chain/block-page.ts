import type { FastifyReply } from 'fastify';
import { type BlockQuestion, blockAt, neighbourHeights } from '#chain/blocks/block.queries.ts';
import { inscriptionKinds } from '#chain/inscriptions/inscription-filter.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { choice } from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { blockLine, siteOf } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { blockPage, blockTabs } from '#web/pages/block.page.ts';
import type { BlockFees } from './block-fees.ts';
import { blockLists, blockTab } from './block-tabs.ts';

/** The list of a block that the page's URL requests. */
interface BlockPageQuestion {
  /** The name of the block in the path. */
  readonly query: string;
  /** Number of the page, from 1. */
  readonly page: number;
  readonly tab?: string | undefined;
  readonly kind?: string | undefined;
  readonly after?: string | undefined;
}

/** Sends the page of a block. Throws `not_found` and `request_invalid`. */
export async function sendBlockPage(
  deps: AppDependencies,
  fees: BlockFees,
  reply: FastifyReply,
  question: BlockQuestion,
  { query, page, tab, kind, after }: BlockPageQuestion,
): Promise<FastifyReply> {
  const asker = askerOf(reply);
  const asked = {
    tab: choice(tab, 'tab', blockTabs) ?? 'inscriptions',
    kind: choice(kind, 'kind', inscriptionKinds),
    page,
    after,
    network: deps.network,
  };
  const { block, ...found } = await withSnapshot(
    deps.pool,
    async ({ client, tip }) => {
      const at = await blockAt(client, question);
      if (at === null) throw new AppError('not_found', `block ${query.slice(0, 64)} not found`);
      const lists = await blockLists(client, at);
      return {
        block: at,
        lists,
        site: siteOf(deps, tip),
        neighbours: await neighbourHeights(client, at.height),
        shown: await blockTab({ client, tip }, at, lists, asked),
      };
    },
    asker.signal,
  );
  const { lists, site, neighbours, shown } = found;
  const { sales, runeKeys } = lists;
  const view = {
    site,
    block: blockLine(block),
    ...neighbours,
    reward: await fees.rewardOf(block, asker),
    sales,
    runes: 'unknown' in runeKeys ? runeKeys : { known: runeKeys.known.length },
    shown,
  };
  return sendPage(reply, blockPage(view), { thumbnails: true });
}
