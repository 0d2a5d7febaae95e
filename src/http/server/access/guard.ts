import type { Scope } from '#accounts/api-key.ts';
import type { BucketName } from '#accounts/rate-buckets.ts';

interface Counted {
  /** The group of routes that usage counts as one. */
  readonly endpoints: string;
  /** The bucket that limits an IP address without a key. */
  readonly bucket: BucketName;
}

/**
 * The access rule of a path. It says who may send requests, and under which bucket and name these requests are counted.
 * - `scope`: needs a key with that scope. Searches need a key, or a listed domain instead, only if they are restricted
 *   (docs/access.md). Limited.
 * - `owned`: needs a key with that scope in a header, even if searches need no key, because the answer belongs to the
 *   key.
 *   Limited.
 * - `page`: searches of our own pages. They need a key if `SEARCH_ACCESS` is `keys`. Limited.
 * - `keyed`: needs a key with any scopes. Limited.
 * - `open`: needs no key. Limited.
 * - `none`: needs no key, and has no limits.
 */
export type Guard =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'scope' | 'owned'; readonly scope: Scope } & Counted)
  | ({ readonly kind: 'page' | 'open' | 'keyed' } & Counted);

/**
 * A guard, or a function that returns the guard for a query and the header `Accept` if a path has several kinds of
 * answers.
 */
export type RouteGuard =
  | Guard
  | ((query: Readonly<Record<string, unknown>>, accept: string | undefined) => Guard);

export const open: Guard = { kind: 'none' };

/**
 * A guard of searches.
 * @param endpoints the group of routes that are counted together
 */
export function searches(endpoints: string): Guard {
  return { kind: 'scope', scope: 'search', endpoints, bucket: 'search' };
}

/** Saved searches and other watches, which belong to a key. The limit of the key applies. */
export const watchRequests: Guard = {
  kind: 'owned',
  scope: 'search',
  endpoints: 'watches',
  bucket: 'search',
};

/** Pages, forms and feeds of watches. They read a key from a cookie, or a token from the URL. */
export const watchPages: Guard = { kind: 'open', endpoints: 'watches', bucket: 'market' };

/** Redirects to a page, without a search. */
export const redirects: Guard = { kind: 'open', endpoints: 'redirect', bucket: 'search' };

/**
 * Requests that keep the node and the processors busy for seconds, because they find the sats of many outputs or build
 * transactions for clients.
 */
export const builds: Guard = { kind: 'open', endpoints: 'build', bucket: 'build' };

/** Requests that create orders. */
export const createsOrders: Guard = { kind: 'open', endpoints: 'create', bucket: 'create' };

/** Uploads of files that orders and collections name by URL. */
export const uploadsFiles: Guard = { kind: 'scope', scope: 'orders', endpoints: 'upload', bucket: 'create' };

/** Requests that create collections. They share the limit of orders. */
export const createsCollections: Guard = { kind: 'open', endpoints: 'collections', bucket: 'create' };

/** Requests that change collections, with the key of the creator or of an operator. */
export const changesCollections: Guard = { kind: 'keyed', endpoints: 'collections', bucket: 'create' };

/** Reads of collections for sale, which pages of mint sites poll. */
export const collectionReads: Guard = { kind: 'open', endpoints: 'collections', bucket: 'market' };

/** Reads of orders, which clients poll. */
export const readsOrders: Guard = { kind: 'open', endpoints: 'orders', bucket: 'orders' };
/** Prices of orders. */
export const priceReads: Guard = { kind: 'open', endpoints: 'price', bucket: 'price' };

/** Reads of the market, which has sales and collections. */
export const marketReads: Guard = { kind: 'open', endpoints: 'market', bucket: 'market' };

/**
 * Reads of the items that the operator sells. Each read checks in the database which items orders have taken. These
 * reads share the limit of the market.
 */
export const inventoryReads: Guard = { kind: 'open', endpoints: 'inventory', bucket: 'market' };

/** Orders of shops and balances of accounts. The limit of the key applies. */
export const shopRequests: Guard = {
  kind: 'scope',
  scope: 'tokenpay',
  endpoints: 'tokenpay',
  bucket: 'orders',
};

/** Withdrawals. Only a key with this scope can take money out of an account. */
export const withdraws: Guard = {
  kind: 'scope',
  scope: 'tokenpay-withdraw',
  endpoints: 'tokenpay',
  bucket: 'orders',
};

/** Searches of our own pages. */
export const pageSearches: Guard = { kind: 'page', endpoints: 'page', bucket: 'search' };

/** Paths of the public interface that this service does not offer. In the interface, they need a key. */
export const notOffered: Guard = { kind: 'keyed', endpoints: 'custodial', bucket: 'search' };
