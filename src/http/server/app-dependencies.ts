import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type pg from 'pg';
import type { SearchAccess } from '#accounts/search-access.ts';
import type { StoredEventKind } from '#chain/events/stored-event-kind.ts';
import type { Operations } from '#http/operations/operations.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { SearchService } from '#kernel/contracts/search-service.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { EventLoopLimits } from './pressure.ts';

export interface AppDependencies {
  /** Reads only. */
  readonly pool: pg.Pool;
  readonly search: SearchService;
  readonly network: NetworkParameters;
  readonly logger: FastifyBaseLogger;
  /** Health, measurements, and what the process is. */
  readonly operations: Operations;
  /** The kinds of events that there are; without them those of inscriptions alone. */
  readonly eventKinds?: readonly StoredEventKind[];
  /** Raw blocks of what is indexed, for answers that hold transactions; without it those are 404. */
  readonly blocks?: BlockSource | null;
  /** Who may search, and how often; without it everybody may, as often as they like. */
  readonly access?: SearchAccess | null;
  /** Whom to believe where a request comes from (docs/access.md); without it nobody. */
  readonly trustedProxies?: readonly string[] | null;
  /** The node, for what the index does not have; without it that is 404 (docs/ord-api.md). */
  readonly node?: NodeRpc | null;
  /** How far behind the event loop may be; left out: `limits` says it. */
  readonly eventLoop?: EventLoopLimits;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
