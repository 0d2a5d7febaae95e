import { constants } from 'node:zlib';
import compress, { type FastifyCompressOptions } from '@fastify/compress';
import type { onSendAsyncHookHandler } from 'fastify';
import type { App } from './app-dependencies.ts';
import { varyBy } from './vary.ts';

/**
 * How a route's answers are compressed. Left out: bodies from 1 KiB on. `stream`: what is written is flushed at once, so that an event
 * never waits for the next one. `none`: bytes that were inscribed, which have an encoding and a strong entity tag of their own.
 */
export type Compression = 'none' | 'stream';

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly compression?: Compression;
  }
}

/** Below it the headers weigh more than what is saved, and an answer fits one packet anyway. */
const thresholdBytes = 1024;
/**
 * Bodies above it are compressed by libuv's pool: four threads at once at most, however many ask. 8 KiB take the event loop 0.3 ms;
 * a stream for so little costs more than that.
 */
const onEventLoopBytes = 8 * 1024;
/**
 * Figures of one core, pages and JSON: brotli 3 compresses 35 to 80 MB/s to 13 to 37 % of the size, gzip 4 as much to 16 to 37 %. The
 * usual levels (brotli 4, gzip 6) take 1.5 times as long for 1 % of the size.
 */
const brotliQuality = 3;
const gzipLevel = 4;
/** Log2 of the bytes that brotli looks back: enough for our answers, and 0.9 MB of memory for a stream (gzip 0.2 MB). */
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

/** The length of the plain body is not that of what GET would send to a client that takes an encoding (RFC 9110, 8.6). */
const withoutPlainLength: onSendAsyncHookHandler = async (request, reply) => {
  if (request.headers['accept-encoding'] !== undefined) reply.removeHeader('content-length');
};

/**
 * Sends answers as brotli or gzip to clients that take it. Entity tags stay as they are: those of our answers are weak, and name the
 * answer whatever its encoding. Call it before the routes.
 */
export function compressAnswers(app: App): void {
  // the plugin reads options of the route itself: this hook must be the first one
  app.addHook('onRoute', (route) => {
    const { compression } = route.config ?? {};
    if (compression === 'none') route.compress = false;
    if (compression === 'stream') route.compress = flushed;
    if (compression !== 'none' && route.method === 'HEAD') {
      route.onSend = [route.onSend ?? [], withoutPlainLength].flat();
    }
  });
  // of every answer, a 304 and one that was too short too: a cache must not give one client's encoding to another
  app.addHook('onSend', async (request, reply) => {
    if (request.routeOptions.config.compression !== 'none') varyBy(reply, 'accept-encoding');
  });
  // bodies of requests are taken as they are: nobody sends compressed ones, and one of 1 MiB can hold gigabytes
  app.register(compress, { ...whole, globalDecompression: false });
}
