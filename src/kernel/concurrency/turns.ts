import { AsyncLocalStorage } from 'node:async_hooks';

type Begin = () => void;

/**
 * Turns of the event loop, for work that many clients request. A fixed number of pieces of work begins in each turn of
 * the loop, and clients take turns. So the length of a turn is limited even if many pieces wait, and a client with a
 * hundred pieces only delays itself.
 */
export class Turns {
  readonly #perTurn: number;
  /** Waiting pieces by client. The client that is next comes first. No client has an empty list. */
  readonly #waiting = new Map<string, Begin[]>();
  /** Number of pieces that began in this turn of the loop. */
  #begun = 0;
  #isEndAwaited = false;

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
  }

  /** Waits for a turn. If there is room, it is the current turn of the loop, otherwise one of the next turns. */
  enter(client: string): Promise<void> | void {
    if (this.#waiting.size > 0 || this.#begun === this.#perTurn) return this.next(client);
    this.#begun++;
    this.#awaitEnd();
  }

  /** Waits for one of the next turns of the loop. */
  next(client: string): Promise<void> {
    return new Promise((begin) => {
      const own = this.#waiting.get(client);
      if (own === undefined) this.#waiting.set(client, [begin]);
      else own.push(begin);
      this.#awaitEnd();
    });
  }

  #awaitEnd(): void {
    if (this.#isEndAwaited) return;
    this.#isEndAwaited = true;
    setImmediate(() => {
      this.#isEndAwaited = false;
      this.#begun = 0;
      const begins: Begin[] = [];
      while (begins.length < this.#perTurn && this.#waiting.size > 0) begins.push(this.#take());
      this.#begun = begins.length;
      if (this.#begun > 0) this.#awaitEnd();
      for (const begin of begins) begin();
    });
  }

  #take(): Begin {
    const [[client, own]] = this.#waiting as unknown as readonly [readonly [string, Begin[]]];
    const begin = own.shift() as Begin;
    // the client is next after all other clients
    this.#waiting.delete(client);
    if (own.length > 0) this.#waiting.set(client, own);
    return begin;
  }
}

/** Turns for pieces of work that take some milliseconds. There is one piece per turn. */
const pieces = new Turns(1);

/** The client for which the current work is done. */
const clientOfWork = new AsyncLocalStorage<string>();

/** Runs work whose turns belong to the given client. */
export const inTurnsOf = <T>(client: string, work: () => T): T => clientOfWork.run(client, work);

/**
 * Waits for a turn of the event loop for a few milliseconds of work. Each turn has one piece, and clients take turns.
 *
 * @param client if absent, the client of `inTurnsOf`, or an unnamed client
 */
export const nextTurn = (client = clientOfWork.getStore() ?? ''): Promise<void> => pieces.next(client);

/** Work of a client in pieces of a limited size. There is a turn of the event loop between two pieces. */
export class WorkInTurns {
  readonly #client: string;
  readonly #most: number;
  #done = 0;

  /** @param most maximum number of units of work in one turn */
  constructor(client: string, most: number) {
    this.#client = client;
    this.#most = most;
  }

  /** Adds units of work that were just done. Waits for the next turn if this turn has no units left. */
  async did(units: number): Promise<void> {
    this.#done += units;
    if (this.#done < this.#most) return;
    this.#done = 0;
    await nextTurn(this.#client);
  }
}
