import type { FastifyReply } from 'fastify';
import { type MempoolState, mempoolState } from '#chain/pending/pending.queries.ts';
import { newestPendingInscriptions } from '#chain/pending/pending-transaction.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { FeeEstimates } from '#http/mempool/recommended-fees.ts';
import { nodeMempool } from '#http/ord/sources/node-questions.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOf } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { type MempoolView, mempoolPage } from '#web/pages/mempool.page.ts';
import { toldOrNull } from './chain/chain-sources.ts';
import { pendingCardOf } from './chain/pending-card.ts';

/** Cards of a page: a list has at most 48 pictures. */
const cardsMax = 48;

/** Sends the page of the mempool, from before a position of a previous page. */
export async function sendMempoolPage(
  deps: AppDependencies,
  estimates: FeeEstimates | null,
  reply: FastifyReply,
  before: number,
): Promise<FastifyReply> {
  const { signal } = askerOf(reply);
  const { tip, state, pending } = await withSnapshot(
    deps.pool,
    async (snapshot) => ({
      tip: snapshot.tip,
      state: await mempoolState(snapshot.client),
      pending: await newestPendingInscriptions(snapshot.client, before, cardsMax + 1),
    }),
    signal,
  );
  const shown = pending.slice(0, cardsMax);
  const last = shown.at(-1)?.position ?? 0;
  // what a transaction reveals beyond the page is on the page of the transaction
  const isMore = pending.length > cardsMax && last < (shown[0]?.position ?? 0);
  const view: MempoolView = {
    site: siteOf(deps, tip),
    state: state === null ? null : stateView(state),
    whole: deps.node == null ? null : await toldOrNull(nodeMempool(deps.node)),
    fees: await feesView(estimates),
    cards: shown.map(pendingCardOf),
    next: isMore ? `/mempool?before=${last}` : null,
  };
  reply.header('cache-control', 'no-store');
  return sendPage(reply, mempoolPage(view), { thumbnails: true });
}

function stateView({ isFollowed, state, problem, since, kept, leftOut }: MempoolState): MempoolView['state'] {
  const words = isFollowed ? 'followed' : `not followed: ${problem ?? `its follower is ${state}`}`;
  return { isFollowed, words, since: Math.floor(since.getTime() / 1000), kept, leftOut };
}

async function feesView(estimates: FeeEstimates | null): Promise<MempoolView['fees']> {
  const fees = estimates === null ? null : await toldOrNull(estimates.recommended());
  if (fees === null) return null;
  return [
    { words: 'Next two blocks', rate: fees.fastestFee },
    { words: 'Half an hour', rate: fees.halfHourFee },
    { words: 'An hour', rate: fees.hourFee },
    { words: 'A day', rate: fees.economyFee },
    { words: 'The least that is taken', rate: fees.minimumFee },
  ];
}
