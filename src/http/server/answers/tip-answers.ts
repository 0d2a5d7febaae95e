import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { type IndexState, readIndexState } from '#chain/snapshot/index-state.queries.ts';
import { SharedMaking } from '#kernel/concurrency/shared-making.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { answerTag } from './conditional.ts';

/** An answer, and the entity tag that the answer has at its tip. */
interface KeptAnswer {
  readonly tag: string;
  readonly body: string;
}

interface FoundAnswer {
  readonly tip: Tip | null;
  /** The entity tag of an answer at this tip. */
  readonly tag: string;
  /** The kept answer, or null if no answer is kept. */
  readonly body: string | null;
  /** Whether an answer that is read from now on may be kept. */
  readonly mayBeKept: boolean;
}

/**
 * Maximum memory of kept answers, in bytes. It is enough for about 30,000 inscriptions as ord's JSON. Clients request
 * fewer inscriptions again between two blocks.
 */
const keptBytesMax = 32_000_000;
/**
 * Maximum number of characters of a kept answer. Larger answers are rare, and one of them could take the memory of
 * hundreds of small answers.
 */
const bodyCharsMax = 16_000;
/** Number of bytes of memory that an entry takes in addition to its texts. */
const entryBytes = 400;
/** Maximum number of bytes of memory per character of a string. */
const charBytes = 2;

/**
 * Answers for the current tip, by URL. The tip is read after the request arrives, and a kept answer is used only if its
 * entity tag belongs to this tip. So a kept answer is never older than an answer from the database. Requests that
 * arrive at the same time share one read of the tip (ADR 87). While a derived table is incomplete, no answer is kept,
 * because new blocks in the table change answers without changing the tip.
 */
export class TipAnswers {
  readonly #moments: SharedMaking<IndexState>;
  readonly #kept = new LRUCache<string, KeptAnswer>({
    maxSize: keptBytesMax,
    sizeCalculation: ({ body, tag }, url) => entryBytes + charBytes * (body.length + tag.length + url.length),
  });

  /**
   * Creates an empty store of answers.
   * @param pool used only for reads
   */
  constructor(pool: pg.Pool) {
    this.#moments = new SharedMaking((signal) => withCutConnection(pool, signal, readIndexState));
  }

  /** The current tip, and the kept answer for a URL if the answer belongs to this tip. */
  async find(url: string, signal: AbortSignal): Promise<FoundAnswer> {
    const { tip, isComplete } = await this.#moments.get(signal);
    const tag = answerTag(tip, url);
    const kept = isComplete ? this.#kept.get(url) : undefined;
    if (kept?.tag === tag) return { tip, tag, body: kept.body, mayBeKept: true };
    if (kept !== undefined) this.#kept.delete(url);
    return { tip, tag, body: null, mayBeKept: isComplete };
  }

  keep(url: string, tip: Tip | null, body: string): void {
    if (body.length <= bodyCharsMax) this.#kept.set(url, { tag: answerTag(tip, url), body });
  }
}
