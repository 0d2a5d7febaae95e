import type pg from 'pg';
import { type OutboxEntry, readOutboxPage } from '#chain/events/events.queries.ts';
import type { OutboxReader } from '#chain/events/outbox-listener.ts';
import type { StoredEventKind } from '#chain/events/stored-event-kind.ts';
import { inPieces } from '#http/server/answers/pieces-of-lines.ts';
import type { FairGate } from '#kernel/concurrency/fair-gate.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { eventId } from '#kernel/events/event-id.ts';
import { parseEventText } from '#kernel/events/parse-event-text.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { FeedPosition } from './feed-position.ts';

export interface FedEvent {
  readonly id: string;
  /** `block`, `undo`, `reclassified`, or the name that a kind gives its events. */
  readonly type: string;
  /** The event as JSON, including its id and type. */
  readonly json: string;
}

/** The text form of an event for a client. */
export type EventForm = (event: FedEvent) => string;

export const ndjsonForm: EventForm = ({ json }) => `${json}\n`;
export const serverSentForm: EventForm = ({ id, type, json }) =>
  `id: ${id}\nevent: ${type}\ndata: ${json}\n\n`;

/**
 * How often a keep-alive is sent on a silent stream, in ms. Proxies close silent connections after 30 to 60 s, and our
 * own limit is 60 s.
 */
const heartbeatMs = 15_000;

/** The events of a row of the outbox, from the given index. */
export type EventsOfRow = (entry: OutboxEntry, fromIndex: number) => Iterable<FedEvent>;

export interface FeedOptions {
  readonly pool: pg.Pool;
  readonly kind: StoredEventKind;
  readonly network: NetworkName;
  readonly from: FeedPosition;
  /**
   * Sequence up to which rows that announce a reclassification are left out. A client that starts from the first event
   * has no events by older rules. 0: the client may have events by older rules, so no row is left out.
   */
  readonly rulesUpTo: number;
  /** The maximum number of events. */
  readonly limit: number;
  readonly form: EventForm;
  /**
   * Makes the events of a page's rows, and first reads the data that they need. Absent: events have the form of
   * docs/events.md.
   */
  readonly showPage?: (entries: readonly OutboxEntry[], signal: AbortSignal) => Promise<EventsOfRow>;
  /**
   * Signals new rows, so that the feed waits for them instead of ending. Null: the feed ends at the end of the outbox.
   */
  readonly live: OutboxReader | null;
  readonly asker: Asker;
  /** Limits the reads of pages of all streams. */
  readonly reads: FairGate;
}

/**
 * The stream of events from a position. Pages are read as the client takes them, and the stream holds no connection
 * between pages. It ends at the end of the outbox. A live stream only ends when aborted, or at `limit`.
 */
export async function* feedEvents(options: FeedOptions): AsyncGenerator<string> {
  const { pool, kind, network, form, live, asker, reads } = options;
  const { signal, client } = asker;
  const plain: EventsOfRow = (entry, fromIndex) => eventsOf(kind, entry, fromIndex);
  const cursor = { ...options.from, left: options.limit, rulesUpTo: options.rulesUpTo };
  let sentAtMs = performance.now();
  while (!signal.aborted) {
    const mark = live?.mark() ?? 0;
    const { entries, show } = await reads.run(asker, async () => {
      const page = await readOutboxPage(pool, kind, network, cursor.sequence, signal);
      return { entries: page, show: (await options.showPage?.(page, signal)) ?? plain };
    });
    for (const piece of inPieces(eventsOfPage(show, entries, cursor).map(form))) {
      await nextTurn(client);
      yield piece;
      sentAtMs = performance.now();
      if (signal.aborted) return;
    }
    if (cursor.left === 0) return;
    if (entries.length > 0) continue;
    if (live === null) return;
    await live.news(mark, heartbeatMs, signal);
    if (performance.now() - sentAtMs < heartbeatMs) continue;
    yield ': \n\n';
    sentAtMs = performance.now();
  }
}

interface Cursor {
  sequence: number;
  index: number;
  /** Number of events that may still be sent. */
  left: number;
  readonly rulesUpTo: number;
}

/** The events of a page from the cursor. Moves the cursor to the end of each row that was sent. */
function* eventsOfPage(
  show: EventsOfRow,
  entries: readonly OutboxEntry[],
  cursor: Cursor,
): Generator<FedEvent> {
  for (const entry of entries) {
    const isKnown = entry.reclassified !== null && entry.sequence <= cursor.rulesUpTo;
    const events = isKnown ? [] : show(entry, entry.sequence === cursor.sequence ? cursor.index : 0);
    for (const event of events) {
      if (cursor.left === 0) return;
      cursor.left--;
      yield event;
    }
    cursor.sequence = entry.sequence + 1;
    cursor.index = 0;
  }
}

function* eventsOf(kind: StoredEventKind, entry: OutboxEntry, fromIndex: number): Generator<FedEvent> {
  const { sequence, height, cancels, reclassified, text } = entry;
  const blockHash = displayHash(entry.hash);
  const fed = (index: number, type: FedEvent['type'], fields: object): FedEvent => {
    const id = eventId(kind, sequence, index);
    return { id, type, json: JSON.stringify({ id, type, height, blockHash, ...fields }) };
  };
  if (cancels !== null) {
    if (fromIndex === 0) yield fed(0, 'undo', { cancels });
    return;
  }
  if (reclassified !== null) {
    if (reclassified === kind.number && fromIndex === 0)
      yield fed(0, 'reclassified', { version: kind.version });
    return;
  }
  if (fromIndex === 0) yield fed(0, 'block', { events: entry.eventCount, eventsKept: text !== null });
  if (text === null) return;
  for (const [index, { type, ...fields }] of parseEventText(text, fromIndex, kind.parseLine)) {
    yield fed(index, type, fields);
  }
}
