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
  /** The type: `block`, `undo`, `reclassified`, or a name that the event kind defines. */
  readonly type: string;
  /** The event as JSON, including its id and type. */
  readonly json: string;
}

/** Writes an event as text for a client. */
export type EventForm = (event: FedEvent) => string;

export const ndjsonForm: EventForm = ({ json }) => `${json}\n`;
export const serverSentForm: EventForm = ({ id, type, json }) =>
  `id: ${id}\nevent: ${type}\ndata: ${json}\n\n`;

/**
 * How often a keep-alive is sent while a stream has no events, in ms. Proxies close silent connections after 30 to 60
 * s, and our own limit is 60 s.
 */
const heartbeatMs = 15_000;

/** Returns the events of an outbox row, beginning at an index. */
export type EventsOfRow = (entry: OutboxEntry, fromIndex: number) => Iterable<FedEvent>;

export interface FeedOptions {
  readonly pool: pg.Pool;
  readonly kind: StoredEventKind;
  readonly network: NetworkName;
  readonly from: FeedPosition;
  /**
   * Rows up to this sequence that announce a reclassification are left out. They are not needed by a client that starts
   * from the first event, because it has no events by older rules. 0 for a client that may have such events; then no
   * row is left out.
   */
  readonly rulesUpTo: number;
  /** Maximum number of events. */
  readonly limit: number;
  readonly form: EventForm;
  /**
   * Reads the data that the events of a page need, and returns a function that makes the events of each row. If absent,
   * events have the form of docs/events.md.
   */
  readonly showPage?: (entries: readonly OutboxEntry[], signal: AbortSignal) => Promise<EventsOfRow>;
  /** Notifies the feed of new rows, so that it waits at the end of the outbox. If it is `null`, the feed ends there. */
  readonly live: OutboxReader | null;
  readonly asker: Asker;
  /** Limits how many pages all streams read at the same time. */
  readonly reads: FairGate;
}

/**
 * The stream of events from a position. A page is read when the client needs it, and between pages the stream holds no
 * connection. The stream ends at the end of the outbox. A live stream ends only when it is aborted, or at `limit`.
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
  /** Number of further events that may be sent. */
  left: number;
  readonly rulesUpTo: number;
}

/**
 * Returns the events of a page, beginning at the cursor. After each row that was sent, the cursor moves to the end of
 * the row.
 */
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
