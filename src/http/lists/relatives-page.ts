import type { FastifyReply } from 'fastify';
import { inscriptionSummaries } from '#chain/blocks/block.queries.ts';
import type { InscriptionName } from '#chain/inscriptions/inscription.queries.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { cardOf, siteOf } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { grouped } from '#web/format.ts';
import { html } from '#web/html.ts';
import { inscriptionListPage } from '#web/pages/inscription-list.page.ts';
import { inscriptionLink } from '#web/parts/identifiers.ts';
import { watchLink } from '#web/parts/watch-link.ts';

/** Kinds of lists of relatives, each with the description that shared links show. */
const descriptions = {
  Children: (of: string) => `Inscriptions whose parent is inscription ${of}.`,
  Parents: (of: string) => `The parents of inscription ${of}.`,
  Gallery: (of: string) => `Inscriptions in the gallery of inscription ${of}.`,
} as const;

/** A page of relatives of an inscription. */
export interface RelativesOf {
  readonly name: keyof typeof descriptions;
  readonly of: InscriptionName;
  readonly keys: readonly InscriptionKey[];
  readonly more: boolean;
  /** Number of the page, from 0. */
  readonly page: number;
  /** Returns the URL path of a page. */
  readonly path: (page: number) => string;
}

/** Sends a list of relatives as tiles, 100 per page, like ord's JSON at the same path. */
export async function sendRelatives(
  deps: AppDependencies,
  reply: FastifyReply,
  { client, tip }: Snapshot,
  { name, of, keys, more, page, path }: RelativesOf,
): Promise<FastifyReply> {
  const cards = (await inscriptionSummaries(client, keys)).map(cardOf);
  const id = formatInscriptionId(of.txid, of.index);
  return sendPage(
    reply,
    inscriptionListPage({
      site: siteOf(deps, tip),
      title: `${name} of inscription ${of.number ?? id}`,
      description: descriptions[name](of.number === null ? id : `#${grouped(of.number)}`),
      heading: html`${name} of ${inscriptionLink({ id, number: of.number })}`,
      ...(name === 'Children'
        ? { watch: watchLink({ kind: 'children', parent: id }, 'Watch its children') }
        : {}),
      tabs: [],
      sorts: [],
      tokens: null,
      filters: [],
      notes: [],
      cards,
      page,
      first: page > 0 ? path(0) : null,
      next: more ? path(page + 1) : null,
      empty: page > 0 ? 'This page is past the end.' : 'There are no inscriptions here.',
    }),
    { thumbnails: true },
  );
}
