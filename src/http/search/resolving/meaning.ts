import type { MeaningView } from '#web/parts/meaning-cards.ts';

/** One existing thing that a text names. */
export interface Meaning extends MeaningView {
  /**
   * `certain` if the text can hardly mean anything else. `likely` if the text names this thing, but may also be a word.
   * `possible` if nearly any such text names a thing. For example, every short lower-case word names a sat.
   */
  readonly certainty: 'certain' | 'likely' | 'possible';
}

/**
 * Which data of each thing is read. `name` reads only its name, and `card` reads everything that a page shows on a
 * card.
 */
export type Detail = 'name' | 'card';
