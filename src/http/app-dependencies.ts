import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type pg from 'pg';
import type { SearchService } from '#kernel/contracts/search-service.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

export interface AppDependencies {
  /** Reads only. */
  readonly pool: pg.Pool;
  readonly search: SearchService;
  readonly network: NetworkParameters;
  readonly logger: FastifyBaseLogger;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
