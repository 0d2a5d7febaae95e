import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';

const compress = promisify(brotliCompress);

/** Media types that are already compressed by their own format, or that hardly any reader accepts compressed. */
const media = /^(?:audio|video|font)\/|^image\/(?!svg\+xml)|^application\/(?:gzip|pdf)/u;

/** Whether contents of this type may become shorter. */
export const isCompressible = (contentType: string | null): boolean =>
  contentType !== null && !media.test(contentType);

/** Maximum number of waiting compressions: one for each active request (`limits.requests`). */
const waiting = 32;
/**
 * Maximum time that a compression waits for its turn, in ms. An order compresses at most 4 MB, which takes a few
 * seconds, so its client can wait for some other orders.
 */
const waitMs = 60_000;
/**
 * Runs one compression at a time, and serves clients in turn. It runs only one, because libuv's threads also compress
 * answers and read files.
 */
const gate = new FairGate({ running: 1, waiting, waitMs, refusal: tooMany });

function tooMany(): AppError {
  return new AppError('overloaded', 'too many contents are being compressed; try again in a few seconds');
}

/**
 * A content in brotli with ord's parameters (quality 11, window of 16 MB). Returns null if the result is not shorter,
 * or if the content is media. The same content gives the same bytes. Uses one thread of libuv for about a second per
 * megabyte. Throws `overloaded` after a long wait. Throws the reason of the asker's signal, because nothing is
 * compressed for a disconnected client.
 */
export async function compressed(
  content: Uint8Array,
  contentType: string | null,
  asker: Asker,
): Promise<Uint8Array | null> {
  if (content.length === 0 || !isCompressible(contentType)) return null;
  const made = await gate.run(asker, () =>
    compress(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_LGWIN]: 24,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  );
  return made.length < content.length ? made : null;
}
