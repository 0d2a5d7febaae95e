import type { Finding, WatchKind } from '#watches/watch.ts';
import type { FindingLine } from '#web/pages/watches.page.ts';

/** A finding for pages and feeds, with the path of its page. */
export function findingLine(finding: Finding, kind: WatchKind): FindingLine {
  const { thing, state, height, changedAt } = finding;
  return {
    href: pathOf(finding, kind),
    name: thing,
    state,
    height,
    changedAt: Math.floor(changedAt.getTime() / 1000),
  };
}

function pathOf({ thing, state, txid }: Finding, kind: WatchKind): string {
  // a thing may have more than one part, of which the first part has a page
  const [first = ''] = thing.split(' ');
  switch (kind) {
    case 'search':
    case 'children':
      return `/inscription/${thing}`;
    case 'sales':
      return state === 'confirmed' ? `/sale/${txid}` : `/tx/${txid}`;
    case 'runes':
      // no page shows a rune that is only in the mempool
      return state === 'confirmed' ? `/rune/${first}` : `/tx/${txid}`;
    case 'receipts':
      return `/output/${first}`;
  }
}
