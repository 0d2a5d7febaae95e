import { facetTypesMax, type SearchFacets } from '#kernel/contracts/search-engine.ts';
import { valueOfTerm } from '#search/text/index-term.ts';
import type { PageSource } from './pages/key-list.ts';
import {
  type CountAnswer,
  countIn,
  countOf,
  isEmptyWindow,
  type MembersAnswer,
  membersIn,
  touching,
} from './pages/key-window.ts';
import type { Matching } from './pages/sorted-pages.ts';

/** Maximum number of types in one answer. There are fewer real content types. A server allows 65,536 buckets. */
const typesAtOnce = 10_000;

interface TypeKey {
  readonly type: string | null;
}

interface FacetsAnswer extends CountAnswer {
  readonly types: {
    readonly buckets: readonly (CountAnswer & { readonly key: TypeKey })[];
    readonly after_key?: TypeKey;
  };
  readonly members?: MembersAnswer<{
    readonly days: { readonly buckets: readonly { readonly key: number; readonly doc_count: number }[] };
  }>;
}

/**
 * Counts matches by type and by day. Types are read in the order of their terms, page by page, so that each count
 * includes all shards. Days are counted per inscription, because the copies in one document span several days.
 */
export async function readFacets(
  source: PageSource,
  { clauses, window }: Matching,
): Promise<Omit<SearchFacets, 'tip'>> {
  if (isEmptyWindow(window)) return { totalItems: 0, types: [], otherTypes: 0, days: [] };
  const ask = async (after: TypeKey | undefined): Promise<FacetsAnswer> => {
    const typeSource = { type: { terms: { field: 'type', missing_bucket: true } } };
    const composite = { size: typesAtOnce, sources: [typeSource], ...(after === undefined ? {} : { after }) };
    const types = { composite, aggs: countIn(window) };
    const days = { histogram: { field: 'member.day', interval: 1, min_doc_count: 1 } };
    const { aggregations } = await source.moment.search<{ aggregations: FacetsAnswer }>(
      {
        size: 0,
        aggs: {
          types,
          ...(after === undefined ? { ...countIn(window), members: membersIn(window, { days }) } : {}),
        },
      },
      [...clauses, ...touching(window)],
    );
    return aggregations;
  };
  const first = await ask(undefined);
  const types = new TypeCounts();
  types.add(first);
  for (let after = endOf(first); after !== undefined; ) {
    const next = await ask(after);
    types.add(next);
    after = endOf(next);
  }
  const listed = types.most();
  const totalItems = countOf(first);
  return {
    totalItems,
    types: listed,
    otherTypes: totalItems - listed.reduce((sum, { count }) => sum + count, 0),
    days: (first.members?.inside.days.buckets ?? []).map(({ key, doc_count: count }) => ({
      day: key,
      count,
    })),
  };
}

/** Start of the next part. Undefined: this was the last part. */
const endOf = ({ types: { buckets, after_key: after } }: FacetsAnswer): TypeKey | undefined =>
  buckets.length < typesAtOnce ? undefined : after;

type TypeCount = SearchFacets['types'][number];

/** Keeps the types with the most matches, because a miner can make as many types as there are inscriptions. */
class TypeCounts {
  #counts: TypeCount[] = [];

  add({ types: { buckets } }: FacetsAnswer): void {
    for (const bucket of buckets) {
      const { type } = bucket.key;
      const contentType = type === null ? null : valueOfTerm(type);
      const count = countOf(bucket);
      // a document may overlap the window without an inscription inside it; long types are not listed
      if (count > 0 && (type === null || contentType !== null)) this.#counts.push({ contentType, count });
    }
    this.#counts = this.most();
  }

  most(): TypeCount[] {
    return this.#counts
      .toSorted((a, b) => b.count - a.count || compareTypes(a.contentType, b.contentType))
      .slice(0, facetTypesMax);
  }
}

/** Compares by code points, which gives the order of the UTF-8 bytes. Inscriptions without a type come first. */
function compareTypes(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
