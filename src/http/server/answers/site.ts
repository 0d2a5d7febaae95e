import type { FastifyReply } from 'fastify';
import type { BlockFacts, InscriptionSummary } from '#chain/blocks/block.queries.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Site } from '#web/layout.ts';
import type { BlockLine } from '#web/parts/blocks-table.ts';
import type { Card } from '#web/parts/cards.ts';

export type SiteDependencies = Pick<AppDependencies, 'network' | 'banner'>;

/** The data in the head of every page. */
export function siteOf({ network, banner }: SiteDependencies, tip: BlockRef | null): Site {
  return { network: network.name, tipHeight: tip?.height ?? null, banner: banner?.now() ?? null };
}

const decoration = 'site';

const originDecoration = 'publicOrigin';

/**
 * Stores the site and the origin in the application. Error pages have no access to the dependencies, so they read the
 * site with `siteOfApp`. All pages read their origin with `publicOriginOfApp`.
 */
export function decorateSite(
  app: App,
  { network, banner, publicOrigin = null }: SiteDependencies & Pick<AppDependencies, 'publicOrigin'>,
): void {
  const now = (): Site => ({
    network: network.name,
    tipHeight: banner?.tipHeight() ?? null,
    banner: banner?.now() ?? null,
  });
  app.decorate(decoration, now);
  app.decorate(originDecoration, () => publicOrigin);
}

/** The origin that the operator set for the application of an answer, or null if no origin is set. */
export function publicOriginOfApp({ server }: FastifyReply): string | null {
  return server.hasDecorator(originDecoration)
    ? server.getDecorator<() => string | null>(originDecoration)()
    : null;
}

/** The site of the application of an answer, or null if the application has no site. */
export function siteOfApp({ server }: FastifyReply): Site | null {
  return server.hasDecorator(decoration) ? server.getDecorator<() => Site>(decoration)() : null;
}

export function blockLine({ hash, ...block }: BlockFacts): BlockLine {
  return { ...block, hash: displayHash(hash) };
}

export function cardOf(summary: InscriptionSummary): Card {
  const { id, number, height, contentType, runs, sizeBytes, text } = summary;
  return { id: formatInscriptionId(id.txid, id.index), number, height, contentType, runs, sizeBytes, text };
}
