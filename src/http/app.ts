import cors from '@fastify/cors';
import fastify, { type FastifyReply, LogController } from 'fastify';
import { proxyTest } from '#accounts/trusted-proxies.ts';
import { InscriptionLookups } from '#chain/inscriptions/inscription-lookups.ts';
import { readBodies } from '#http/bodies/read-bodies.ts';
import { allocationRoutes } from '#http/collections/allocation.routes.ts';
import { collectionRoutes } from '#http/collections/collection.routes.ts';
import { collectionCreationRoutes } from '#http/collections/creation.routes.ts';
import { mintPageRoutes } from '#http/collections/mint-page.routes.ts';
import { collectionPhasesRoutes } from '#http/collections/phases.routes.ts';
import { consoleRoutes } from '#http/console/console.routes.ts';
import { contentRoutes } from '#http/content/content.routes.ts';
import { previewRoutes } from '#http/content/preview.routes.ts';
import { demoRoutes } from '#http/demo/demo.routes.ts';
import { EventStreams } from '#http/events/event-streams.ts';
import { eventsRoutes } from '#http/events/events.routes.ts';
import { blocksFeedRoutes } from '#http/feeds/blocks-feed.routes.ts';
import { searchFeedRoutes } from '#http/feeds/search-feed.routes.ts';
import { addressRoutes } from '#http/lists/address.routes.ts';
import { inscriptionsRoutes } from '#http/lists/inscriptions.routes.ts';
import { transfersRoutes } from '#http/lists/transfers.routes.ts';
import { marketRoutes } from '#http/market/market.routes.ts';
import { salesRoutes } from '#http/market/sales/sales.routes.ts';
import { addressUtxosRoutes } from '#http/mempool/address-utxos.routes.ts';
import { feesRoutes } from '#http/mempool/fees.routes.ts';
import { mempoolRoutes } from '#http/mempool/mempool.routes.ts';
import type { DaySamples } from '#http/operations/day-samples.ts';
import { measureRequests, metricsRoutes } from '#http/operations/metrics.routes.ts';
import { sampleDay } from '#http/operations/sample-day.ts';
import { statusRoutes } from '#http/operations/status.routes.ts';
import { undelegatedRoute } from '#http/ord/inscriptions/recursive.routes.ts';
import { ordRoutes } from '#http/ord/ord.routes.ts';
import { satReadsRoutes } from '#http/ord/sats/sats.routes.ts';
import { creationRoutes } from '#http/orders/creation.routes.ts';
import { orderRoutes } from '#http/orders/order.routes.ts';
import { orderEventsRoutes } from '#http/orders/order-events.routes.ts';
import { orderFilesRoutes } from '#http/orders/order-files.routes.ts';
import { priceRoutes } from '#http/orders/price.routes.ts';
import { referralsRoutes } from '#http/orders/referrals.routes.ts';
import { uploadsRoutes } from '#http/orders/uploads.routes.ts';
import { assetsRoutes } from '#http/pages/assets.routes.ts';
import { pageRoutes } from '#http/pages/page.routes.ts';
import { picturesRoutes } from '#http/pictures/pictures.routes.ts';
import { psbtRoutes } from '#http/psbts/psbt.routes.ts';
import { describeRoutes } from '#http/reference/openapi.ts';
import { referenceRoutes } from '#http/reference/reference.routes.ts';
import { activityRoutes } from '#http/runes/activity.routes.ts';
import { addressRunesRoutes } from '#http/runes/address-runes.routes.ts';
import { holdersRoutes } from '#http/runes/holders.routes.ts';
import { runeNameRoutes } from '#http/runes/name.routes.ts';
import { inventoryRoutes } from '#http/sats/inventory.routes.ts';
import { outputSatsRoutes } from '#http/sats/output-sats.routes.ts';
import { satextractorRoutes } from '#http/sats/satextractor.routes.ts';
import { satributesRoutes } from '#http/sats/satributes.routes.ts';
import { satscannerRoutes } from '#http/sats/satscanner.routes.ts';
import { bareTarget } from '#http/search/resolving/ord-targets.ts';
import { searchRoutes } from '#http/search/search.routes.ts';
import { searchOverviewRoutes } from '#http/search/search-overview.routes.ts';
import { answerIsMade, askerOf } from '#http/server/access/asker.ts';
import { knowProxies } from '#http/server/access/client.ts';
import { accessHeaders, guardRoutes } from '#http/server/access/guard-routes.ts';
import { compressAnswers } from '#http/server/answers/compression.ts';
import { decorateSite } from '#http/server/answers/site.ts';
import { SiteBanner } from '#http/server/answers/site-banner.ts';
import { TipAnswers } from '#http/server/answers/tip-answers.ts';
import { keepBudgets, tellOfClients } from '#http/server/budgets/budgets.ts';
import { ContentReads } from '#http/server/budgets/content-reads.ts';
import { refuseUnderPressure } from '#http/server/budgets/pressure.ts';
import { RefusalPace } from '#http/server/budgets/refusal-pace.ts';
import { handleError, handleNotFound, isTooMuchAtOnce } from '#http/server/errors/answer-errors.ts';
import { handleClientError } from '#http/server/errors/client-errors.ts';
import { faultsOf } from '#http/server/errors/schema-faults.ts';
import { dropLongLists } from '#http/server/headers/long-lists.ts';
import { limits, serverOptions } from '#http/server/limits.ts';
import { answersRequests } from '#http/server/operations.ts';
import { checkRequests } from '#http/server/requests/check-requests.ts';
import { lazyValidators, validatorOptions } from '#http/server/requests/lazy-validators.ts';
import { routableTarget } from '#http/server/requests/request-target.ts';
import { parseQuery } from '#http/server/requests/validation.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { watchMethods } from '#http/server/routes/methods.ts';
import { roomRoutes } from '#http/server/routes/room-routes.ts';
import { thumbnailsRoutes } from '#http/thumbnails/thumbnails.routes.ts';
import { checkoutRoutes } from '#http/tokenpay/checkout.routes.ts';
import { tokenpayRoutes } from '#http/tokenpay/tokenpay.routes.ts';
import { watchesRoutes } from '#http/watches/watches.routes.ts';
import { webhookKeysRoutes } from '#http/webhooks/webhook-keys.routes.ts';

