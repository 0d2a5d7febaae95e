import { pendingRunesJson } from '#http/mempool/pending-runes-view.ts';
import { outpointText } from '#http/ord/outputs/output-facts.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import type { ListOf, MovedLine, RuneLine, SoldLine } from '#web/pages/transaction.page.ts';
import { rowsMax } from './chain-sources.ts';
import { heldRune } from './holdings.ts';
import type { ReadTransaction } from './read-transaction.ts';
import type { RowParts } from './transaction-rows.ts';

/** The inscriptions that a transaction moves. */
export function movedList({ read, facts: { moved, names, pending } }: RowParts): ListOf<MovedLine> {
  if (pending !== null) {
    const lines = pending.transfers.slice(0, rowsMax).map((each): MovedLine => {
      const { inscription_txid: txid, inscription_index: index, place, vout } = each;
      return {
        inscription: { id: formatInscriptionId(txid, index), number: null },
        from: outpointText({ txid: each.from_txid, vout: each.from_vout }),
        to: place === 0 && vout !== null ? outpointText({ txid: read.txid, vout }) : null,
      };
    });
    return { lines, isAll: pending.transfers.length <= rowsMax, unknown: null };
  }
  if (moved === null) return missing(read);
  const lines = moved.slice(0, rowsMax).flatMap(({ key, from, vout }): MovedLine[] => {
    const name = names.get(key);
    if (name === undefined) return [];
    return [
      {
        inscription: { id: formatInscriptionId(name.txid, name.index), number: name.number },
        from: from === null ? null : outpointText(from),
        to: vout === null ? null : outpointText({ txid: read.txid, vout }),
      },
    ];
  });
  return { lines, isAll: moved.length <= rowsMax, unknown: null };
}

/**
 * A list without lines about a transaction. The list is unknown if the transaction is in a block, and empty otherwise.
 */
const missing = ({ block }: ReadTransaction, unknown = 'its block is not indexed here'): ListOf<never> => ({
  lines: [],
  isAll: true,
  unknown: block === null ? null : unknown,
});

/** Inscriptions that the transaction sells. */
export function soldList({ read, facts: { sold, pending, names }, network }: RowParts): ListOf<SoldLine> {
  if (pending !== null) {
    const lines = pending.sold.map(
      ({ item, price, maker, taker }): SoldLine => ({
        inscription: { id: formatInscriptionId(item.txid, item.index), number: null },
        price,
        maker: scriptToAddress(maker, network),
        taker: taker === null ? null : scriptToAddress(taker, network),
      }),
    );
    return { lines, isAll: lines.length < rowsMax, unknown: null };
  }
  if (sold === null) return missing(read, 'sales are not known here');
  // sold inscriptions moved, so `names` has their numbers
  const numbers = new Map(
    [...names.values()].map(({ txid, index, number }) => [formatInscriptionId(txid, index), number]),
  );
  const inscriptionOf = (id: string): SoldLine['inscription'] => ({ id, number: numbers.get(id) ?? null });
  const lines = sold.slice(0, rowsMax).map(
    ({ revealTxid, index, price, maker, taker }): SoldLine => ({
      inscription: inscriptionOf(formatInscriptionId(revealTxid, index)),
      price,
      maker: scriptToAddress(maker, network),
      taker: taker === null ? null : scriptToAddress(taker, network),
    }),
  );
  return { lines, isAll: sold.length <= rowsMax, unknown: null };
}

/** Amounts of runes that the transaction etches, mints, moves and burns. */
export function runeList({ read, facts: { runes, pending }, network }: RowParts): ListOf<RuneLine> {
  if (pending !== null)
    return { lines: pendingRuneLines(pending.runes, network), isAll: true, unknown: null };
  if (runes === null) return missing(read, 'runes are not known here');
  const lines = runes.slice(0, rowsMax).map(
    ({ kind, output, ...rune }): RuneLine => ({
      kind,
      isEtched: true,
      ...heldRune(rune),
      outpoint: output === null ? null : outpointText(output),
    }),
  );
  return { lines, isAll: runes.length <= rowsMax, unknown: null };
}

/** An amount in a pending transaction. */
interface PendingAmount {
  readonly rune: string | null;
  /** `null` if the rune is not in a block yet. */
  readonly id: string | null;
  readonly display: string;
  readonly output?: string | null;
}

function pendingRuneLines(
  row: Parameters<typeof pendingRunesJson>[0] | null,
  network: NetworkParameters,
): RuneLine[] {
  if (row === null) return [];
  const { etching, minted, sent, received, burned } = pendingRunesJson(row, network);
  const premine = row.etching === null ? '' : shownAmount(row.etching.premine, row.etching.divisibility);
  const line = (kind: RuneLine['kind'], { rune, id, display, output = null }: PendingAmount): RuneLine => ({
    kind,
    name: rune,
    isEtched: id !== null,
    amount: display,
    symbol: null,
    outpoint: output,
  });
  const etched = etching === null ? [] : [line('etched', { rune: etching.rune, id: null, display: premine })];
  return [
    ...etched,
    ...minted.map((each) => line('minted', each)),
    ...sent.map((each) => line('sent', each)),
    ...received.map((each) => line('received', each)),
    ...burned.map((each) => line('burned', each)),
  ].slice(0, rowsMax);
}
