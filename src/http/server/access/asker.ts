import type { FastifyReply } from 'fastify';
import type { Asker } from '#kernel/contracts/asker.ts';
import { clientOfRequest, keyOfRequest } from './client.ts';

/** An asker, and what the server tells it about. */
interface KnownAsker extends Asker {
  readonly made: () => void;
}

/** Milliseconds after which work for who is gone has ended: its statements are cancelled sooner. */
const endingMs = 1_000;

/** Made once: a client may leave thousands of requests in a second, and each error with its trace takes 50 µs. */
const gone = new DOMException('the client is gone', 'AbortError');

const askers = new WeakMap<FastifyReply['raw'], KnownAsker>();

/**
 * Who asks a request: its client, whether it is still there, and what to free when the answer is made and when it is
 * out. It may be asked for at any time: what has happened to the connection before counts too.
 */
export function askerOf(reply: FastifyReply): Asker {
  return knownAskerOf(reply);
}

/** The answer is complete, or its pieces are on their way: what was held for making it is free. */
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
    // an answer that was ended is on its way
    if (!raw.writableEnded) controller.abort(gone);
    onOut.call();
    if (onMade.isCalled) return;
    // until its handler ends, work for who is gone counts: otherwise resets would make room for any number of it
    setTimeout(() => onMade.call(), endingMs).unref();
  };
  // emitted once, so not again where it was emitted before
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

/** What to call when something happens, once. */
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
