import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { AnyOrder, Drawing, DrawingAnswer, DrawingOrder } from './drawing.ts';

/**
 * Result of a drawing. `given up` if the drawing took too long or too much memory, or ended its process. A later
 * attempt may succeed.
 */
export type Drawn = Drawing | { readonly kind: 'given up' };

/**
 * How long the drawing of one image may take, in ms. 50 million pixels of a PNG take a second, or a few seconds on a
 * slow machine.
 */
const drawMsDefault = 5_000;
/**
 * Maximum memory of the process in bytes. All pixels of an interlaced image are decoded at once. 50 million pixels with
 * four channels of 16 bits take 517 MiB, including Node itself.
 */
const memoryBytesDefault = 640 * 1024 * 1024;
/** How long the process may be idle before it ends, in ms. An idle process holds 80 MB. */
const idleMs = 60_000;
/** Maximum JavaScript heap of the process, in megabytes. It is enough for an image and its answer. */
const heapMegabytes = 96;

interface DrawingBounds {
  readonly drawMs?: number;
  readonly memoryBytes?: number;
}

const program = fileURLToPath(new URL('./draw-thumbnail.worker.ts', import.meta.url));

/**
 * Decodes images in a separate process, which starts when it is needed. If a decoder crashes, hangs or fills the
 * memory, only its process ends, and the next image starts a new process. The caller passes one image at a time.
 */
export class ThumbnailDrawer {
  readonly #drawMs: number;
  readonly #memoryBytes: number;
  #process: ChildProcess | null = null;
  #idle: NodeJS.Timeout | null = null;
  #drawn = 0;
  #ended = 0;

  /**
   * Creates the drawer. No process starts yet.
   *
   * @param drawMs how long one image may take
   * @param memoryBytes the maximum memory of the process
   */
  constructor({ drawMs = drawMsDefault, memoryBytes = memoryBytesDefault }: DrawingBounds = {}) {
    this.#drawMs = drawMs;
    this.#memoryBytes = memoryBytes;
  }

  /** Number of images that were tried since the start, and number of images that were given up. */
  get counts(): { readonly tried: number; readonly givenUp: number } {
    return { tried: this.#drawn, givenUp: this.#ended };
  }

  async draw(order: AnyOrder): Promise<Drawn> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    const decoder = this.#process ?? this.#start();
    const number = ++this.#drawn;
    const drawn = await ordered(decoder, { number, ...order }, this.#drawMs);
    if (drawn.kind === 'given up') {
      this.#ended++;
      this.#end(decoder);
    }
    this.#idle = setTimeout(() => this.close(), idleMs).unref();
    return drawn;
  }

  /** Ends the process. */
  close(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    if (this.#process !== null) this.#end(this.#process);
  }

  #start(): ChildProcess {
    const decoder = fork(program, [String(this.#memoryBytes)], {
      // pass bytes without conversion
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${heapMegabytes}`],
      // the process must not have the service's secrets
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    // the process could not be started, or could not receive the image, so the image is given up
    decoder.on('error', () => this.#end(decoder));
    decoder.on('exit', () => this.#forget(decoder));
    this.#process = decoder;
    return decoder;
  }

  #end(decoder: ChildProcess): void {
    this.#forget(decoder);
    decoder.kill('SIGKILL');
  }

  #forget(decoder: ChildProcess): void {
    if (this.#process === decoder) this.#process = null;
  }
}

/** The answer of a process. `given up` if the process ended or took too long. */
function ordered(decoder: ChildProcess, order: DrawingOrder, timeoutMs: number): Promise<Drawn> {
  return new Promise((resolve) => {
    const settle = (drawn: Drawn): void => {
      clearTimeout(timer);
      decoder.off('message', onMessage).off('exit', giveUp).off('error', giveUp);
      resolve(drawn);
    };
    const giveUp = (): void => settle({ kind: 'given up' });
    const onMessage = (message: unknown): void => {
      const { number, drawing } = message as DrawingAnswer;
      if (number === order.number) settle(withBuffer(drawing));
    };
    const timer = setTimeout(giveUp, timeoutMs);
    decoder.on('message', onMessage).on('exit', giveUp).on('error', giveUp);
    decoder.send(order, (error) => {
      if (error !== null) giveUp();
    });
  });
}

/** Restores buffers, because messages carry buffers as views of the received bytes. */
const withBuffer = (drawing: Drawing): Drawing =>
  drawing.kind === 'picture' ? { kind: 'picture', picture: Buffer.from(drawing.picture) } : drawing;
