import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { type IndexState, readIndexState } from '#chain/snapshot/index-state.queries.ts';
import { SharedMaking } from '#kernel/concurrency/shared-making.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { answerTag } from './conditional.ts';

/** An answer, and the entity tag that it has at the tip that it is of. */
interface KeptAnswer {
  readonly tag: string;
  readonly body: string;
}

interface FoundAnswer {
  readonly tip: Tip | null;
  /** The entity tag of an answer as of this tip. */
  readonly tag: string;
  /** Null: none is kept. */
  readonly body: string | null;
  /** Whether an answer that is read from now on may be kept. */
  readonly mayBeKept: boolean;
}

/** Some 30,000 inscriptions as ord's JSON: more than clients ask for again between two blocks. */
const keptBytesMax = 32_000_000;
/** Larger answers are rare, and one of them would take the place of hundreds. */
const bodyCharsMax = 16_000;
/** Memory of an entry beside its texts. */
const entryBytes = 400;
/** Memory of a character of a string, at most. */
const charBytes = 2;

/**
 * Answers of the current tip by their URL. An answer is given again only while its entity tag is the one of a tip that
 * was read after the request arrived, so it is never older than one from the database. Requests that arrive at the
 * same time share that read (ADR 87). While a derived table is incomplete, its blocks change answers of one tip: none
 * is kept.
 */
export class TipAnswers {
  readonly #moments: SharedMaking<IndexState>;
  readonly #kept = new LRUCache<string, KeptAnswer>({
    maxSize: keptBytesMax,
    sizeCalculation: ({ body, tag }, url) => entryBytes + charBytes * (body.length + tag.length + url.length),
  });

  /** @param pool reads only */
  constructor(pool: pg.Pool) {
    this.#moments = new SharedMaking(() => withCutConnection(pool, null, readIndexState));
  }

  /** The current tip, and the answer to a URL where one of this tip is kept. */
  async find(url: string): Promise<FoundAnswer> {
    const { tip, isComplete } = await this.#moments.get();
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
