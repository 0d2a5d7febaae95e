import type { FastifyReply } from 'fastify';
import type { ClientBase } from 'pg';
import { inscriptionKinds } from '#chain/inscriptions/inscription-filter.ts';
import { type MempoolState, mempoolState } from '#chain/pending/pending.queries.ts';
import { pendingCountedMax } from '#chain/pending/pending-count.queries.ts';
import { countPaying } from '#chain/pending/pending-transaction.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { FeeEstimates, RecommendedFees } from '#http/mempool/recommended-fees.ts';
import { type NodeMempool, nodeMempool } from '#http/ord/sources/node-questions.ts';
import { choice } from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOf } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { type MempoolView, mempoolPage, mempoolTabs } from '#web/pages/mempool.page.ts';
import { toldOrNull } from './chain/chain-sources.ts';
import { nextBlockOutlook } from './chain/fee-outlook.ts';
import { mempoolTab } from './chain/mempool-tabs.ts';

/** The list of the mempool that the page's URL requests. */
interface MempoolPageQuestion {
  readonly tab?: string | undefined;
  readonly kind?: string | undefined;
  readonly before?: string | undefined;
}

/** Sends the page of the mempool. Throws `request_invalid`. */
export async function sendMempoolPage(
  deps: AppDependencies,
  estimates: FeeEstimates | null,
  reply: FastifyReply,
  { tab, kind, before }: MempoolPageQuestion,
): Promise<FastifyReply> {
  const { signal } = askerOf(reply);
  const asked = {
    tab: choice(tab, 'tab', mempoolTabs) ?? 'inscriptions',
    kind: choice(kind, 'kind', inscriptionKinds),
    before,
    network: deps.network,
  };
  const [fees, whole] = await Promise.all([
    estimates === null ? null : toldOrNull(estimates.recommended()),
    deps.node == null ? null : toldOrNull(nodeMempool(deps.node)),
  ]);
  const { tip, state, outlook, shown } = await withSnapshot(
    deps.pool,
    async (snapshot) => ({
      tip: snapshot.tip,
      state: await mempoolState(snapshot.client),
      outlook: await outlookOf(snapshot.client, fees, whole),
      shown: await mempoolTab(snapshot.client, asked),
    }),
    signal,
  );
  const view: MempoolView = {
    site: siteOf(deps, tip),
    state: state === null ? null : stateView(state),
    whole,
    fees: fees === null ? null : ratesOf(fees),
    outlook: state?.isFollowed === true ? outlook : null,
    shown,
    isLater: before !== undefined,
  };
  reply.header('cache-control', 'no-store');
  return sendPage(reply, mempoolPage(view), { thumbnails: true });
}

function stateView({ isFollowed, state, problem, since, kept, leftOut }: MempoolState): MempoolView['state'] {
  const words = isFollowed ? 'followed' : `not followed: ${problem ?? `its follower is ${state}`}`;
  return { isFollowed, words, since: Math.floor(since.getTime() / 1000), kept, leftOut };
}

/** The fee outlook for the next blocks, in words. `null` if the node cannot answer. */
async function outlookOf(
  client: ClientBase,
  fees: RecommendedFees | null,
  whole: NodeMempool | null,
): Promise<string | null> {
  if (fees === null || whole === null) return null;
  const { count, paying } = await countPaying(client, fees.fastestFee);
  return nextBlockOutlook({ count, paying, countedMax: pendingCountedMax }, fees, whole.vsize);
}

const ratesOf = (fees: RecommendedFees): MempoolView['fees'] => [
  { words: 'Within two blocks', rate: fees.fastestFee },
  { words: 'Within half an hour', rate: fees.halfHourFee },
  { words: 'Within an hour', rate: fees.hourFee },
  { words: 'Within a day', rate: fees.economyFee },
  { words: 'At least', rate: fees.minimumFee },
];
