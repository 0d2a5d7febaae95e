import type pg from 'pg';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import type { ByteCache } from '#search/segments/byte-cache.ts';
import type { SealedPart } from '#search/segments/postings-reader.ts';
import type { EngineTuning } from './engine-tuning.ts';
import type { ReadBudget } from './read-texts.ts';

/** State that all steps of one search share. */
export interface Matching {
  readonly client: pg.ClientBase;
  readonly cache: ByteCache<SealedPart>;
  readonly tuning: EngineTuning;
  readonly corpus: Corpus;
  /** Remaining bytes of texts that the search may read to check them. */
  readonly budget: ReadBudget;
}
