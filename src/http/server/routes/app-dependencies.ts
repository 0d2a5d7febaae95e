import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type pg from 'pg';
import type { SearchAccess } from '#accounts/search-access.ts';
import type { StoredEventKind } from '#chain/events/stored-event-kind.ts';
import type { InscriptionLookups } from '#chain/inscriptions/inscription-lookups.ts';
import type { CreatorCollections } from '#collections/creator-collections.ts';
import type { OperatorConsole } from '#console/operator-console.ts';
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
import type { KeyWatches } from '#watches/key-watches.ts';

/** Dependencies of routes whose answers are read in pieces, or together with answers for other clients. */
export interface PieceDependencies extends AppDependencies {
  readonly contents: ContentReads;
  readonly inscriptions: InscriptionLookups;
}

export interface AppDependencies {
  /** Reads only. */
  readonly pool: pg.Pool;
  /** Reads of contents. If absent, reads of contents use the connections of `pool`. */
  readonly contents?: ContentReads;
  /** Folder of stored thumbnails. If absent, each thumbnail is drawn for its request. */
  readonly thumbnailsFolder?: string | null;
  readonly search: SearchService;
  readonly network: NetworkParameters;
  readonly logger: FastifyBaseLogger;
  /** Health, measurements, and the identity of the process. */
  readonly operations: Operations;
  /** The state of the index in words, for pages. If absent, pages do not show the state. */
  readonly banner?: Pick<SiteBanner, 'now' | 'tipHeight'>;
  /** Answers for the current tip. If this is null, each answer is read from the database. */
  readonly tipAnswers?: TipAnswers | null;
  /** The kinds of events. If absent, there are only events of inscriptions. */
  readonly eventKinds?: readonly StoredEventKind[];
  /** Raw blocks of the index, for answers that contain transactions. If absent, such answers are 404. */
  readonly blocks?: BlockSource | null;
  /** Rules for who may search, and how often. If absent, all clients may search without limits. */
  readonly access?: SearchAccess | null;
  /** Proxies that are trusted to state a client's IP address (docs/access.md). If absent, no proxy is trusted. */
  readonly trustedProxies?: readonly string[] | null;
  /** The node, for data that the index lacks. If absent, answers with such data are 404 (docs/ord-api.md). */
  readonly node?: NodeRpc | null;
  /**
   * The current definitions of satributes. If absent, the definitions of this version are used, without data of the
   * chain.
   */
  readonly satributes?: () => SatributeBook;
  /** Finds sats of outputs on demand, through the node. If absent, answers with such sats are 404. */
  readonly satTracer?: SatTracer | null;
  /** Unspent outputs of addresses. If absent, answers with such outputs are 404. */
  readonly utxos?: UtxoReader | null;
  /** The operator's special sats. If absent, there are no special sats for sale. */
  readonly inventory?: Inventory | null;
  /** Orders. If absent, orders can be neither created nor read. */
  readonly orders?: CustomerOrders | null;
  /** Collections of creators. If absent, collections can be neither created nor changed. */
  readonly collections?: CreatorCollections | null;
  /** Orders of shops, which are paid in runes. If absent, such orders can be neither created nor read. */
  readonly shopOrders?: ShopOrders | null;
  /** Withdrawals of accounts. If this is null, the service makes no withdrawals. */
  readonly withdrawals?: AccountWithdrawals | null;
  /** Test payments of shops' orders. If absent, test payments are not possible. */
  readonly testPayments?: TestPayments | null;
  /** Saved searches and other watches of keys. Null: this process keeps no watches. */
  readonly watches?: KeyWatches | null;
  /** The operator's console. Null: this process does not serve it. */
  readonly console?: OperatorConsole | null;
  /** Payments of a demo. Absent if this is not a demo, or if the demo has no node of its own. */
  readonly demo?: DemoPayments | null;
  /** The origin of this service's public URL. If absent, links use the host that the request names. */
  readonly publicOrigin?: string | null;
  /**
   * Reads the prices of coins in dollars. The result is null if the prices are currently unknown. If absent, there are
   * no prices.
   */
  readonly fxRates?: (() => Promise<FxRates | null>) | null;
  /** The operator's prices of orders. If absent, the published prices apply. */
  readonly prices?: PriceSettings;
  /** The maximum delay of the event loop. If absent, the delay in `limits` applies. */
  readonly eventLoop?: EventLoopLimits;
  /** Bounds of how much clients may use of the process. For an absent bound, the value in `limits` applies. */
  readonly budgets?: Partial<Budgets>;
  /** Room for large bodies. If absent, the room in `limits` applies. */
  readonly bodyRoom?: BodyRoom;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
