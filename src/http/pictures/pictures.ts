import { createHash } from 'node:crypto';
import { contentsBusy } from '#http/server/budgets/content-reads.ts';
import type { CardOrder } from '#http/thumbnails/drawing.ts';
import { ThumbnailDrawer } from '#http/thumbnails/thumbnail-drawer.ts';
import type { ThumbnailFiles } from '#http/thumbnails/thumbnail-files.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

/**
 * Version of the drawing. It is a part of each picture's name. Increase it when the same facts are drawn differently.
 */
const drawingVersion = 1;
/**
 * Maximum number of requests that wait for the one drawing process. Robots of sites request one picture for each shared
 * link.
 */
const waitingMax = 32;
/** How long a request waits at most, in ms. A picture takes some tenths of a second. */
const waitMs = 10_000;

/** A picture, and a name that is a hash of everything that the picture shows. */
export interface SharedPicture {
  readonly name: string;
  /** `null` if the picture could not be drawn this time. */
  readonly png: Buffer | null;
}

/**
 * Pictures of shared links. The same facts are drawn only once. One picture is drawn at a time, and clients take turns.
 */
export class Pictures {
  readonly #files: ThumbnailFiles | null;
  readonly #onUnwritten: (error: unknown) => void;
  readonly #drawer = new ThumbnailDrawer();
  readonly #gate = new FairGate({ running: 1, waiting: waitingMax, waitMs, refusal: contentsBusy });

  /**
   * Creates the drawer with the store of its files.
   *
   * @param files null if no pictures are stored
   * @param onUnwritten receives the error of a file that could not be written
   */
  constructor(files: ThumbnailFiles | null, onUnwritten: (error: unknown) => void) {
    this.#files = files;
    this.#onUnwritten = onUnwritten;
  }

  /** Number of pictures that wait to be drawn, and the limit of this number. */
  get waiting(): QueueState {
    return this.#gate.state;
  }

  /** Returns the picture of an order. Throws `contents_busy`. */
  async of(asker: Asker, order: Omit<CardOrder, 'kind'>): Promise<SharedPicture> {
    const name = nameOf(order);
    const known = (await this.#files?.read(name)) ?? null;
    if (known !== null) return { name, png: known };
    return this.#gate.run(asker, async () => {
      const drawn = await this.#drawer.draw({ kind: 'card', ...order });
      if (drawn.kind !== 'picture') return { name, png: null };
      await this.#files?.write(name, drawn.picture).catch(this.#onUnwritten);
      return { name, png: drawn.picture };
    });
  }

  close(): void {
    this.#drawer.close();
  }
}

/** A hash of everything that a picture shows, in hexadecimal digits. */
function nameOf({ thumbnail, ...texts }: Omit<CardOrder, 'kind'>): string {
  const hash = createHash('sha256').update(`card ${drawingVersion} ${JSON.stringify(texts)}\n`);
  return hash.update(thumbnail ?? '').digest('hex');
}
