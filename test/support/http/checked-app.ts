import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { buildApp } from '#http/app.ts';
import type { EventLoopLimits } from '#http/server/budgets/pressure.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';

/**
 * Limits for the event loop that never refuse a request: 0 means no limit. A loaded machine delays the event loop of a
 * test for seconds. A span without a measurement counts as longer than every limit. Only the test of overload itself
 * needs a limit.
 */
const patient: EventLoopLimits = { eventLoopDelayMs: 0, eventLoopSampleMs: 5000 };
/**
 * How long a request may wait, in ms. Some tests send a thousand requests at once, which wait for each other longer
 * than a client would.
 */
const requestWaitMs = 600_000;

/**
 * The app that checks every response against the schemas of its route. A status, content type or JSON that the
 * definition does not allow fails the test when it closes the app.
 */
export function buildCheckedApp(deps: AppDependencies): App {
  const app = buildApp({ eventLoop: patient, ...deps, budgets: { requestWaitMs, ...deps.budgets } });
  const faults: string[] = [];
  app.addHook('onSend', async (request, reply, payload) => {
    const answer = documentedFor(request, reply);
    // compression does not change the body, so compressed responses are not checked
    if (answer === null || reply.hasHeader('content-encoding')) return payload;
    if (Number(reply.getHeader('content-length') ?? 0) > checkedBytesMax) return payload;
    const given = await readWhole(answer, reply, payload);
    const fault = faultIn(answer, request, reply, given);
    if (fault !== null) faults.push(`${request.method} ${request.url.slice(0, 200)}: ${fault}`);
    return given;
  });
  app.addHook('onClose', async () => {
    if (faults.length > 0)
      throw new Error(`answers that differ from their routes' definitions:\n${faults.join('\n')}`);
  });
  return app;
}

/** Maximum size of a checked response, in bytes. A pattern cannot be tested on a text of tens of megabytes. */
const checkedBytesMax = 8_000_000;

/** Joins JSON that is sent in pieces. Returns other payloads unchanged. */
async function readWhole(answer: Documented, reply: FastifyReply, payload: unknown): Promise<unknown> {
  const isJson =
    mediaTypeOf(reply) === json && (answer.content === undefined || answer.content[json] !== undefined);
  return isJson && payload instanceof Readable ? text(payload) : payload;
}

const json = 'application/json';

function mediaTypeOf(reply: FastifyReply): string {
  return String(reply.getHeader('content-type') ?? '')
    .split(';', 1)[0]!
    .trim();
}

interface Documented {
  readonly content?: Readonly<Record<string, { readonly schema: TSchema }>>;
  readonly type?: string;
}

/**
 * The route's definition of the status. `null` for files of plugins, unknown paths and refused methods, which have no
 * definition.
 */
function documentedFor({ routeOptions }: FastifyRequest, { statusCode }: FastifyReply): Documented | null {
  const { config, schema } = routeOptions;
  if (config.errors === undefined || schema?.response === undefined) return null;
  return (schema.response as Readonly<Record<number, Documented>>)[statusCode] ?? {};
}

function faultIn(
  answer: Documented,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): string | null {
  if (Object.keys(answer).length === 0) return `status ${reply.statusCode} is not documented`;
  if (payload === undefined || payload === null || payload === '' || request.method === 'HEAD') return null;
  if (answer.type === 'null') return `status ${reply.statusCode} has a body`;
  const mediaType = mediaTypeOf(reply);
  const documented = answer.content ?? { [json]: { schema: answer as TSchema } };
  const found = documented[mediaType];
  if (found !== undefined) return mediaType === json ? jsonFault(found.schema, payload) : null;
  return documented['*/*'] === undefined
    ? `${mediaType} is not documented for status ${reply.statusCode}`
    : null;
}

const validators = new WeakMap<TSchema, Validator>();

function jsonFault(schema: TSchema, payload: unknown): string | null {
  let validator = validators.get(schema);
  if (validator === undefined) {
    validator = Compile(schema);
    validators.set(schema, validator);
  }
  const value: unknown = JSON.parse(payload as string);
  if (validator.Check(value)) return null;
  const [error] = validator.Errors(value);
  return `does not match its schema: ${error?.instancePath ?? ''} ${error?.message ?? ''}: ${(payload as string).slice(0, 200)}`;
}