const corsOptions = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowedHeaders: [
    'Accept',
    'Authorization',
    'Content-Type',
    'Idempotency-Key',
    'If-None-Match',
    'Last-Event-ID',
    'x-api-key',
  ],
  exposedHeaders: [
    'ETag',
    // headers with the signature of the document of /tokenpay/reserves
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
    'X-Indexed-Height',
    'X-Mempool-Revision',
    'X-Next-Cursor',
    'X-Search-Needles',
    ...accessHeaders,
  ],
  maxAge: 86_400,
  // An OPTIONS request that is not a preflight gets the response of a preflight. Otherwise its error would not have our
  // form.
  strictPreflight: false,
};

/**
 * Builds the HTTP side of Satscribe: routes, limits and error forms (docs/http.md). It does not listen, and does not
 * read the environment; all dependencies are passed in. Call `await app.ready()` before `inject`, or call
 * `app.listen(…)`.
 */
export function buildApp(given: AppDependencies): App {
  const banner = new SiteBanner(given.operations);
  const deps = { banner, tipAnswers: new TipAnswers(given.pool), ...given };
  const app = createServer(deps);
  answerErrors(app, deps);
  decorateSite(app, deps);
  addRequestRules(app, deps);
  measureRequests(app, deps.operations);
  describeRoutes(app, deps.operations.version);
  addRoutes(app, deps, sampleDay(app, deps.operations));
  return app;
}

/**
 * Creates a Fastify server with our limits, our query parser and our validator. Errors that no hook handles get our
 * form.
 */
function createServer(deps: AppDependencies): App {
  const app: App = fastify({
    loggerInstance: deps.logger,
    // errors are logged where they are sent; a line for each request would fill the log
    logController: new LogController({ disableRequestLogging: true }),
    http: serverOptions,
    bodyLimit: limits.bodyBytes,
    // used only for X-Forwarded-Host and -Proto; server/access/client.ts finds the client
    trustProxy: proxyTest(deps.trustedProxies ?? []),
    connectionTimeout: limits.idleTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
    routerOptions: {
      maxParamLength: limits.urlBytes,
      ignoreTrailingSlash: true,
      querystringParser: parseQuery,
    },
    rewriteUrl: (request) => {
      // set the headers first, because errors that no hook handles get their form from these headers
      dropLongLists(request);
      return routableTarget(request);
    },
    clientErrorHandler: (error, socket) => {
      handleClientError(error, socket);
    },
    frameworkErrors: (error, request, reply) => {
      // no hooks run before these responses, so the CORS header is set here
      handleError(error, request, reply.header('access-control-allow-origin', '*'));
    },
    ajv: validatorOptions,
    schemaController: { compilersFactory: { buildValidator: lazyValidators } },
    schemaErrorFormatter: (errors, part) => new Error(faultsOf(errors, part)[0].message),
  });
  // schemas only describe responses, and tsc checks them; fields need not be removed or converted at run time
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  return app;
}

