import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';

const compress = promisify(brotliCompress);

/** Contents that are compressed by their own format, or that hardly any reader takes compressed. */
const media = /^(?:audio|video|font)\/|^image\/(?!svg\+xml)|^application\/(?:gzip|pdf)/u;

/** Whether a content of a type may become shorter. */
export const isCompressible = (contentType: string | null): boolean =>
  contentType !== null && !media.test(contentType);

/** Each request that is answered has one under way (`limits.requests`). */
const waiting = 32;
/** An order compresses 4 MB at most, which takes a few seconds: its client waits for some others of its kind. */
const waitMs = 60_000;
/** One compression at a time, clients in turn: the threads of libuv also compress answers and read files. */
const gate = new FairGate({ running: 1, waiting, waitMs, refusal: tooMany });

function tooMany(): AppError {
  return new AppError('overloaded', 'too many contents are being compressed: try again in a few seconds');
}

/**
 * A content in brotli, as ord makes it (quality 11, window of 16 MB); null where it is not shorter, or is media. The
 * same content gives the same bytes. Takes a thread of libuv about a second a megabyte; one content at a time. Throws
 * `overloaded` after a long wait, and the reason of the asker's signal: nothing is compressed for who has left.
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
