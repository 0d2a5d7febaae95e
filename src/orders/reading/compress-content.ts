import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';

const compress = promisify(brotliCompress);

/** Contents that are compressed by their own format, or that hardly any reader takes compressed. */
const media = /^(?:audio|video|font)\/|^image\/(?!svg\+xml)|^application\/(?:gzip|pdf)/u;

/** Compressions beside each other: the threads of libuv also compress answers and read files. */
let last: Promise<unknown> = Promise.resolve();

/**
 * A content in brotli, as ord makes it (quality 11, window of 16 MB); null where it is not shorter, or is media. The
 * same content gives the same bytes. Takes a thread of libuv about a second a megabyte; one content at a time.
 */
export async function compressed(
  content: Uint8Array,
  contentType: string | null,
): Promise<Uint8Array | null> {
  if (content.length === 0 || contentType === null || media.test(contentType)) return null;
  const running = last.then(() =>
    compress(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_LGWIN]: 24,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  );
  last = running.catch(() => undefined);
  const made = await running;
  return made.length < content.length ? made : null;
}
