import type { ReadMoment } from '#search/elastic/queries/read-session.ts';
import type { Clause } from '#search/elastic/server/clause.ts';
import type { ElasticTuning } from '#search/elastic/server/elastic-tuning.ts';
import type { KeyWindow } from './key-window.ts';

/** Matches in the order of their keys, ascending or descending. */
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

/** The index from which a page is read. */
export interface PageSource {
  readonly moment: ReadMoment;
  readonly tuning: ElasticTuning;
}
