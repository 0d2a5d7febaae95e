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
 * - Absent: bodies from 1 KiB are compressed.
 * - `stream`: written data is flushed at once, so that an event never waits for the next one.
 * - `once`: the answer depends only on the path and never changes, so it is compressed once.
 * - `none`: for inscribed bytes, which have an encoding and a strong entity tag of their own.
 */
export type Compression = 'none' | 'once' | 'stream';

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly compression?: Compression;
  }
}

/**
 * Minimum size of a compressed body. A smaller body fits into one packet, and its headers would cost more than
 * compression saves.
 */
const thresholdBytes = 1024;
/**
 * Maximum size of a body that is compressed in the event loop, which takes 0.3 ms. A larger body is compressed as a
 * stream in libuv's pool, which uses at most four threads for any number of requests. For a smaller body, a stream
 * would take longer than the event loop.
 */
const onEventLoopBytes = 8 * 1024;
/**
 * Compression level. Measured on one core with pages and JSON: brotli 3 compresses 35 to 80 MB/s, to 13 to 37 % of the
 * size. Gzip 4 is as fast, and compresses to 16 to 37 %. The usual levels (brotli 4, gzip 6) take 1.5 times as long and
 * save 1 % more of the size.
 */
const brotliQuality = 3;
const gzipLevel = 4;
/**
 * Log2 of brotli's window in bytes. It is large enough for our answers, and a stream then takes 0.9 MB of memory (gzip:
 * 0.2 MB).
 */
const brotliWindow = 18;

const brotliParams = {
  [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
  [constants.BROTLI_PARAM_LGWIN]: brotliWindow,
};

const compressibleTypes =
  /^(?:text\/(?:html|css|csv|javascript|event-stream)|application\/(?:javascript|json|x-ndjson|yaml)|image\/svg\+xml)(?:;|$)/u;

/** Paths of plugins whose routes take no configuration. Their files never change, so they are compressed once. */
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

/** The plain body's length differs from that of a compressed GET, so HEAD must not state it (RFC 9110, 8.6). */
const withoutPlainLength: onSendAsyncHookHandler = async (request, reply) => {
  if (request.headers['accept-encoding'] !== undefined) reply.removeHeader('content-length');
};

/**
 * Limits how many large answers are compressed at the same time, and sends the others uncompressed. Each answer holds
 * the state of its compressor until its client has read it, and a client may read a stream of events for any time.
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
 * Sends answers as brotli or gzip to clients that accept these encodings. Entity tags stay the same, because ours are
 * weak and name the answer in any encoding. Call this before the routes are added.
 */
export function compressAnswers(app: FastifyInstance): void {
  // the plugin reads the options of the route, so this hook must run first
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
      // compressing a body that no client reads would cost as much as an answer to GET
      route.compress = false;
      add(withoutPlainLength);
    } else if (compression === 'once') {
      route.compress = false;
      add(once);
    } else add(bound);
  });
  // every answer needs it, also 304 and short answers: a cache must not give one client's encoding to another client
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
