import { constants } from 'node:zlib';
import compress, { type FastifyCompressOptions } from '@fastify/compress';
import type { FastifyInstance, onSendAsyncHookHandler, onSendHookHandler } from 'fastify';
import { askerOf } from '#http/server/access/asker.ts';
import { payloadAtOnce } from '#http/server/at-once.ts';
import { acceptedEncoding } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { limits } from '#http/server/limits.ts';
import { HeldByClient } from '#kernel/concurrency/held-by-client.ts';
import { compressOnce } from './compress-once.ts';

/**
 * How a route's answers are compressed.
 * - no value: bodies from 1 KiB are compressed.
 * - `stream`: written data is flushed at once, so that an event never waits for the next event.
 * - `once`: the answer depends only on the path and never changes, so it is compressed once.
 * - `none`: for inscribed bytes, which have their own encoding and a strong entity tag.
 */
export type Compression = 'none' | 'once' | 'stream';

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly compression?: Compression;
  }
}

/**
 * Minimum size of a compressed body, in bytes. A smaller body fits into one packet, and the headers of a compressed
 * body would cost more than compression saves.
 */
const thresholdBytes = 1024;
/**
 * Maximum size of a body that is compressed in the event loop, in bytes. This takes 0.3 ms. A larger body is compressed
 * as a stream in libuv's pool, which uses at most four threads for any number of requests. For a smaller body, a stream
 * would take longer than the event loop.
 */
const onEventLoopBytes = 8 * 1024;
/**
 * Compression level. With pages and JSON on one core, brotli 3 compresses 35 to 80 MB/s to 13 to 37 % of the size. Gzip
 * 4 is as fast, and compresses to 16 to 37 %. The usual levels (brotli 4, gzip 6) take 1.5 times as long and save 1 %
 * more of the size.
 */
const brotliQuality = 3;
const gzipLevel = 4;
/**
 * Base-2 logarithm of brotli's window in bytes. This window is large enough for our answers. A stream then takes 0.9 MB
 * of memory; a gzip stream takes 0.2 MB.
 */
const brotliWindow = 18;

const brotliParams = {
  [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
  [constants.BROTLI_PARAM_LGWIN]: brotliWindow,
};

const compressibleTypes =
  /^(?:text\/(?:html|css|csv|javascript|event-stream)|application\/(?:javascript|json|x-ndjson|yaml)|image\/svg\+xml)(?:;|$)/u;

/**
 * Paths of plugins whose routes accept no configuration. Files under these paths never change, so they are compressed
 * once.
 */
const foldersOfFiles = ['/assets/', '/docs/static/'];

const whole: FastifyCompressOptions = {
  encodings: ['br', 'gzip'],
  threshold: thresholdBytes,
  syncThreshold: onEventLoopBytes,
  customTypes: compressibleTypes,
  brotliOptions: { params: brotliParams },
  zlibOptions: { level: gzipLevel },
};

const flushed: FastifyCompressOptions = {
  ...whole,
  brotliOptions: { params: brotliParams, flush: constants.BROTLI_OPERATION_FLUSH },
  zlibOptions: { level: gzipLevel, flush: constants.Z_SYNC_FLUSH },
};

/**
 * Removes the length from answers to HEAD. An uncompressed body has another length than the compressed answer to GET,
 * so HEAD must not state this length (RFC 9110, 8.6).
 */
const withoutPlainLength: onSendAsyncHookHandler = async (request, reply) => {
  if (request.headers['accept-encoding'] !== undefined) reply.removeHeader('content-length');
};

/**
 * Limits how many large answers are compressed at the same time, and sends all other answers uncompressed. Each
 * compressed answer holds the state of its compressor until the client has read the answer. A client may read a stream
 * of events for any time.
 */
function boundCompressed(): onSendHookHandler<unknown> {
  const running = new HeldByClient();
  const { compressedAnswers: total, compressedAnswersEach: each } = limits;
  return (request, reply, payload, done) => {
    const isStreamed =
      payload !== null &&
      payload !== undefined &&
      !(typeof payload === 'string' && payload.length <= onEventLoopBytes / 4) &&
      acceptedEncoding(request.headers['accept-encoding']) !== null;
    if (isStreamed) {
      const { client, whenOut } = askerOf(reply);
      if (running.total >= total || running.of(client) >= each) {
        // this header tells the plugin not to compress the answer
        request.raw.headers['x-no-compression'] = '1';
      } else {
        running.add(client, 1);
        whenOut(() => running.add(client, -1));
      }
    }
    done(null, payload);
  };
}

/**
 * Sends answers as brotli or gzip to clients that accept these encodings. Entity tags stay the same, because our tags
 * are weak and name the answer in any encoding. Call this before the routes are added.
 */
export function compressAnswers(app: FastifyInstance): void {
  // the plugin reads the options of the route, so the hook that sets these options must run first
  const once = compressOnce((type) => compressibleTypes.test(type));
  const bound = boundCompressed();
  app.addHook('onRoute', (route) => {
    const isFile = foldersOfFiles.some((folder) => route.url.startsWith(folder));
    const { compression = isFile ? 'once' : undefined } = route.config ?? {};
    const add = (hook: onSendHookHandler | onSendAsyncHookHandler): void => {
      route.onSend = [route.onSend ?? [], hook].flat() as onSendAsyncHookHandler[];
    };
    if (compression === 'stream') route.compress = flushed;
    if (compression === 'none') route.compress = false;
    else if (route.method === 'HEAD') {
      // compression for HEAD would cost as much as for GET, although no client reads the body
      route.compress = false;
      add(withoutPlainLength);
    } else if (compression === 'once') {
      route.compress = false;
      add(once);
    } else add(bound);
  });
  // every answer needs this header, even a 304 or a short answer, because a cache must not send one client's encoding
  // to another client
  app.addHook(
    'onSend',
    payloadAtOnce((request, reply, payload) => {
      if (request.routeOptions.config.compression !== 'none') varyBy(reply, 'accept-encoding');
      return payload;
    }),
  );
  // request bodies are not decompressed, because our clients do not compress them, and 1 MiB can expand to gigabytes
  app.register(compress, { ...whole, globalDecompression: false });
}
