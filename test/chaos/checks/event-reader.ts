import { setTimeout as delay } from 'node:timers/promises';

interface BlockEvent {
  readonly id: string;
  readonly type: string;
  readonly height: number;
  readonly blockHash: string;
  readonly events?: number;
  readonly eventsKept?: boolean;
  readonly cancels?: number;
}

interface ReplayedBlock {
  readonly sequence: number;
  readonly height: number;
  readonly blockHash: string;
  /** The block's events without their ids. `expected` is the expected number of events. */
  readonly events: string[];
  readonly expected: number;
}

/** The events that remain of a stream after each undo event has removed its block. */
export class Replay {
  readonly blocks: ReplayedBlock[] = [];
  lastId: string | null = null;
  undone = 0;

  take(line: string): void {
    const event = JSON.parse(line) as BlockEvent;
    const sequence = Number(event.id.split('.')[0]);
    const top = this.blocks.at(-1);
    this.lastId = event.id;
    if (event.type === 'undo') {
      if (top === undefined || top.sequence !== event.cancels) {
        throw new Error(
          `event ${event.id} takes back ${event.cancels}, but ${top?.sequence} is the last block`,
        );
      }
      this.blocks.pop();
      this.undone++;
      return;
    }
    if (event.type === 'block') {
      if (top !== undefined && top.height + 1 !== event.height) {
        throw new Error(`event ${event.id} is of block ${event.height}, after block ${top.height}`);
      }
      if (event.eventsKept !== true)
        throw new Error(`event ${event.id}: the texts of its block were not kept`);
      const { height, blockHash, events: expected = 0 } = event;
      this.blocks.push({ sequence, height, blockHash, events: [], expected });
      return;
    }
    if (top === undefined || top.sequence !== sequence) {
      throw new Error(`event ${event.id} belongs to none of the blocks`);
    }
    top.events.push(JSON.stringify({ ...event, id: null }));
  }

  /** One line per block and one per event. */
  lines(): string[] {
    return this.blocks.flatMap(({ height, blockHash, events, expected }) => [
      `block ${height} ${blockHash} events=${expected} read=${events.length}`,
      ...events,
    ]);
  }
}

/** Reads all current events of the service at a URL. */
export async function readAllEvents(origin: string): Promise<Replay> {
  const replay = new Replay();
  const answer = await fetch(`${origin}/events?from=0`);
  if (!answer.ok) throw new Error(`/events answers with ${answer.status}`);
  for (const line of (await answer.text()).split('\n')) if (line !== '') replay.take(line);
  return replay;
}

const againMs = 200;

/**
 * A consumer of server-sent events that resumes after each disconnection. In the end, its replay must equal the replay
 * of a consumer that never saw the undone events.
 */
export class EventReader {
  readonly replay = new Replay();
  readonly ended: Promise<void>;
  /** Impossible events, in the order in which they were seen. */
  readonly contradictions: string[] = [];
  reconnects = 0;
  readonly #origin: string;
  readonly #controller = new AbortController();

  constructor(origin: string) {
    this.#origin = origin;
    this.ended = this.#read();
  }

  async stop(): Promise<void> {
    this.#controller.abort();
    await this.ended;
  }

  async #read(): Promise<void> {
    const { signal } = this.#controller;
    while (!signal.aborted) {
      await this.#readOnce(signal).catch(() => undefined);
      this.reconnects++;
      await delay(againMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #readOnce(signal: AbortSignal): Promise<void> {
    const { lastId } = this.replay;
    const place = lastId === null ? '?from=0' : '';
    const answer = await fetch(`${this.#origin}/events${place}`, {
      signal,
      headers: {
        accept: 'text/event-stream',
        ...(lastId === null ? {} : { 'last-event-id': lastId }),
      },
    });
    if (!answer.ok || answer.body === null) return;
    let rest = '';
    for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
      const messages = (rest + text).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) this.#take(message);
    }
  }

  #take(message: string): void {
    const data = message.split('\n').find((line) => line.startsWith('data: '));
    if (data === undefined) return;
    try {
      this.replay.take(data.slice('data: '.length));
    } catch (error) {
      this.contradictions.push(String(error));
    }
  }
}
