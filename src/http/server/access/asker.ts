import type { FastifyReply } from 'fastify';
import type { Asker } from '#kernel/contracts/asker.ts';
import { clientOfRequest, keyOfRequest } from './client.ts';

/** An asker, and the function that the server calls when the answer for the asker is made. */
interface KnownAsker extends Asker {
  readonly made: () => void;
}

/** How long work still counts after its client disconnects, in ms. The client's statements are cancelled sooner. */
const endingMs = 1_000;

/**
 * Shared error for all disconnected clients, because clients may abandon thousands of requests per second. Creating an
 * error with its stack trace takes 50 µs.
 */
const gone = new DOMException('the client is gone', 'AbortError');

const askers = new WeakMap<FastifyReply['raw'], KnownAsker>();

/**
 * The client of a request. The result says whether the client is still connected. It also accepts functions to call
 * when the answer is made, and when the answer is sent. `askerOf` may be called at any time, because earlier events of
 * the connection count too.
 */
export function askerOf(reply: FastifyReply): Asker {
  return knownAskerOf(reply);
}

/**
 * Frees resources that were held to make the answer. Call this when the answer is complete, or when its pieces are
 * being sent.
 */
export function answerIsMade(reply: FastifyReply): void {
  askers.get(reply.raw)?.made();
}

function knownAskerOf(reply: FastifyReply): KnownAsker {
  const known = askers.get(reply.raw);
  if (known !== undefined) return known;
  const asker = createAsker(reply);
  askers.set(reply.raw, asker);
  return asker;
}

function createAsker({ request, raw }: FastifyReply): KnownAsker {
  const controller = new AbortController();
  const onMade = new Frees();
  const onOut = new Frees();
  const close = (): void => {
    // if the answer has ended, it is already being sent, so no work needs to be cancelled
    if (!raw.writableEnded) controller.abort(gone);
    onOut.call();
    if (onMade.isCalled) return;
    // work for a disconnected client still counts for a while; otherwise a client could start any amount of work by
    // resetting its connections
    setTimeout(() => onMade.call(), endingMs).unref();
  };
  // `close` is emitted only once, so check first whether it was emitted already
  if (raw.closed || request.raw.socket.destroyed) close();
  else raw.once('close', close);
  return {
    client: clientOfRequest(request),
    // a getter, because the guard of the route may read the key later
    get key() {
      return keyOfRequest(request);
    },
    signal: controller.signal,
    whenMade: (free) => onMade.add(free),
    whenOut: (free) => onOut.add(free),
    made: () => onMade.call(),
  };
}

/** A list of functions that are called once, when something happens. */
class Frees {
  #waiting: (() => void)[] | null = [];

  get isCalled(): boolean {
    return this.#waiting === null;
  }

  add(free: () => void): void {
    if (this.#waiting === null) free();
    else this.#waiting.push(free);
  }

  call(): void {
    const frees = this.#waiting ?? [];
    this.#waiting = null;
    for (const free of frees) free();
  }
}
