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
import { errorAnswers } from './answer-schemas.ts';
import type { App } from './app-dependencies.ts';
import { type ErrorForm, type ErrorFormName, errorForms } from './error-forms.ts';
import type { RouteGuard } from './guard.ts';

/** What holds for a path beside its schemas. */
export interface RoutePolicy {
  /** How its errors are answered. */
  readonly errors: ErrorFormName;
  readonly guard: RouteGuard;
  /** Statuses of its errors that not every path of its form has. */
  readonly failures?: readonly number[];
}

declare module 'fastify' {
  // a plugin's own routes have none
  interface FastifyContextConfig extends Partial<RoutePolicy> {}
}

/** What a path is asked and answers; every answer with its status. Errors come from its form. */
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

/** All that there is to a route: nothing of it is decided by looking at a URL. */
export type ApiRoute<Schema extends RouteSchema> = Pick<Options<Schema>, 'url' | 'handler' | 'bodyLimit'> & {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly schema: Schema;
  /** The policy, and what plugins of ours read of a route. */
  readonly config: RoutePolicy & Omit<FastifyContextConfig, keyof RoutePolicy>;
};

/** Adds a route, with what its form answers to errors. */
export function apiRoute<const Schema extends RouteSchema>(app: App, route: ApiRoute<Schema>): void {
  const { schema, config } = route;
  const form: ErrorForm = errorForms[config.errors];
  const response = errorAnswers(form, { ...config, hasBody: schema.body !== undefined }, schema.response);
  const security = needsKey(config.guard) ? [{ key: [] }, {}] : [];
  app.route({ ...route, schema: { ...schema, response, security } } as unknown as Options<RouteSchema>);
}

/** A key is not needed where searches are open, and its limits hold all the same. */
function needsKey(guard: RouteGuard): boolean {
  return typeof guard === 'function' || guard.kind === 'search';
}
