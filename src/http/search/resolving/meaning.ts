import type { MeaningView } from '#web/parts/meaning-cards.ts';

/** One thing that exists here and that a text names. */
export interface Meaning extends MeaningView {
  /**
   * `certain`: the text can hardly mean anything else. `likely`: it names this, and may be a word as well. `possible`:
   * nearly any such word names one, as lower-case words name sats.
   */
  readonly certainty: 'certain' | 'likely' | 'possible';
}

/** How much is read of each thing: its name, or also what a card of a page shows. */
export type Detail = 'name' | 'card';
