import type { ClientBase } from 'pg';
import { childrenAfter, type KeyPage, pageSize } from '#chain/relative.queries.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';

/** Ends of pages that are remembered: 100 bytes each, for readers who go through a large collection page by page. */
const endsKeptMax = 10_000;

/**
 * Pages of children. A page that follows one that was read begins where that one ended; any other is counted off in the
 * index, 100 ns a child. Children only come to the end of the list, unless blocks are taken back.
 */
export class ChildPages {
  /** Last child of a page, by undo epoch, parent and page; the one used last at the end. */
  private readonly ends = new Map<string, number>();

  async page(client: ClientBase, tip: Tip | null, parent: number, page: number): Promise<KeyPage> {
    const name = (place: number): string => `${tip?.undoEpoch ?? 0} ${parent} ${place}`;
    const after = page === 0 ? null : (this.ends.get(name(page - 1)) ?? null);
    const skip = after === null ? page * pageSize : 0;
    const found = await childrenAfter(client, parent, { after, skip, limit: pageSize + 1 });
    const keys = found.slice(0, pageSize);
    const last = keys.at(-1);
    if (last !== undefined && keys.length === pageSize) this.keep(name(page), last);
    return { keys, more: found.length > pageSize };
  }

  private keep(name: string, key: number): void {
    this.ends.delete(name);
    this.ends.set(name, key);
    const [oldest] = this.ends.keys();
    if (this.ends.size > endsKeptMax && oldest !== undefined) this.ends.delete(oldest);
  }
}
