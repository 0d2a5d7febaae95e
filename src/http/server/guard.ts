/**
 * Who may ask a path, and under which name it is counted. `search`: a key or a listed domain where searches are restricted, within
 * limits; `page-search`: anybody, within the same limits; `none`: anybody.
 */
export type Guard =
  | { readonly kind: 'none' }
  | { readonly kind: 'search'; readonly endpoints: string }
  | { readonly kind: 'page-search'; readonly endpoints: 'page' | 'redirect' };

/** A path that answers more than one kind of question says by its query which one it is. */
export type RouteGuard = Guard | ((query: Readonly<Record<string, unknown>>) => Guard);

export const open: Guard = { kind: 'none' };

/** @param endpoints the routes that are counted together */
export function searches(endpoints: string): Guard {
  return { kind: 'search', endpoints };
}

/** Leads to a page and finds nothing by itself. */
export const redirects: Guard = { kind: 'page-search', endpoints: 'redirect' };

/** Searches of our own page. */
export const pageSearches: Guard = { kind: 'page-search', endpoints: 'page' };
