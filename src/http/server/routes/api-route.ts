import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifySchema,
  RawServerDefault,
  RouteGenericInterface,
  RouteOptions,
} from 'fastify';
import type { TSchema } from 'typebox';
import { anyMediaType, mediaTypes } from '#http/bodies/parsing/media-types.ts';
import type { RouteGuard } from '#http/server/access/guard.ts';
import { type ErrorForm, type ErrorFormName, errorForms } from '#http/server/errors/error-forms.ts';
import { errorAnswers } from './answer-schemas.ts';
import type { App } from './app-dependencies.ts';

/** The policy of a path. It has everything except the path's schemas. */
export interface RoutePolicy {
  /** The form of the path's errors. */
  readonly errors: ErrorFormName;
  readonly guard: RouteGuard;
  /** Error statuses of this path in addition to those of its form. */
  readonly failures?: readonly number[];
  /**
   * `false` if pages of other origins cannot read the answers. Absent if all pages can (ADR 64). @fastify/cors reads
   * this.
   */
  readonly cors?: false;
}

declare module 'fastify' {
  // routes of third-party plugins have no policy
  interface FastifyContextConfig extends Partial<RoutePolicy> {}
}

/**
 * The schemas of a path's parameters and body, and of its answers by status. The schemas of errors come from the form.
 */
export interface RouteSchema extends FastifySchema {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly [string, ...string[]];
  readonly querystring?: TSchema;
  readonly params?: TSchema;
  readonly body?: TSchema;
  readonly response: Readonly<Record<number, unknown>>;
}

type Options<Schema extends RouteSchema> = RouteOptions<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  RouteGenericInterface,
  unknown,
  Schema,
  TypeBoxTypeProvider,
  FastifyBaseLogger
>;

/** The complete definition of a route. Nothing depends on its URL. */
export type ApiRoute<Schema extends RouteSchema> = Pick<Options<Schema>, 'url' | 'handler' | 'bodyLimit'> & {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly schema: Schema;
  /** The policy, and the options that our plugins read. */
  readonly config: RoutePolicy & Omit<FastifyContextConfig, keyof RoutePolicy>;
};

/** Adds a route, with the error answers of its form. */
export function apiRoute<const Schema extends RouteSchema>(app: App, route: ApiRoute<Schema>): void {
  const { schema, config } = route;
  const form: ErrorForm = errorForms[config.errors];
  const response = errorAnswers(form, { ...config, hasBody: schema.body !== undefined }, schema.response);
  const security = needsKey(config.guard)
    ? [{ key: [] }, { bearer: [] }, ...unlessRequired(config.guard)]
    : [];
  const consumes = [config.sink === undefined ? mediaTypes[config.body ?? 'json'] : anyMediaType];
  app.route({
    ...route,
    schema: { ...schema, response, security, consumes },
  } as unknown as Options<RouteSchema>);
}

/**
 * Adds an entry for requests without a key. Searches are the only scope that may be open. A key is optional for them,
 * but its limits apply.
 */
const unlessRequired = (guard: RouteGuard): object[] =>
  typeof guard !== 'function' &&
  (guard.kind === 'owned' || (guard.kind === 'scope' && guard.scope !== 'search'))
    ? []
    : [{}];

const keyedKinds: readonly string[] = ['scope', 'owned', 'page', 'keyed'];

const needsKey = (guard: RouteGuard): boolean =>
  typeof guard === 'function' || keyedKinds.includes(guard.kind);
