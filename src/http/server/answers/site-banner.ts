import type { Standing } from '#http/operations/chain-lag.ts';
import { readStanding } from '#http/operations/chain-lag.ts';
import { followerState } from '#http/operations/readiness.ts';
import type { Operations } from '#http/server/operations.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { grouped, plural } from '#web/format.ts';
import type { Banner } from '#web/layout.ts';

/** Pages show a state that is at most this old, beside the time that it takes to read: one small statement. */
const keptMs = 2000;

/** More blocks than this is the first sync, not a delay. */
const syncingBlocks = 100;

/** The state of the index in words, for every page. It is read once for all pages of two seconds. */
export class SiteBanner {
  readonly #operations: Operations;
  #standing: Standing | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(operations: Operations) {
    this.#operations = operations;
  }

  /** The last known state; a new one is read beside, and pages never wait for it. */
  now(): Banner | null {
    this.#refresh();
    return this.#standing === null ? null : bannerOf(this.#standing);
  }

  /** The height of the last known tip; null: none is known yet. */
  tipHeight(): Height | null {
    this.#refresh();
    return this.#standing?.tip?.height ?? null;
  }

  #refresh(): void {
    const now = performance.now();
    if (this.#reading !== null || now - this.#readAt < keptMs) return;
    this.#readAt = now;
    this.#reading = readStanding(this.#operations.pool, null)
      .then((standing) => {
        this.#standing = standing;
      })
      // the page that asked fails by itself, and says why
      .catch(() => undefined)
      .finally(() => {
        this.#reading = null;
      });
  }
}

/** Pure. */
export function bannerOf(standing: Standing): Banner | null {
  const { status, tip, lag } = standing;
  const at = tip === null ? 'nothing is indexed yet' : `what you see ends at block ${grouped(tip.height)}`;
  const state = followerState(standing);
  // a database that was restored, or one of a test
  if (status === null) return tip === null ? { kind: 'starting', words: 'No block is indexed yet.' } : null;
  if (state === 'gone') return { kind: 'behind', words: `New blocks are not being indexed; ${at}.` };
  if (status.problem !== null)
    return { kind: 'no-node', words: `${status.problem.message} Meanwhile ${at}.` };
  if (lag === null || lag.blocks <= 1) return null;
  const words = `${plural(lag.blocks, 'block')} left to index; ${at}.`;
  return { kind: lag.blocks > syncingBlocks ? 'syncing' : 'behind', words };
}
