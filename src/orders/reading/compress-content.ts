import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';

const compress = promisify(brotliCompress);

/** Types that are compressed by their own format, or that hardly any reader takes compressed. */
const media = /^(?:audio|video|font)\/|^image\/(?!svg\+xml)|^application\/(?:gzip|pdf)/u;

/** Whether contents of a type may become shorter. */
export const isCompressible = (contentType: string | null): boolean =>
  contentType !== null && !media.test(contentType);

/** Waiting compressions: one for each request under way (`limits.requests`). */
const waiting = 32;
/** An order compresses 4 MB at most, which takes a few seconds, so its client can wait for some others. */
const waitMs = 60_000;
/** One compression at a time, clients in turn: libuv's threads also compress answers and read files. */
const gate = new FairGate({ running: 1, waiting, waitMs, refusal: tooMany });

function tooMany(): AppError {
  return new AppError('overloaded', 'too many contents are being compressed: try again in a few seconds');
}

/**
 * A content in brotli with ord's parameters (quality 11, window of 16 MB); null if it is not shorter, or is media. The
 * same content gives the same bytes. Takes a thread of libuv, about a second per megabyte, one content at a time.
 * Throws `overloaded` after a long wait, and the reason of the asker's signal: nothing is compressed for a disconnected
 * client.
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