function answerErrors(app: App, deps: AppDependencies): void {
  const refusals = new RefusalPace();
  app.setErrorHandler(async (error, request, reply) => {
    const asker = askerOf(reply);
    if (asker.signal.aborted) return giveUp(reply);
    if (isTooMuchAtOnce(error)) {
      answerIsMade(reply);
      await refusals.wait(asker);
    }
    return handleError(error, request, reply);
  });
  app.setNotFoundHandler(async (request, reply) => {
    const target = await bareTarget(deps, request, askerOf(reply));
    return target === null ? handleNotFound(request, reply) : reply.redirect(target, 303);
  });
}

/** Ends the request of a disconnected client. No error is sent. */
function giveUp(reply: FastifyReply): FastifyReply {
  answerIsMade(reply);
  return reply.hijack();
}

/** Registers the rules that apply to all requests. Their hooks run in this order. */
function addRequestRules(app: App, deps: AppDependencies): void {
  const { budgets, operations } = deps;
  const trustedProxies = deps.trustedProxies ?? [];
  knowProxies(app, trustedProxies);
  app.register(cors, corsOptions);
  const { shutOut } = keepBudgets(app, { metrics: operations.metrics, trustedProxies, budgets });
  compressAnswers(app);
  refuseUnderPressure(app, deps.eventLoop);
  checkRequests(app);
  const bodies = readBodies(app, shutOut, deps.bodyRoom);
  operations.metrics.watchQueue('large bodies', () => bodies().large);
  operations.metrics.watchQueue('bytes of bodies', () => bodies().bytes);
}

function addRoutes(app: App, deps: AppDependencies, samples: DaySamples): void {
  const refuseOtherMethods = watchMethods(app);
  // register the routes in a plugin, so that the CORS hook is registered before them
  app.register(async (routes) => {
    const scope = routes as App;
    statusRoutes(scope, deps, samples);
    metricsRoutes(scope, deps.operations);
    const { console: operatorConsole = null } = deps;
    if (operatorConsole !== null) consoleRoutes(scope, { ...deps, console: operatorConsole });
    // a process with another role serves only paths about itself
    if (!answersRequests(deps.operations.role)) {
      // what the pages of the console load
      if (operatorConsole !== null) assetsRoutes(scope);
      roomRoutes(scope, ['/search', '/search/*', '/indexer', '/indexer/*'], 'search');
      return;
    }
    if (deps.access) guardRoutes(scope, deps.access);
    const streams = new EventStreams(scope, deps);
    eventsRoutes(scope, deps, streams);
    salesRoutes(scope, deps, streams);
    searchRoutes(scope, deps);
    searchOverviewRoutes(scope, deps);
    mempoolRoutes(scope, deps);
    feesRoutes(scope, deps);
    addressUtxosRoutes(scope, deps);
    const contents = deps.contents ?? new ContentReads(deps.pool);
    tellOfClients(scope, [contents]);
    contentRoutes(scope, contents);
    previewRoutes(scope, contents);
    undelegatedRoute(scope, contents);
    satReadsRoutes(scope, deps, contents);
    inscriptionsRoutes(scope, deps);
    addressRoutes(scope, deps);
    transfersRoutes(scope, deps);
    const pieceDeps = { ...deps, contents, inscriptions: new InscriptionLookups(deps.pool) };
    picturesRoutes(scope, pieceDeps, thumbnailsRoutes(scope, pieceDeps));
    pageRoutes(scope, pieceDeps, ordRoutes(scope, pieceDeps));
    blocksFeedRoutes(scope, deps);
    searchFeedRoutes(scope, deps);
    holdersRoutes(scope, deps);
    activityRoutes(scope, deps);
    addressRunesRoutes(scope, deps);
    runeNameRoutes(scope, deps);
    satributesRoutes(scope, deps);
    outputSatsRoutes(scope, deps);
    satscannerRoutes(scope, deps);
    satextractorRoutes(scope, deps);
    inventoryRoutes(scope, deps);
    marketRoutes(scope, deps);
    orderRoutes(scope, deps);
    orderEventsRoutes(scope, deps);
    orderFilesRoutes(scope, deps);
    uploadsRoutes(scope, deps);
    creationRoutes(scope, deps);
    referralsRoutes(scope, deps);
    priceRoutes(scope, deps);
    collectionCreationRoutes(scope, deps);
    collectionRoutes(scope, deps);
    collectionPhasesRoutes(scope, deps);
    allocationRoutes(scope, deps);
    mintPageRoutes(scope, deps);
    psbtRoutes(scope, deps);
    tokenpayRoutes(scope, deps);
    checkoutRoutes(scope, deps);
    webhookKeysRoutes(scope, deps);
    watchesRoutes(scope, deps);
    demoRoutes(scope, deps);
    referenceRoutes(scope);
  });
  app.register(async (routes) => {
    refuseOtherMethods(routes as App);
  });
}
