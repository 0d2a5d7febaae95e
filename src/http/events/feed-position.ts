import { AppError } from '#kernel/errors/app-error.ts';
import { type EventPlace, parseEventPlace } from '#kernel/events/event-id.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';

/**
 * A position in the stream: the event with this sequence and index. If there is no such event, it is the next event.
 */
export interface FeedPosition {
  readonly sequence: number;
  readonly index: number;
}

/** Whether a position is the first event of all. A client that begins there has received no events yet. */
export const isFirst = ({ sequence, index }: FeedPosition): boolean => sequence <= 1 && index === 0;

/**
 * The position of the event that a parameter names. If the parameter names only a row, it is the first event of the
 * row.
 */
export function positionAt(name: string, text: string, kind: EventKindIdentity): FeedPosition {
  const { sequence, event } = readPlace(name, text, kind);
  return { sequence, index: event?.index ?? 0 };
}

/**
 * The position after the event that a parameter names. If the parameter names only a row, it is the position after all
 * events of the row.
 */
export function positionBehind(name: string, text: string, kind: EventKindIdentity): FeedPosition {
  const { sequence, event } = readPlace(name, text, kind);
  return event === null ? { sequence: sequence + 1, index: 0 } : { sequence, index: event.index + 1 };
}

/**
 * Reads the id of an event, or a sequence. Throws `request_invalid` for any other text. An id of another kind is also
 * refused, because its index would belong to a different event here.
 */
function readPlace(name: string, text: string, kind: EventKindIdentity): EventPlace {
  const place = parseEventPlace(text);
  if (place === null) {
    const message = `${name} is not the id of an event, such as 12.${kind.letter}3, or a sequence, such as 12`;
    throw new AppError('request_invalid', message, { parameter: name });
  }
  if (place.event !== null && place.event.letter !== kind.letter) {
    const message = `${name} is the id of another kind of event; an id of ${kind.name} is like 12.${kind.letter}3`;
    throw new AppError('request_invalid', message, { parameter: name });
  }
  return place;
}
