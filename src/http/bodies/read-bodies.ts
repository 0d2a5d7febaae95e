import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { App } from '#http/server/app-dependencies.ts';
import { limits } from '#http/server/limits.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { BodyBlocks, joinBlocks } from './body-blocks.ts';
import { BodyRoom, type HeldRoom } from './body-room.ts';
import { deferContinue, sendContinue } from './expect-continue.ts';
import { LargeBodyParser } from './large-body-parser.ts';
import { mediaTypes } from './media-types.ts';
import { parseBody } from './parse-body.ts';
import { cutSlowBodies } from './slow-bodies.ts';

/** A body being read. */
interface Reading {
  readonly room: HeldRoom;
  readonly response: ServerResponse;
  /** Resolves when the body is no longer being parsed. */
  parsing: Promise<unknown>;
}

/**
 * Reads bodies within the limits of their routes (docs/http.md, "Bodies"). It runs after the `onRequest` hooks for
 * access and rates, so no body of a refused request is read. Call it before the routes.
 */
export function readBodies(app: App, room: BodyRoom = new BodyRoom(limits.largeBodiesBytes)): void {
  const largeBodies = new LargeBodyParser();
  const readings = new WeakMap<FastifyRequest, Reading>();
  app.addHook('onClose', () => largeBodies.close());
  cutSlowBodies(app);
  deferContinue(app);

  app.addHook('preParsing', async (request, reply) => {
    const reading: Reading = { room: room.hold(), response: reply.raw, parsing: Promise.resolve() };
    const bytes = lengthOf(request);
    try {
      if (bytes > request.routeOptions.bodyLimit) throw tooLarge();
      if (bytes > limits.largeBodyBytes) reading.room.grow(bytes);
    } catch (error) {
      // the client may still send the unread body
      reply.header('connection', 'close');
      throw error;
    }
    readings.set(request, reading);
    // the response closes in every case: answered, cut or failed. A thread may keep the bytes longer
    reply.raw.once('close', () => void reading.parsing.finally(() => reading.room.release()));
  });

  const readAs = (mediaType: string | null) => async (request: FastifyRequest, payload: IncomingMessage) => {
    // an unknown path is reported without reading the body
    if (request.is404) return undefined;
    const { body: kind = 'json', longTexts = false } = request.routeOptions.config;
    if (mediaType !== mediaTypes[kind]) {
      throw new AppError(
        'media_type_unsupported',
        `the body must be sent with content-type: ${mediaTypes[kind]}`,
      );
    }
    const reading = readings.get(request);
    if (reading === undefined) throw new Error('a body is read behind the hook that makes room for it');
    sendContinue(request.raw, reading.response);
    const body = await readBlocks(request, payload, reading.room);
    const isLarge = body.byteLength > limits.largeBodyBytes;
    const blocks = body.blocks();
    const parsing = isLarge
      ? largeBodies.parse({ kind, blocks, longTexts })
      : Promise.resolve(parseBody(kind, joinBlocks(blocks)));
    reading.parsing = parsing.catch(() => undefined);
    const parsed = await parsing;
    if (!parsed.ok) throw new AppError('request_invalid', parsed.message);
    return parsed.value;
  };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(mediaTypes.json, readAs(mediaTypes.json));
  app.addContentTypeParser(mediaTypes.form, readAs(mediaTypes.form));
  app.addContentTypeParser('*', readAs(null));
}

const tooLarge = (): AppError => new AppError('body_too_large', 'the body is larger than this path accepts');

/** The length that a request announces for its body; 0 without one: its chunks are counted. */
function lengthOf({ headers }: FastifyRequest): number {
  return Number(headers['content-length'] ?? 0);
}

/** The bytes of a body. Throws `body_too_large`, `bodies_busy`, and `request_invalid` if it ends early. */
async function readBlocks(
  request: FastifyRequest,
  payload: IncomingMessage,
  room: HeldRoom,
): Promise<BodyBlocks> {
  const { bodyLimit } = request.routeOptions;
  const expected = lengthOf(request);
  const body = new BodyBlocks(expected);
  // a body whose length is known has its room already
  let held = expected > limits.largeBodyBytes ? expected : 0;
  try {
    // by default, a loop that ends early would close the connection, and the answer with it
    const read = payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    for await (const chunk of read) {
      const length = body.byteLength + chunk.byteLength;
      if (length > bodyLimit) throw tooLarge();
      if (length > limits.largeBodyBytes && length > held) {
        room.grow(length - held);
        held = length;
      }
      body.append(chunk);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('request_invalid', 'the body ended before it was complete', {}, error);
  }
  return body;
}
