import { AppError } from '#kernel/errors/app-error.ts';
import { type EventPlace, parseEventPlace } from '#kernel/events/event-id.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';

/** A place in the stream: the event with this id, or the next one after it. */
export interface FeedPosition {
  readonly sequence: number;
  readonly index: number;
}

/** Whether a position is the very first event: a client that begins there has read nothing before. */
export const isFirst = ({ sequence, index }: FeedPosition): boolean => sequence <= 1 && index === 0;

/** The event that a parameter names, or the first of the row if it only names the row. */
export function positionAt(name: string, text: string, kind: EventKindIdentity): FeedPosition {
  const { sequence, event } = readPlace(name, text, kind);
  return { sequence, index: event?.index ?? 0 };
}

/** The place after the event that a parameter names, or after the whole row if it only names the row. */
export function positionBehind(name: string, text: string, kind: EventKindIdentity): FeedPosition {
  const { sequence, event } = readPlace(name, text, kind);
  return event === null ? { sequence: sequence + 1, index: 0 } : { sequence, index: event.index + 1 };
}

/**
 * Reads a place. Throws `request_invalid` for a text that is not an id, or for an id of another kind: its index would
 * name another event here.
 */
function readPlace(name: string, text: string, kind: EventKindIdentity): EventPlace {
  const place = parseEventPlace(text);
  if (place === null) {
    const message = `${name} is not the id of an event, such as 12.${kind.letter}3, or a sequence, such as 12`;
    throw new AppError('request_invalid', message, { parameter: name });
  }
  if (place.event !== null && place.event.letter !== kind.letter) {
    const message = `${name} is the id of an event of another kind: those of ${kind.name} are like 12.${kind.letter}3`;
    throw new AppError('request_invalid', message, { parameter: name });
  }
  return place;
}
