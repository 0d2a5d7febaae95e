import { checkedEventKinds } from '#kernel/events/event-kind.ts';
import type { EventKind } from './event-kind.ts';
import { inscriptionEvents } from './inscription-events.ts';

/** All kinds of events. To add one, add its value in a file beside this one and an entry here. */
export const eventKinds: readonly EventKind[] = checkedEventKinds([inscriptionEvents]);
