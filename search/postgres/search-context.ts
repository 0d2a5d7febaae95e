import type pg from 'pg';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import type { ByteCache } from '#search/segments/byte-cache.ts';
import type { SealedPart } from '#search/segments/postings-reader.ts';
import type { EngineTuning } from './engine-tuning.ts';
import type { ReadBudget } from './read-texts.ts';

/** The context of a search. */
export interface Matching {
  readonly client: pg.ClientBase;
  readonly cache: ByteCache<SealedPart>;
  readonly tuning: EngineTuning;
  readonly corpus: Corpus;
  /** Texts that it may still read to check them. */
  readonly budget: ReadBudget;
}
