import type { ClientBase } from 'pg';
import { type BlockFacts, blockAt } from '#chain/blocks/block.queries.ts';
import { isContentHash } from '#chain/inscriptions/content.queries.ts';
import { type InscriptionName, inscriptionName } from '#chain/inscriptions/inscription.queries.ts';
import { isPendingTransaction } from '#chain/pending/pending.queries.ts';
import { runeEtchedBy } from '#chain/runes/rune.queries.ts';
import { type StoredSale, salesOfTransaction, salesOfTransactionIndex } from '#chain/sales/sale.queries.ts';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import { formatSpacedRune, type SpacedRune } from '#kernel/runes/spaced-rune.ts';
import { ownTransactions } from '#purse/transactions/own-transactions.queries.ts';
import { plural } from '#web/format.ts';
import { inscriptionMeaning } from './inscription-meanings.ts';
import type { Detail, Meaning } from './meaning.ts';
import type { Notation } from './notations.ts';
import { blockMeaning } from './number-meanings.ts';

type HashNotation = Extract<Notation, { kind: 'hash' }>;

/** Facts about a transaction from the tables. */
interface KnownTransaction {
  /** The first inscription that the transaction revealed. */
  readonly revealed: InscriptionName | null;
  readonly sale: StoredSale | null;
  readonly etched: SpacedRune | null;
  readonly isPending: boolean;
}

/** The thing with a given hash. `null` if neither an indexed block nor a transaction in these tables has the hash. */
export type KnownHash =
  | { readonly kind: 'block'; readonly block: BlockFacts }
  | ({ readonly kind: 'transaction' } & KnownTransaction)
  | null;

/**
 * Finds a block with this hash. If there is none, finds a transaction that revealed an inscription, is a sale, etched a
 * rune, or is in the mempool. Reads the database at most seven times.
 */
export async function knownHash(client: ClientBase, { block: hash, txid }: HashNotation): Promise<KnownHash> {
  const block = await blockAt(client, { kind: 'hash', hash });
  if (block !== null) return { kind: 'block', block };
  const revealed = await inscriptionName(client, { kind: 'id', id: { txid, index: 0 } });
  // without this index, the query would read all sales
  const hasSales = (await builtIndexes(client, [salesOfTransactionIndex])).size > 0;
  const [stored = null] = hasSales ? await salesOfTransaction(client, txid, 1) : [];
  // deliveries of the operator's own orders are not sales, and have no page of a sale
  const sale = stored !== null && (await ownTransactions(client, [txid])).length > 0 ? null : stored;
  const etched = await runeEtchedBy(client, txid);
  const isPending = await isPendingTransaction(client, txid);
  if (revealed === null && stored === null && etched === null && !isPending) return null;
  return { kind: 'transaction', revealed, sale, etched, isPending };
}

/**
 * Meanings of a hash. A transaction comes before the things that the transaction made. Empty if nothing indexed has
 * this hash.
 */
export async function hashMeanings(
  client: ClientBase,
  notation: HashNotation,
  detail: Detail,
): Promise<Meaning[]> {
  const known = await knownHash(client, notation);
  if (known === null) {
    const hasContent = await isContentHash(client, Buffer.from(notation.hex, 'hex'));
    return hasContent ? [fileMeaning(notation.hex, 'an inscription has this content')] : [];
  }
  if (known.kind === 'block') return [blockMeaning(known.block, 'has this hash', 'certain')];
  const { revealed, sale } = known;
  return [
    transactionMeaning(notation.hex, factsOf(known)),
    ...(sale === null ? [] : [saleMeaning(notation.hex, sale)]),
    ...(revealed === null
      ? []
      : [
          await inscriptionMeaning(client, revealed, {
            why: 'was revealed by this transaction',
            certainty: 'likely',
            detail,
          }),
        ]),
  ];
}

export const transactionMeaning = (hex: string, facts: readonly string[]): Meaning => ({
  kind: 'transaction',
  label: hex,
  path: `/tx/${hex}`,
  why: 'has this id',
  facts,
  art: null,
  certainty: 'certain',
});

function factsOf({ revealed, sale, etched, isPending }: KnownTransaction): string[] {
  return [
    ...(isPending ? ['in the mempool, in no block yet'] : []),
    ...(revealed === null ? [] : ['reveals inscriptions']),
    ...(sale === null ? [] : ['sells an inscription']),
    ...(etched === null ? [] : [`etches the rune ${formatSpacedRune(etched)}`]),
  ];
}

const saleMeaning = (hex: string, { price, bundle }: StoredSale): Meaning => ({
  kind: 'sale',
  label: bundle > 1 ? `${plural(bundle, 'inscription')} at once` : 'of an inscription',
  path: `/sale/${hex}`,
  why: 'is in this transaction',
  facts: [`for ${plural(price, 'sat')}`],
  art: null,
  certainty: 'likely',
});

/** The meaning "contents with this hash", whether such contents exist or not. */
export const fileMeaning = (hex: string, why: string): Meaning => ({
  kind: 'hash',
  label: 'Contents with this hash',
  path: `/?hash=${hex}`,
  why,
  facts: [],
  art: null,
  certainty: 'certain',
});
