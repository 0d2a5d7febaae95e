import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { proxyTest } from '#accounts/trusted-proxies.ts';
import { answerIsMade, askerOf } from '#http/server/access/asker.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import { Turns } from '#kernel/concurrency/turns.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Metrics } from '#kernel/reports/metrics.ts';
import { atOnce, payloadAtOnce } from '../at-once.ts';
import { limits } from '../limits.ts';
import { bytesOfAnswer, textInPieces, withoutBody } from './answer-pieces.ts';
import { type Budgets, usualBudgets } from './budget-bounds.ts';
import { Connections, closingMax } from './connections.ts';
import { Leavers } from './leavers.ts';
import { inTurn } from './pipelining.ts';
import { type ReadingPace, SlowReaders } from './slow-readers.ts';
import { UnsentBytes } from './unsent-bytes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * True if the route's answers can have megabytes. Such an answer is not started while unsent answers take much
     * memory.
     */
    readonly answersLarge?: boolean;
    /**
     * Whether the route takes the event loop or the database tens of milliseconds. A function decides by the query. If
     * this is absent, the value of `answersLarge` applies, because large answers always take that long.
     */
    readonly isDear?: boolean | ((query: Readonly<Record<string, unknown>>) => boolean);
    /**
     * Whether one read serves this request and other requests together. Such a request holds no database connection, so
     * it does not wait for other requests.
     */
    readonly isReadTogether?: (request: FastifyRequest) => boolean;
  }
}

/**
 * How often slow readers are searched among the connections, in ms. Once per second is enough, because rates are
 * measured over several seconds.
 */
const lookEveryMs = 1_000;

interface BudgetParts {
  readonly metrics: Metrics;
  /**
   * IP addresses of proxies. Their connections are not limited by IP address, because each proxy speaks for many
   * clients.
   */
  readonly trustedProxies: readonly string[];
  readonly budgets?: Partial<Budgets> | undefined;
}

/** Functions of the budgets that other rules for requests use. */
export interface KeptBudgets {
  /** Refuses new connections from the client of a connection for a second. */
  readonly shutOut: (socket: Socket) => void;
}

/**
 * Limits each client to its share of the process. The share has connections, requests being answered, and bytes of
 * answers that the client has not received (docs/http.md, "Budgets"). Call this before adding compression and routes.
 */
export function keepBudgets(
  app: FastifyInstance,
  { metrics, trustedProxies, budgets }: BudgetParts,
): KeptBudgets {
  const bounds = { ...usualBudgets, ...budgets };
  const unsent = new UnsentBytes({ total: bounds.unsentBytes, each: bounds.unsentBytesEach });
  metrics.watchQueue('unsent bytes', () => unsent.state);
  boundRequests(app, bounds, metrics);
  boundAnswers(app, unsent);
  const connections = boundConnections(app, bounds, proxyTest(trustedProxies));
  const slowReaders = cutSlowReaders(app, connections, () =>
    unsent.isPressed ? bounds.pressedPace : bounds.pace,
  );
  watchConnections(metrics, connections, slowReaders);
  return { shutOut: (socket) => connections.shutOut(socket) };
}

/**
 * Makes a client's requests wait for each other if they exceed its share, so that the event loop and the database have
 * time for other clients. A request counts only after its body is read, so no other request waits for a slow upload.
 */
function boundRequests(app: FastifyInstance, bounds: Budgets, metrics: Metrics): void {
  const { requests: running, requestsEach: each, requestWaitMs: waitMs } = bounds;
  const { dearRequestsBesideOthers: eachBesideOthers, requestsWaiting: waiting } = limits;
  const bound = { running, each, waiting, waitMs, refusal: tooMany };
  const gate = new FairGate(bound);
  const dear = new FairGate({ ...bound, eachBesideOthers });
  metrics.watchQueue('requests', () => gate.state);
  metrics.watchQueue('requests being answered', () => gate.places);
  metrics.watchQueue('dear requests', () => dear.state);
  const turns = new Turns(limits.requestsATurn);
  const leavers = new Leavers();
  app.addHook('onRequest', (_request, reply, done) => {
    watchForLeaving(leavers, reply);
    const turn = turns.enter(askerOf(reply).client);
    if (turn === undefined) done();
    else void turn.then(() => done());
  });
  app.addHook('preValidation', async (request, reply) => {
    const { answersUnderPressure, answersLarge = false, isDear = answersLarge } = request.routeOptions.config;
    const { isReadTogether } = request.routeOptions.config;
    const asker = askerOf(reply);
    // wait here, before the request counts in the limits, before a schema is compiled and before the database is used
    await leavers.wait(asker);
    if (answersUnderPressure === true) return;
    // the expensive requests of one client delay the cheap requests of other clients, so the gate must know all clients
    dear.sees(asker.client);
    const query = request.query as Readonly<Record<string, unknown>>;
    // enter this gate first, because a request that waits here does not count against its client's cheap requests
    if (typeof isDear === 'function' ? isDear(query) : isDear) asker.whenMade(await dear.enter(asker));
    if (isReadTogether?.(request) !== true) asker.whenMade(await gate.enter(asker));
  });
}

