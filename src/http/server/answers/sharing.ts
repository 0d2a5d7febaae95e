import type { FastifyRequest } from 'fastify';
import { isOrderId } from '#http/search/resolving/order-id.ts';
import { originOf } from '#http/server/headers/request-origin.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { FeedLink, Sharing } from '#web/parts/sharing-tags.ts';

/** Paths of pages that have their own picture. */
const withPicture = /^\/(?<kind>block|inscription|rune|collection|mint)\/(?<name>[^/]+)$/u;

/** Parameters that are left out of a feed's link, because they only say which part of the matches a page shows. */
const notOfFeeds = ['q', 'hash', 'page', 'sort', 'order'];

/**
 * How a page is shared. The result has the page's picture and the feed of its news. Both come from the page's URL, so
 * that every page has them.
 *
 * @param origin null if links have only paths
 */
function sharingOf(url: string, origin: string | null): Sharing {
  const [path = '', query = ''] = url.split('?', 2);
  const { kind, name } = withPicture.exec(path)?.groups ?? {};
  // a collection for sale has the same picture as in the market
  const subject = kind === 'mint' ? 'collection' : kind;
  const picture = subject === undefined || name === undefined ? '/og/site.png' : `/og/${subject}/${name}.png`;
  return { origin: origin ?? '', picture, feed: feedOf(path, new URLSearchParams(query), subject, name) };
}

function feedOf(
  path: string,
  query: URLSearchParams,
  kind: string | undefined,
  name: string | undefined,
): FeedLink | null {
  if (path === '/blocks') return { href: '/blocks.atom', title: 'Blocks' };
  if (kind === 'collection') return { href: `/collection/${name ?? ''}.atom`, title: 'Latest sales' };
  const text = query.get('text') ?? '';
  // the search page promises not to repeat the secret id of an order
  if (path !== '/' || text === '' || isOrderId(text)) return null;
  const given = [...query].filter(([parameter, value]) => value !== '' && !notOfFeeds.includes(parameter));
  return { href: `/search.atom?${new URLSearchParams(given).toString()}`, title: 'New matches' };
}

/**
 * How the page of a request is shared. An error page is shared as the start page `/`. If the host is invalid, links
 * have only paths, because the page works without the host.
 */
export function sharingOfRequest(
  request: FastifyRequest,
  isError: boolean,
  publicOrigin: string | null,
): Sharing {
  const url = isError ? '/' : request.url;
  try {
    return sharingOf(url, originOf(request, publicOrigin));
  } catch (error) {
    if (error instanceof AppError) return sharingOf(url, null);
    throw error;
  }
}
