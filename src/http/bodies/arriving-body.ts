import type { IncomingMessage } from 'node:http';
import type { BodyReader } from '#http/bodies/parsing/body-reader.ts';
import type { BodyFault } from '#http/bodies/parsing/parse-body.ts';
import type { BodyRoom, HeldRoom } from '#http/server/budgets/body-room.ts';
import type { Shares } from '#http/server/budgets/shares.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { limits } from '#http/server/limits.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BodySink } from './body-sink.ts';
import { readChunks } from './read-chunks.ts';

/** Bounds that all bodies of the process share. */
export interface BodiesShared {
  readonly room: BodyRoom;
  /** Limits the number of large bodies. */
  readonly places: Shares;
}

/** The body of one request. It counts towards the shared bounds from its announcement until the response is sent. */
export class ArrivingBody {
  readonly #asker: Asker;
  readonly #shared: BodiesShared;
  readonly #held: HeldRoom;
  /** Number of further bytes of the body that do not count towards `room`. */
  #freeBytes: number = limits.freeBodyBytes;
  #hasPlace = false;
  /** Resolves when no thread parses the body any more. */
  #parsing: Promise<unknown> = Promise.resolve();

  constructor(asker: Asker, shared: BodiesShared) {
    this.#asker = asker;
    this.#shared = shared;
    this.#held = shared.room.hold(asker.client);
    // this always runs, after the response was sent, cut off or failed; a thread may still keep the bytes for a while
    asker.whenOut(() => void this.#parsing.finally(() => this.#held.release()));
  }

  /**
   * Checks a body before it arrives. Throws `body_too_large`. Throws `too_many_at_once` or `bodies_busy` if a large
   * body may not be sent now. Memory is counted only when bytes arrive, because a client may announce bytes that it
   * never sends.
   *
   * @param isKept whether the body is kept in memory; false for a sink, which has its own bounds
   */
  announce(bytes: number, bodyLimit: number, isKept: boolean): void {
    if (bytes > bodyLimit) throw tooLarge();
    if (!isKept || bytes <= limits.largeBodyBytes) return;
    this.#shared.room.check(this.#asker.client, bytes);
    this.#takePlace();
  }

  /** Reads the body. Throws `request_invalid`, and the errors that `announce` would throw for a body of this length. */
  async read(payload: IncomingMessage, reader: BodyReader, bodyLimit: number): Promise<void> {
    let bytes = 0;
    await readChunks(payload, this.#asker.client, (chunk) => {
      bytes += chunk.byteLength;
      if (bytes > bodyLimit) throw tooLarge();
      if (bytes > limits.largeBodyBytes) this.#takePlace();
      reader.append(chunk);
      return undefined;
    });
  }

  /** Passes the body to a sink. Throws `body_too_large`, `request_invalid`, and the errors of the sink. */
  async pour(payload: IncomingMessage, sink: BodySink, bodyLimit: number): Promise<void> {
    let bytes = 0;
    await readChunks(payload, this.#asker.client, (chunk) => {
      bytes += chunk.byteLength;
      if (bytes > bodyLimit) throw tooLarge();
      return sink.append(chunk);
    });
  }

  /**
   * Returns the parsed value of the body. Throws `request_invalid`.
   *
   * @param within the field that contains all other fields; error messages name fields without it
   */
  async parse(reader: BodyReader, within?: string): Promise<unknown> {
    const parsing = reader.end();
    this.#parsing = parsing.catch(() => undefined);
    const parsed = await parsing;
    if (parsed.ok) return parsed.value;
    const faults = (parsed.faults ?? []).map((fault) => namedWithin(fault, within));
    const [first = { message: parsed.message }, ...others] = faults;
    throw new InvalidRequest([first, ...others]);
  }

  /** Counts bytes that will be held in memory. Throws `bodies_busy` if there is no memory left. */
  takeRoom(bytes: number): void {
    const free = Math.min(bytes, this.#freeBytes);
    this.#freeBytes -= free;
    if (bytes > free) this.#held.grow(bytes - free);
  }

  #takePlace(): void {
    if (this.#hasPlace) return;
    this.#shared.places.take(this.#asker);
    this.#hasPlace = true;
  }
}

/** Returns a fault in which the field's name does not contain the outer field `within`. */
function namedWithin(fault: BodyFault, within: string | undefined): BodyFault {
  const { message, parameter = '' } = fault;
  const outer = `${within ?? ''}.`;
  if (within === undefined || !parameter.startsWith(outer)) return fault;
  const inner = parameter.slice(outer.length);
  return { message: message.replace(parameter, () => inner), parameter: inner };
}

const tooLarge = (): AppError => new AppError('body_too_large', 'the body is larger than this path accepts');