/**
 * Reports the end of a request to `leavers`. If the client left before the answer began, also reports how long the
 * client stayed.
 */
function watchForLeaving(leavers: Leavers, reply: FastifyReply): void {
  const { raw } = reply;
  const { client } = askerOf(reply);
  const sinceMs = performance.now();
  raw.once('close', () => {
    // a client that has read a part of a stream or of a long answer was served
    const isLeft = !raw.headersSent && !raw.writableEnded;
    leavers.ended(client, isLeft ? performance.now() - sinceMs : null);
  });
}

/**
 * Reports the client of every request to the given gates. A gate otherwise knows only the clients that enter it, but
 * its work also delays the requests of other clients.
 */
export function tellOfClients(app: FastifyInstance, gates: readonly Pick<FairGate, 'sees'>[]): void {
  app.addHook(
    'preValidation',
    atOnce((request, reply) => {
      if (request.routeOptions.config.answersUnderPressure === true) return;
      for (const gate of gates) gate.sees(askerOf(reply).client);
    }),
  );
}

function tooMany(): AppError {
  return new AppError('overloaded', 'there are too many requests at once; try again in a few seconds');
}

/**
 * Counts large answers from the time when they are made until they are sent. Sends large texts in pieces. If a client
 * does not receive such an answer, the answer is in memory only once, and not also in the buffers of the connection.
 */
function boundAnswers(app: FastifyInstance, unsent: UnsentBytes): void {
  app.addHook(
    'preHandler',
    atOnce((request, reply) => {
      const { answersUnderPressure = false, answersLarge = false } = request.routeOptions.config;
      if (!answersUnderPressure) unsent.check(askerOf(reply), answersLarge);
    }),
  );
  app.addHook(
    'onSend',
    payloadAtOnce((request, reply, payload) => {
      try {
        if (request.method === 'HEAD') return withoutBody(payload);
        const bytes = bytesOfAnswer(payload);
        if (bytes <= limits.smallAnswerBytes) return payload;
        const asker = askerOf(reply);
        unsent.hold(asker, bytes);
        if (typeof payload !== 'string') return payload;
        reply.header('content-length', Buffer.byteLength(payload));
        return textInPieces(payload, asker.client);
      } finally {
        answerIsMade(reply);
      }
    }),
  );
}

function boundConnections(
  app: FastifyInstance,
  { connections: total, connectionsEach: each }: Budgets,
  isProxy: (address: string) => boolean,
): Connections {
  const { server } = app;
  const connections = new Connections({ total, each, isProxy });
  // Node also counts connections that are refused or being closed, and closes each connection above this number
  server.maxConnections = total + closingMax + limits.connectionsClosing;
  const openers = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (connections.accept(socket)) for (const opener of openers) opener.call(server, socket);
  });
  const handlers = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  const refuse = (socket: Socket): void => {
    connections.shutOut(socket);
    socket.destroy();
  };
  for (const handle of handlers) server.on('request', inTurn(handle, refuse));
  server.prependListener('request', (request, response) => connections.begin(request, response));
  return connections;
}

/** Number of connections that were closed because their clients did not receive their answers. */
interface SlowCounts {
  cut: number;
}

function cutSlowReaders(
  app: FastifyInstance,
  connections: Connections,
  paceNow: () => ReadingPace,
): SlowCounts {
  const readers = new SlowReaders();
  const counts: SlowCounts = { cut: 0 };
  const timer = setInterval(() => {
    for (const socket of readers.find(connections.sockets(), paceNow())) {
      counts.cut++;
      socket.destroy();
    }
  }, lookEveryMs);
  timer.unref();
  app.addHook('onClose', async () => clearInterval(timer));
  return counts;
}

function watchConnections(metrics: Metrics, connections: Connections, slowReaders: SlowCounts): void {
  metrics.read({
    name: 'satscribe_http_connections',
    help: 'Open connections of clients',
    values: () => [{ value: connections.length }],
  });
  metrics.read({
    name: 'satscribe_http_connections_limit',
    help: 'The maximum number of open connections',
    values: () => [{ value: connections.limit }],
  });
  metrics.read({
    name: 'satscribe_http_connections_ended',
    help: 'Connections since the start that were refused, that were idle and closed to make space, or that were closed because the client did not receive its answers',
    labels: ['why'],
    values: () => [
      { labels: { why: 'refused' }, value: connections.counts.refused },
      { labels: { why: 'idle' }, value: connections.counts.closedIdle },
      { labels: { why: 'slow' }, value: slowReaders.cut },
    ],
  });
}
