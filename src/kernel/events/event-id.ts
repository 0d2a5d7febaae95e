import type { EventKindIdentity } from './event-kind.ts';

/** A position in the stream of events, in the form of a request. */
export interface EventPlace {
  /** Sequence of the outbox row. */
  readonly sequence: number;
  /**
   * The event in the outbox row, with the letter of its kind. `null` if the position is the entire row, which belongs
   * to every kind.
   */
  readonly event: { readonly letter: string; readonly index: number } | null;
}

// the digits are enough for a safe integer and a 32-bit integer
const form = /^(\d{1,15})(?:\.([a-z]?)(\d{1,9}))?$/u;

/** The id of an event, which is `<sequence>.<letter of the kind><index>`. The block itself has index 0. */
export function eventId({ letter }: EventKindIdentity, sequence: number, index: number): string {
  return `${sequence}.${letter}${index}`;
}

/** Reads the id of an event of any kind, registered or not, or a sequence alone. `null` if the text is neither. */
export function parseEventPlace(text: string): EventPlace | null {
  const [, sequence, letter = '', index] = form.exec(text) ?? [];
  if (sequence === undefined) return null;
  return { sequence: Number(sequence), event: index === undefined ? null : { letter, index: Number(index) } };
}
