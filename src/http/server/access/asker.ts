import type { FastifyReply } from 'fastify';
import type { Asker } from '#kernel/contracts/asker.ts';
import { clientOfRequest, keyOfRequest } from './client.ts';

/** An asker, and the server's side of it: what happens to its request. */
interface KnownAsker extends Asker {
  readonly made: () => void;
}

/** Milliseconds after which work for a disconnected client has ended: its statements are cancelled sooner. */
const endingMs = 1_000;

/** Made once: a client may abandon thousands of requests in a second, and each error with its trace takes 50 µs. */
const gone = new DOMException('the client is gone', 'AbortError');

const askers = new WeakMap<FastifyReply['raw'], KnownAsker>();

/**
 * The client of a request: whether it is still connected, and what to free when its answer is made and when it is sent.
 * May be called at any time: earlier events of the connection count too.
 */
export function askerOf(reply: FastifyReply): Asker {
  return knownAskerOf(reply);
}

/** Frees what was held to make the answer: it is complete, or its pieces are being sent. */
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
    // an ended answer is being sent
    if (!raw.writableEnded) controller.abort(gone);
    onOut.call();
    if (onMade.isCalled) return;
    // work for a disconnected client counts until its handler ends: otherwise resets would make room for any amount of
    // it
    setTimeout(() => onMade.call(), endingMs).unref();
  };
  // the event is emitted once, so it does not come if it was emitted before
  if (raw.closed || request.raw.socket.destroyed) close();
  else raw.once('close', close);
  return {
    client: clientOfRequest(request),
    // the guard of the route may read it later
    get key() {
      return keyOfRequest(request);
    },
    signal: controller.signal,
    whenMade: (free) => onMade.add(free),
    whenOut: (free) => onOut.add(free),
    made: () => onMade.call(),
  };
}

/** Functions to call when something happens, once. */
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
