import type { MeaningView } from '#web/parts/meaning-cards.ts';

/** One existing thing that a text names. */
export interface Meaning extends MeaningView {
  /**
   * `certain`: the text can hardly mean anything else. `likely`: it names this thing, and may also be a word.
   * `possible`: nearly any such word names a thing, because every lower-case word names a sat.
   */
  readonly certainty: 'certain' | 'likely' | 'possible';
}

/** How much is read of each thing: only its name, or everything that a page shows on a card. */
export type Detail = 'name' | 'card';
