import { standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { RequestFault } from '#kernel/requests/request-values.ts';
import type { OrderLayout, RevealLayout } from '#orders/inscribing/order-layout.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import type { Miner } from './miner.ts';

/** The reveals of an order's layout that nodes do not relay. Pure. */
export const nonStandardReveals = ({ reveals }: Pick<OrderLayout, 'reveals'>): readonly RevealLayout[] =>
  reveals.filter(({ weight }) => weight > standardWeightMax);

/**
 * Asks the miner about each reveal of an order that nodes do not relay. Must be called before the order is stored or an
 * address is shown. Returns the reasons why the miner would not mine these reveals. Empty if the miner would mine all
 * of them. Throws `miner_silent`, and the reason of the signal.
 */
export async function offerFaults(
  miner: Miner | null,
  { feeRate }: Pick<OrderTerms, 'feeRate'>,
  layout: OrderLayout,
  signal: AbortSignal,
): Promise<readonly RequestFault[]> {
  const { commit } = layout;
  const faults: RequestFault[] = [];
  for (const reveal of nonStandardReveals(layout)) {
    if (miner === null || commit === null) throw silent('there is no miner');
    const answer = await miner.offer({ commit, reveal, feeRate }, signal);
    if (answer.kind === 'silent') throw silent(answer.why);
    if (answer.kind === 'accepted') continue;
    const message = `File ${reveal.first + 1} makes a transaction of ${reveal.weight} weight units at ${Number(feeRate) / 1000} sat/vB. The miner of this service does not accept this transaction: ${answer.reason}`;
    faults.push({ message, parameter: 'files' });
  }
  return faults;
}

const silent = (why: string): AppError =>
  new AppError(
    'miner_silent',
    'the miner for transactions above the standard size does not answer; try again in a minute',
    { why },
  );
