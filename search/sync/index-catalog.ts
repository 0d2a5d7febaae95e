import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { indexName, readAlias, writeAlias } from '#search/elastic/server/search-index.ts';

/** The indices of one network under one prefix. */
export interface IndexCatalog {
  /** The index of the read alias. Null: no index. */
  readonly served: string | null;
  /**
   * Older indices that the alias also names, because they were restored with it. An alias for several indices cannot be
   * read.
   */
  readonly servedToo: readonly string[];
  /** Newer indices, oldest first. They belong to a build that runs or was interrupted. */
  readonly newer: readonly string[];
  /** Older indices. They remain if the switch to the next index was interrupted. */
  readonly older: readonly string[];
  /** The name of the next index. */
  readonly nextName: string;
}

type AliasesAnswer = Readonly<Record<string, { readonly aliases: Readonly<Record<string, unknown>> }>>;

/** Matches our own index names and the numbers in them. Other names with the same beginning are ignored. */
const ownName = /-v(\d+)-(\d+)$/u;

export async function readCatalog(
  client: ElasticClient,
  prefix: string,
  network: NetworkName,
): Promise<IndexCatalog> {
  const alias = readAlias(prefix, network);
  const answer = await client
    .request<AliasesAnswer>({ method: 'GET', path: `/${alias}-v*-*/_alias` })
    .catch((error: unknown): AliasesAnswer => {
      if (error instanceof AppError && error.code === 'search_engine_missing') return {};
      throw error;
    });
  const own = Object.entries(answer)
    .filter(([name, { aliases }]) => isOwn(name, alias) && writeAlias(name) in aliases)
    .map(([name, { aliases }]) => ({ name, number: numberOf(name), isServed: alias in aliases }))
    .toSorted((a, b) => a.number - b.number);
  const served = own.filter(({ isServed }) => isServed);
  const current = served.at(-1);
  return {
    served: current?.name ?? null,
    servedToo: served.slice(0, -1).map(({ name }) => name),
    newer: own.filter(({ number }) => number > (current?.number ?? 0)).map(({ name }) => name),
    older: own.filter(({ number }) => number < (current?.number ?? 0)).map(({ name }) => name),
    nextName: indexName(prefix, network, (own.at(-1)?.number ?? 0) + 1),
  };
}

const isOwn = (name: string, alias: string): boolean =>
  name.startsWith(`${alias}-v`) && ownName.test(name.slice(alias.length));

const numberOf = (name: string): number => Number(ownName.exec(name)?.[2] ?? 0);

/** Deletes an index with its aliases. Does nothing if it does not exist. */
export async function deleteIndex(client: ElasticClient, index: string): Promise<void> {
  try {
    await client.request({ method: 'DELETE', path: `/${index}` });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'search_engine_missing') throw error;
  }
}
