import type { ReadMoment } from '#search/elastic/read-session.ts';
import type { Clause } from '#search/elastic/server/clause.ts';
import type { ElasticTuning } from '#search/elastic/server/elastic-tuning.ts';
import type { KeyWindow } from './key-window.ts';

/** Matching inscriptions in the order of their keys, or from the last one on. */
export interface KeyList {
  readonly clauses: readonly Clause[];
  readonly window: KeyWindow;
  readonly order: 'asc' | 'desc';
}

/** A part of a list. */
export interface Slice {
  readonly offset: number;
  readonly limit: number;
}

/** Whom a page is asked of. */
export interface PageSource {
  readonly moment: ReadMoment;
  readonly tuning: ElasticTuning;
}
