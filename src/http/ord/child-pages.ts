import type { ClientBase } from 'pg';
import { childrenAfter, type KeyPage, pageSize } from '#chain/relative.queries.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';

/** Ends of full pages that were read, ascending by page: `keys[n]` is the last child of page `pages[n]`. */
interface PageEnds {
  readonly undoEpoch: number;
  readonly pages: number[];
  readonly keys: number[];
}

/** Parents that are remembered, and pages of each: 16 MB at most. */
const parentsMax = 1_000;
const pagesMax = 1_000;

/**
 * Pages of children. A page is counted off in the index, a fraction of a microsecond a child, from the nearest one before it
 * that was read: who goes through a collection page by page reads each child once. Children only come to the end of the
 * list, unless blocks are taken back.
 */
export class ChildPages {
  /** By parent, the one used last at the end. */
  private readonly ends = new Map<number, PageEnds>();

  async page(client: ClientBase, tip: Tip | null, parent: number, page: number): Promise<KeyPage> {
    const ends = this.endsOf(parent, tip?.undoEpoch ?? 0);
    const known = lastBelow(ends.pages, page);
    const after = ends.keys[known] ?? null;
    const skipped = page - 1 - (ends.pages[known] ?? -1);
    const found = await childrenAfter(client, parent, {
      after,
      skip: skipped * pageSize,
      limit: pageSize + 1,
    });
    const keys = found.slice(0, pageSize);
    const end = keys.at(-1);
    if (end !== undefined && keys.length === pageSize) this.keep(parent, ends, page, end);
    return { keys, more: found.length > pageSize };
  }

  private endsOf(parent: number, undoEpoch: number): PageEnds {
    const ends = this.ends.get(parent);
    return ends?.undoEpoch === undoEpoch ? ends : { undoEpoch, pages: [], keys: [] };
  }

  private keep(parent: number, ends: PageEnds, page: number, key: number): void {
    const place = lastBelow(ends.pages, page) + 1;
    if (ends.pages[place] !== page && ends.pages.length < pagesMax) {
      ends.pages.splice(place, 0, page);
      ends.keys.splice(place, 0, key);
    }
    this.ends.delete(parent);
    this.ends.set(parent, ends);
    const [oldest] = this.ends.keys();
    if (this.ends.size > parentsMax && oldest !== undefined) this.ends.delete(oldest);
  }
}

/** The place of the last number below `value` in an ascending list; -1 where there is none. */
function lastBelow(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
