import { storedInscriptionKind } from '#chain/events/inscription-texts.queries.ts';
import type { EventKind } from './event-kind.ts';
import { countInscriptionEvents, writeInscriptionLines } from './inscription-lines.ts';

/** The events of inscriptions: each new inscription, and each move. */
export const inscriptionEvents: EventKind = {
  ...storedInscriptionKind,
  indexes: ['locations_spent'],
  ledgerEvents: (applied) => ({
    count: countInscriptionEvents(applied.ledger),
    isKnown: applied.isKnown,
    write: (out) => writeInscriptionLines(out, applied),
  }),
};
