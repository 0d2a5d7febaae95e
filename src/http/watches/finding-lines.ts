import type { Finding, FindingFacts, WatchKind } from '#watches/watch.ts';
import { groupedDecimal } from '#web/format.ts';
import type { FindingLine } from '#web/pages/watches.page.ts';
import { price } from '#web/parts/amounts.ts';

/** A finding for pages and feeds, with the path of its page. */
export function findingLine(finding: Finding, kind: WatchKind): FindingLine {
  const { state, height, changedAt } = finding;
  return {
    ...placeOf(finding, kind),
    detail: detailOf(finding.facts, kind),
    state,
    height,
    changedAt: Math.floor(changedAt.getTime() / 1000),
  };
}

function placeOf(
  { thing, state, txid, facts }: Finding,
  kind: WatchKind,
): Pick<FindingLine, 'href' | 'name'> {
  const isConfirmed = state === 'confirmed';
  switch (kind) {
    case 'search':
    case 'children':
      return { href: `/inscription/${thing}`, name: thing };
    case 'sales':
      return { href: `${isConfirmed ? '/sale' : '/tx'}/${txid}`, name: String(facts['inscriptionId']) };
    case 'runes': {
      const name = String(facts['rune']);
      // a rune whose etching is in no block has no page
      return { href: isConfirmed ? `/rune/${encodeURIComponent(name)}` : `/tx/${txid}`, name };
    }
    case 'receipts': {
      // a receipt is named by its output, and by what the output received
      const [outpoint = ''] = thing.split(' ');
      return { href: `/output/${outpoint}`, name: outpoint };
    }
  }
}

/** The price of a sale, or what an output received. Null for all other things, whose name says everything. */
function detailOf(facts: FindingFacts, kind: WatchKind): string | null {
  if (kind === 'sales') return `for ${price(Number(facts['price']))}`;
  if (kind !== 'receipts') return null;
  const { inscriptionId, runeId, amount, sats } = facts;
  if (typeof inscriptionId === 'string') return `received the inscription ${inscriptionId}`;
  if (typeof runeId === 'string')
    return `received ${groupedDecimal(String(amount))} base units of the rune ${runeId}`;
  return `received ${price(Number(sats))}`;
}
