import { storedInscriptionKind } from '#chain/events/inscription-texts.queries.ts';
import type { EventKind } from './event-kind.ts';
import { countInscriptionEvents, writeInscriptionLines } from './inscription-lines.ts';

/** What blocks did to inscriptions: new ones, and each time that one leaves a place. */
export const inscriptionEvents: EventKind = {
  ...storedInscriptionKind,
  indexes: ['locations_spent'],
  ledgerEvents: (applied) => ({
    count: countInscriptionEvents(applied.ledger),
    isKnown: applied.isKnown,
    write: (out) => writeInscriptionLines(out, applied),
  }),
};
