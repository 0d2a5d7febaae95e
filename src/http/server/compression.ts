import { constants } from 'node:zlib';
import compress, { type FastifyCompressOptions } from '@fastify/compress';
import type { onSendAsyncHookHandler } from 'fastify';
import type { App } from './app-dependencies.ts';
import { varyBy } from './vary.ts';

/**
 * How a route's answers are compressed. Absent: bodies from 1 KiB on. `stream`: written data is flushed at once, so
 * that an event never waits for the next one. `none`: inscribed bytes, which have an encoding and a strong entity tag
 * of their own.
 */
export type Compression = 'none' | 'stream';

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly compression?: Compression;
  }
}

/** Smaller bodies fit into one packet, and the headers would outweigh the gain. */
const thresholdBytes = 1024;
/**
 * Larger bodies are compressed in libuv's pool: at most four threads at once, for any number of requests. 8 KiB take
 * the event loop 0.3 ms; a stream costs more than that for a smaller body.
 */
const onEventLoopBytes = 8 * 1024;
/**
 * Measured on one core with pages and JSON: brotli 3 compresses 35 to 80 MB/s to 13 to 37 % of the size, gzip 4 the
 * same rate to 16 to 37 %. The usual levels (brotli 4, gzip 6) take 1.5 times as long and save 1 % more of the size.
 */
const brotliQuality = 3;
const gzipLevel = 4;
/** Log2 of brotli's window in bytes: large enough for our answers, at 0.9 MB of memory a stream (gzip 0.2 MB). */
const brotliWindow = 18;

const brotliParams = {
  [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
  [constants.BROTLI_PARAM_LGWIN]: brotliWindow,
};

const whole: FastifyCompressOptions = {
  encodings: ['br', 'gzip'],
  threshold: thresholdBytes,
  syncThreshold: onEventLoopBytes,
  customTypes:
    /^(?:text\/(?:html|css|javascript|event-stream)|application\/(?:json|x-ndjson|yaml)|image\/svg\+xml)(?:;|$)/u,
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
 * Sends answers as brotli or gzip to clients that accept it. Entity tags stay the same: ours are weak, and name the
 * answer in any encoding. Call it before the routes.
 */
export function compressAnswers(app: App): void {
  // the plugin reads options of the route itself, so this hook must be the first one
  app.addHook('onRoute', (route) => {
    const { compression } = route.config ?? {};
    if (compression === 'none') route.compress = false;
    if (compression === 'stream') route.compress = flushed;
    if (compression !== 'none' && route.method === 'HEAD') {
      // compressing what nobody gets would cost as much as an answer
      route.compress = false;
      route.onSend = [route.onSend ?? [], withoutPlainLength].flat();
    }
  });
  // on every answer, a 304 and short ones too: a cache must not give one client's encoding to another
  app.addHook('onSend', async (request, reply) => {
    if (request.routeOptions.config.compression !== 'none') varyBy(reply, 'accept-encoding');
  });
  // request bodies are not decompressed: no client of ours compresses them, and 1 MiB can expand to gigabytes
  app.register(compress, { ...whole, globalDecompression: false });
}
