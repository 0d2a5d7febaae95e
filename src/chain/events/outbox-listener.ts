import type { Pool, PoolClient } from 'pg';
import { outboxChannel } from '#kernel/contracts/outbox.ts';

/**
 * How often readers poll, in ms. Polls are needed only while no connection listens. Otherwise a notification arrives
 * within milliseconds of a commit.
 */
const pollMs = 2000;

/**
 * Notifies all readers in this process when the outbox, or the list of another channel, has grown. It uses one
 * connection, which is open while there are readers. If the connection is lost, the readers poll, and the next poll
 * opens a new connection.
 */
export class OutboxListener {
  readonly #pool: Pool;
  readonly #channel: string;
  #client: PoolClient | null = null;
  #opening: Promise<void> | null = null;
  #readers = 0;
  /**
   * Number of notifications so far. By comparing it, a reader notices a notification that arrived while the reader was
   * busy.
   */
  #heard = 0;
  readonly #waiting = new Set<() => void>();

  constructor(pool: Pool, channel: string = outboxChannel) {
    this.#pool = pool;
    this.#channel = channel;
  }

  /** Starts reading. Call `done` once at the end. */
  join(): OutboxReader {
    this.#readers++;
    let isDone = false;
    return {
      mark: () => this.#heard,
      news: (mark, timeoutMs, signal) => this.#news(mark, timeoutMs, signal),
      done: () => {
        if (isDone) return;
        isDone = true;
        this.#readers--;
        if (this.#readers === 0) this.#close();
      },
    };
  }

  /** Whether a connection listens now. */
  get isListening(): boolean {
    return this.#client !== null;
  }

  async #news(mark: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#client === null) {
      this.#opening ??= this.#open().finally(() => {
        this.#opening = null;
      });
      await this.#opening;
      // rows may have been written before the connection listened, without a notification, so read once more
      return;
    }
    if (this.#heard !== mark || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(finish);
        signal.removeEventListener('abort', finish);
        resolve();
      };
      const timer = setTimeout(finish, timeoutMs);
      this.#waiting.add(finish);
      signal.addEventListener('abort', finish, { once: true });
    });
  }

  /** Opens a connection and listens. If that fails, waits for one poll interval. */
  async #open(): Promise<void> {
    let client: PoolClient | null = null;
    try {
      client = await this.#pool.connect();
      const lost = (): void => this.#drop(client as PoolClient);
      client.on('error', lost);
      client.on('end', lost);
      client.on('notification', () => this.#wake());
      await client.query(`LISTEN ${this.#channel}`);
      this.#client = client;
      if (this.#readers === 0) this.#close();
    } catch {
      client?.release(true);
      await new Promise<void>((resolve) => {
        setTimeout(resolve, pollMs);
      });
    }
  }

  #wake(): void {
    this.#heard++;
    for (const finish of this.#waiting) finish();
  }

  #drop(client: PoolClient): void {
    if (this.#client !== client) return;
    this.#client = null;
    client.release(true);
    this.#wake();
  }

  #close(): void {
    const client = this.#client;
    this.#client = null;
    // do not return the connection to the pool, because it would continue to listen there
    client?.release(true);
  }
}

export interface OutboxReader {
  /** Returns a mark of the current state. Call it before reading the outbox. */
  mark(): number;
  /** Settles once the outbox has grown after `mark`, at the latest after `timeoutMs`, or when aborted. */
  news(mark: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
  done(): void;
}
