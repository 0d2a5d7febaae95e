import type { MeaningView } from '#web/parts/meaning-cards.ts';

/** One existing thing that a text names. */
export interface Meaning extends MeaningView {
  /**
   * `certain`: the text can hardly mean anything else. `likely`: the text names this thing, and may also be a word.
   * `possible`: nearly any such text names a thing; for example, every short lower-case word names a sat.
   */
  readonly certainty: 'certain' | 'likely' | 'possible';
}

/** Which data of each thing is read: only its name, or everything that a page shows on a card. */
export type Detail = 'name' | 'card';
