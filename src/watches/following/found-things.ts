import type { ArrivedInscription } from '#chain/arrivals/arrived-inscriptions.queries.ts';
import { type ArrivedReceipt, receiptThing } from '#chain/arrivals/arrived-receipts.queries.ts';
import type { ArrivedRune } from '#chain/arrivals/arrived-runes.queries.ts';
import type { ArrivedSale } from '#chain/arrivals/arrived-sales.queries.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { FindingFacts } from '#watches/watch.ts';

/** A thing that watches can find, with the name that makes its id, and the fields that answers show. */
export interface FoundThing {
  readonly thing: string;
  readonly txid: Txid;
  readonly facts: FindingFacts;
}

export function inscriptionThing({ txid, index }: ArrivedInscription): FoundThing {
  const inscriptionId = formatInscriptionId(txid, index);
  return { thing: inscriptionId, txid, facts: { inscriptionId } };
}

/** A sale, which is named by the input that sold the inscription. */
export function saleThing({ txid, input, revealTxid, index, price }: ArrivedSale): FoundThing {
  const inscriptionId = formatInscriptionId(revealTxid, index);
  return {
    thing: `${displayHash(txid)}:${input}:${inscriptionId}`,
    txid,
    facts: { inscriptionId, input, price },
  };
}

/** A rune, which is named by its etching, because a pending etching has no rune id. */
export function runeThing({ event, name, id, txid }: ArrivedRune): FoundThing {
  return {
    thing: event === 'etched' ? displayHash(txid) : `${displayHash(txid)} ${mintedOut}`,
    txid,
    facts: { event, rune: name, runeId: id },
  };
}

const mintedOut = 'minted-out';

/** Facts that change when the block of a thing is undone and its transaction is pending again. */
export const factsWhilePending = (thing: string): FindingFacts =>
  /^[0-9a-f]{64}$/u.test(thing) ? { runeId: null } : {};

/** Whether a thing can be pending. The end of a rune's mints is known only from blocks. */
export const canBePending = (thing: string): boolean => !thing.endsWith(` ${mintedOut}`);

export function receiptFound(receipt: ArrivedReceipt): FoundThing {
  const { txid, vout, inscription, rune, amount } = receipt;
  const what =
    inscription === null
      ? rune === null
        ? { sats: amount }
        : { runeId: rune, amount }
      : { inscriptionId: inscription };
  return { thing: receiptThing(receipt), txid, facts: { vout, ...what } };
}
