import type { ClientBase } from 'pg';
import { blocksBelow } from '#chain/blocks/block.queries.ts';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import { countPendingInscriptions, pendingCountedMax } from '#chain/pending/pending-count.queries.ts';
import { FeeEstimates } from '#http/mempool/recommended-fees.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { newestSales } from '#market/sales/newest-sales.store.ts';
import type { LiveSale, LiveView } from '#web/parts/live-strip.ts';

/** Maximum number of sales in the live strip of a page. There is no space for more. */
const salesShown = 2;
/** How long a page waits for the node, in ms. After that the page shows the previous fees, or no fees. */
const feesWaitMs = 50;

/** Reads the current state of the chain, the mempool, the fees and the sales. */
export class LiveFacts {
  readonly #estimates: FeeEstimates | null;
  #fees: LiveView['fees'] = null;

  constructor(node: NodeRpc | null) {
    this.#estimates = node === null ? null : new FeeEstimates(node);
  }

  /**
   * Reads all parts of the current state.
   *
   * @param client a connection in a snapshot, so that all parts belong to the same moment
   */
  async read(client: ClientBase): Promise<LiveView> {
    const [block = null] = await blocksBelow(client, null, 1);
    const pending = await countPendingInscriptions(client);
    return {
      block:
        block === null
          ? null
          : { height: block.height, time: block.time, inscriptions: block.inscriptionCount },
      pending:
        pending === null
          ? null
          : { count: Math.min(pending, pendingCountedMax), isMore: pending > pendingCountedMax },
      sales: await latestSales(client),
      fees: await this.#currentFees(),
    };
  }

  /** The current fees. If the node takes too long, the fees of its last response. */
  async #currentFees(): Promise<LiveView['fees']> {
    if (this.#estimates === null) return null;
    const asked = this.#estimates.recommended().then(
      ({ fastestFee: next, hourFee: hour, economyFee: day }) => {
        this.#fees = { next, hour, day };
      },
      () => {
        // an unreachable node has no fee estimates
        this.#fees = null;
      },
    );
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, feesWaitMs);
    });
    await Promise.race([asked, patience]);
    clearTimeout(timer);
    return this.#fees;
  }
}

/**
 * The newest sales, as in the market's list without wash trades. `null` if sales are not indexed, or not yet for all
 * blocks.
 */
async function latestSales(client: ClientBase): Promise<LiveSale[] | null> {
  if (!(await isComplete(client, 'sales'))) return null;
  const all = { before: null, class: null, from: null, to: null, withWash: false };
  const { sales } = await newestSales(client, { ...all, limit: salesShown });
  return sales.map(({ txid, price, id, number }) => ({
    inscriptionId: formatInscriptionId(id.txid, id.index),
    number,
    price,
    txid: displayHash(txid),
  }));
}
