import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type pg from 'pg';
import type { SearchAccess } from '#accounts/search-access.ts';
import type { StoredEventKind } from '#chain/events/stored-event-kind.ts';
import type { InscriptionLookups } from '#chain/inscriptions/inscription-lookups.ts';
import type { CreatorCollections } from '#collections/creator-collections.ts';
import type { FxRates } from '#fx/fx-rates.ts';
import type { DemoPayments } from '#http/demo/demo-payments.ts';
import type { SiteBanner } from '#http/server/answers/site-banner.ts';
import type { TipAnswers } from '#http/server/answers/tip-answers.ts';
import type { BodyRoom } from '#http/server/budgets/body-room.ts';
import type { Budgets } from '#http/server/budgets/budget-bounds.ts';
import type { ContentReads } from '#http/server/budgets/content-reads.ts';
import type { EventLoopLimits } from '#http/server/budgets/pressure.ts';
import type { Operations } from '#http/server/operations.ts';
import type { Inventory } from '#inventory/inventory.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { SearchService } from '#kernel/contracts/search-service.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { CustomerOrders } from '#orders/customers/customer-orders.ts';
import type { PriceSettings } from '#orders/pricing/prices.ts';
import type { SatTracer } from '#sat-ranges/sat-tracer.ts';
import type { TestPayments } from '#test-payments/test-payments.ts';
import type { ShopOrders } from '#tokenpay/shop-orders.ts';
import type { AccountWithdrawals } from '#tokenpay/withdrawing/account-withdrawals.ts';
import type { UtxoReader } from '#utxos/utxo-reader.ts';

/** Dependencies of routes whose answers are read in pieces, or together with answers for other clients. */
export interface PieceDependencies extends AppDependencies {
  readonly contents: ContentReads;
  readonly inscriptions: InscriptionLookups;
}

export interface AppDependencies {
  /** Reads only. */
  readonly pool: pg.Pool;
  /** Reads of contents. Absent: they use the connections of `pool`. */
  readonly contents?: ContentReads;
  /** Folder of stored thumbnails. Absent: each is drawn for its request. */
  readonly thumbnailsFolder?: string | null;
  readonly search: SearchService;
  readonly network: NetworkParameters;
  readonly logger: FastifyBaseLogger;
  /** Health, measurements, and the identity of the process. */
  readonly operations: Operations;
  /** The state of the index in words, for pages. Absent: not shown. */
  readonly banner?: Pick<SiteBanner, 'now' | 'tipHeight'>;
  /** Answers of the current tip. Null: each answer is read from the database. */
  readonly tipAnswers?: TipAnswers | null;
  /** The kinds of events. Absent: only events of inscriptions. */
  readonly eventKinds?: readonly StoredEventKind[];
  /** Raw blocks of the index, for answers that hold transactions. Absent: those answers are 404. */
  readonly blocks?: BlockSource | null;
  /** Who may search, and how often. Absent: all clients may, without limits. */
  readonly access?: SearchAccess | null;
  /** Proxies that are trusted to state a client's address (docs/access.md). Absent: no proxy is trusted. */
  readonly trustedProxies?: readonly string[] | null;
  /** The node, for data that the index lacks. Absent: those answers are 404 (docs/ord-api.md). */
  readonly node?: NodeRpc | null;
  /**
   * The definitions of satributes that are in force now. Absent: the definitions of this version, without data of the
   * chain.
   */
  readonly satributes?: () => SatributeBook;
  /** Sats of outputs on demand, through the node. Absent: those answers are 404. */
  readonly satTracer?: SatTracer | null;
  /** Unspent outputs of addresses. Absent: those answers are 404. */
  readonly utxos?: UtxoReader | null;
  /** The operator's special sats. Absent: there are no special sats for sale. */
  readonly inventory?: Inventory | null;
  /** Orders. Absent: orders can be neither created nor read. */
  readonly orders?: CustomerOrders | null;
  /** Collections of creators. Absent: collections can be neither created nor changed. */
  readonly collections?: CreatorCollections | null;
  /** Orders of shops, paid in runes. Absent: such orders can be neither created nor read. */
  readonly shopOrders?: ShopOrders | null;
  /** Withdrawals of accounts. Null: this service makes no withdrawals. */
  readonly withdrawals?: AccountWithdrawals | null;
  /** Test payments of shops' orders. Absent: test payments are not possible. */
  readonly testPayments?: TestPayments | null;
  /** Payments of a demo. Absent: this is not a demo, or it has no node of its own. */
  readonly demo?: DemoPayments | null;
  /** The origin of this service's public address. Absent: links use the host that the request names. */
  readonly publicOrigin?: string | null;
  /** Reads the prices of coins in dollars; its result is null if they are unknown now. Absent: there are no prices. */
  readonly fxRates?: (() => Promise<FxRates | null>) | null;
  /** The operator's prices of orders. Absent: the published prices. */
  readonly prices?: PriceSettings;
  /** The maximum delay of the event loop. Absent: the delay in `limits`. */
  readonly eventLoop?: EventLoopLimits;
  /** Bounds of what clients may use of the process. An absent bound has its value in `limits`. */
  readonly budgets?: Partial<Budgets>;
  /** Room for large bodies. Absent: the room in `limits`. */
  readonly bodyRoom?: BodyRoom;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
