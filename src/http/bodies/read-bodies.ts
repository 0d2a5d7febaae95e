import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BodyReader } from '#http/bodies/parsing/body-reader.ts';
import { LargeBodyParser } from '#http/bodies/parsing/large-body-parser.ts';
import { isMediaType, mediaTypes } from '#http/bodies/parsing/media-types.ts';
import { TextListReader } from '#http/bodies/parsing/text-list-reader.ts';
import { WholeBodyReader } from '#http/bodies/parsing/whole-body-reader.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { atOnce } from '#http/server/at-once.ts';
import { BodyRoom } from '#http/server/budgets/body-room.ts';
import { Shares } from '#http/server/budgets/shares.ts';
import { bodyStructure, limits } from '#http/server/limits.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';
import { announcedBytes, announcesBody } from './announced-body.ts';
import { ArrivingBody, type BodiesShared } from './arriving-body.ts';
import type { BodySink } from './body-sink.ts';
import { deferContinue, sendContinue } from './expect-continue.ts';
import { cutSlowBodies } from './slow-bodies.ts';
import { cutSmallChunks } from './small-chunks.ts';

/** The current use of the shared bounds by bodies, and the bounds themselves. */
export interface BodiesUnderWay {
  readonly large: QueueState;
  readonly bytes: QueueState;
}

/** A body whose request has passed all checks of its head. */
interface Admitted {
  readonly body: ArrivingBody;
  readonly reply: FastifyReply;
}

const bodyless: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Reads bodies within the limits of their routes (docs/http.md, "Bodies"). It reads a body only after the `onRequest`
 * hooks for access and rates, so the body of a refused request is never read. Call it before the routes are added.
 */
export function readBodies(
  app: FastifyInstance,
  shutOut: (socket: Socket) => void,
  room: BodyRoom = new BodyRoom(limits.bodyRoom),
): () => BodiesUnderWay {
  const thread = new LargeBodyParser();
  const shared: BodiesShared = { room, places: largePlaces() };
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  app.addHook('onClose', () => thread.close());
  cutSlowBodies(app);
  cutSmallChunks(app, shutOut);
  deferContinue(app);

  const admit = atOnce((request, reply) => {
    // Fastify reads a body of these methods only if it is announced
    if (bodyless.has(request.method) && !announcesBody(request)) return;
    if (!request.is404) refuseEncoded(request, reply);
    const body = new ArrivingBody(askerOf(reply), shared);
    try {
      const { bodyLimit, config } = request.routeOptions;
      body.announce(announcedBytes(request), bodyLimit, config.sink === undefined);
    } catch (error) {
      reply.header('connection', 'close');
      throw error;
    }
    admitted.set(request, { body, reply });
    if (request.routeOptions.config.sink !== undefined) dropNoType(request);
  });
  app.addHook('preParsing', (request, reply, _payload, done) => admit(request, reply, done));

  const readAs = (mediaType: string | null) => async (request: FastifyRequest, payload: IncomingMessage) => {
    // an unknown path is answered without reading the body
    if (request.is404) return undefined;
    // many clients send a content type without a body
    if (request.method === 'DELETE' && !announcesBody(request)) return undefined;
    const { bodyLimit, config } = request.routeOptions;
    const { body, reply } = admitted.get(request) ?? {};
    if (body === undefined || reply === undefined)
      throw new Error('a body is read without the hook that admits it');
    if (config.sink !== undefined) {
      const sink = await config.sink(request, reply);
      sendContinue(request.raw, reply.raw);
      return sunk(sink, () => closingOnError(reply, () => body.pour(payload, sink, bodyLimit)));
    }
    const wanted = mediaTypes[config.body ?? 'json'];
    if (mediaType !== wanted) {
      throw new AppError(
        'media_type_unsupported',
        `the body must be sent with the header content-type: ${wanted}`,
      );
    }
    sendContinue(request.raw, reply.raw);
    const reader = readerOf(request, thread, (bytes) => body.takeRoom(bytes));
    await closingOnError(reply, () => body.read(payload, reader, bodyLimit));
    return body.parse(reader, config.within);
  };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(mediaTypes.json, readAs(mediaTypes.json));
  app.addContentTypeParser(mediaTypes.form, readAs(mediaTypes.form));
  app.addContentTypeParser('*', readAs(null));
  return () => ({ large: shared.places.state, bytes: room.state });
}

/** Refuses a body with a content encoding (RFC 9110, 8.4), because it would be misread. */
function refuseEncoded({ headers }: FastifyRequest, reply: FastifyReply): void {
  const encoding = (headers['content-encoding'] ?? '').trim();
  if (encoding === '' || encoding.toLowerCase() === 'identity') return;
  const shown = encoding.slice(0, shownEncodingChars);
  // The response names the accepted encoding (RFC 9110, 15.5.16). It closes the connection, because the rest of the
  // body may still arrive.
  reply.header('accept-encoding', 'identity').header('connection', 'close');
  throw new AppError(
    'media_type_unsupported',
    `the body must be sent without content-encoding, because ${shown} is not decoded here`,
  );
}
const shownEncodingChars = 40;

function largePlaces(): Shares {
  return new Shares({
    what: 'large bodies',
    total: limits.largeBodies,
    each: limits.largeBodiesEach,
    full: () =>
      new AppError('bodies_busy', 'too many large bodies are being sent; try again in a few seconds'),
  });
}

/** Passes the body to a sink. If anything fails, the sink discards everything. */
async function sunk(sink: BodySink, pour: () => Promise<void>): Promise<unknown> {
  try {
    await pour();
    return await sink.end();
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/**
 * Deletes a content type that is invalid. Fastify would refuse a body with such a type, but accepts a body without a
 * type.
 */
function dropNoType({ raw: { headers } }: FastifyRequest): void {
  if (!isMediaType(headers['content-type'] ?? '')) delete headers['content-type'];
}

/** Closes the connection after an error, because the client may still send the unread body. */
async function closingOnError(reply: FastifyReply, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    reply.header('connection', 'close');
    throw error;
  }
}

function readerOf(
  request: FastifyRequest,
  thread: LargeBodyParser,
  takeRoom: (bytes: number) => void,
): BodyReader {
  const { bodyLimit, config } = request.routeOptions;
  const { body: kind = 'json', longTexts = false, textsMax = limits.hashes } = config;
  if (kind === 'texts') return new TextListReader(textsMax, takeRoom);
  return new WholeBodyReader(announcedBytes(request), {
    kind,
    small: { ...bodyStructure.small, bytes: limits.largeBodyBytes },
    large: bodyLimit > limits.bodyBytes ? bodyStructure.large : null,
    longTexts,
    thread,
    takeRoom,
  });
}
