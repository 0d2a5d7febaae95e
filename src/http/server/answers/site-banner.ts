import type { Standing } from '#http/operations/chain-lag.ts';
import { readStanding } from '#http/operations/chain-lag.ts';
import { followerState } from '#http/operations/readiness.ts';
import { SyncPace } from '#http/operations/sync-pace.ts';
import type { Operations } from '#http/server/operations.ts';
import { isNodeAway } from '#kernel/errors/node-away.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { grouped, plural } from '#web/format.ts';
import type { Banner } from '#web/layout.ts';

/** Maximum age of the state that pages show, in ms. The time to read the state, one small statement, comes on top. */
const keptMs = 2000;

/**
 * How long a read may take, in ms. After that, pages show the last state. Without this limit, the statement could run
 * long after all pages were sent.
 */
const readMaxMs = 5000;

/**
 * Maximum number of missing blocks that is still called a delay. If more blocks are missing, this is the first sync.
 */
const syncingBlocks = 100;

/** The state of the index in words, for every page. All pages within two seconds share one read. */
export class SiteBanner {
  readonly #operations: Operations;
  readonly #pace = new SyncPace();
  #standing: Standing | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(operations: Operations) {
    this.#operations = operations;
  }

  /** The last known state. A newer state is read in the background, so pages never wait for it. */
  now(): Banner | null {
    this.#refresh();
    return this.#standing === null ? null : bannerOf(this.#standing, this.#pace.blocksPerSecond());
  }

  /** The height of the last known tip, or null if no tip is known yet. */
  tipHeight(): Height | null {
    this.#refresh();
    return this.#standing?.tip?.height ?? null;
  }

  #refresh(): void {
    const now = performance.now();
    if (this.#reading !== null || now - this.#readAt < keptMs) return;
    this.#readAt = now;
    this.#reading = readStanding(this.#operations.pool, AbortSignal.timeout(readMaxMs))
      .then((standing) => {
        this.#standing = standing;
        this.#pace.see(standing.tip?.height ?? -1, performance.now());
      })
      // the statements of the page itself also fail, and the page says why
      .catch(() => undefined)
      .finally(() => {
        this.#reading = null;
      });
  }
}

/** The banner for a state. `blocksPerSecond` is the speed of a sync, or null if the speed is unknown. Pure. */
export function bannerOf(standing: Standing, blocksPerSecond: number | null = null): Banner | null {
  const { status, tip, lag } = standing;
  const at = tip === null ? 'nothing is indexed yet' : `what you see ends at block ${grouped(tip.height)}`;
  // no indexer ever ran, because the database was restored or belongs to a test
  if (status === null) return tip === null ? { kind: 'starting', words: 'No block is indexed yet.' } : null;
  const state = followerState(standing);
  // if all blocks of a folder are indexed, no indexer is needed
  const isOver = state === 'ended' && !status.source.startsWith('folder ');
  if (state === 'gone' || isOver)
    return { kind: 'behind', words: `New blocks are not being indexed; ${at}.` };
  if (status.problem !== null) return problemBanner(status.problem, at);
  return lag === null || lag.blocks <= 1 ? null : lagBanner(lag.blocks, { tip, blocksPerSecond, at });
}

interface Lagging {
  readonly tip: Standing['tip'];
  readonly blocksPerSecond: number | null;
  readonly at: string;
}

function lagBanner(blocks: number, { tip, blocksPerSecond, at }: Lagging): Banner {
  if (blocks <= syncingBlocks)
    return { kind: 'behind', words: `${plural(blocks, 'block')} left to index; ${at}.` };
  const next = tip === null ? 0 : tip.height + 1;
  const words = `Indexing block ${grouped(next)} of ${grouped(next + blocks - 1)}`;
  return { kind: 'syncing', words: `${words}${paceWords(blocks, blocksPerSecond)}; ${at}.` };
}

/** The banner of a problem. Only the operator may see URLs of the node, in the log and in /health/ready. */
function problemBanner(
  { code, message, since }: NonNullable<NonNullable<Standing['status']>['problem']>,
  at: string,
): Banner {
  if (!isNodeAway(code)) return { kind: 'behind', words: `${message} Meanwhile ${at}.` };
  const time = since.toISOString().slice(11, 16);
  return {
    kind: 'no-node',
    words: `The Bitcoin node has not answered since ${time} UTC, so new blocks wait; ${at}.`,
  };
}

function paceWords(blocksLeft: number, blocksPerSecond: number | null): string {
  if (blocksPerSecond === null || blocksPerSecond <= 0) return '';
  const pace = blocksPerSecond < 10 ? blocksPerSecond.toFixed(1) : grouped(Math.round(blocksPerSecond));
  return `, ${pace} blocks a second, ${leftWords(blocksLeft / blocksPerSecond)} left`;
}

function leftWords(seconds: number): string {
  if (seconds < 90) return `about ${plural(Math.max(1, Math.round(seconds)), 'second')}`;
  if (seconds < 5400) return `about ${plural(Math.round(seconds / 60), 'minute')}`;
  return `about ${plural(Math.round(seconds / 3600), 'hour')}`;
}
